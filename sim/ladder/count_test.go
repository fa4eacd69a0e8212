package ladder

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestEpisodes(t *testing.T) {
	// m is a read that finds nothing, c a call, f a fill: of one key.
	for events, want := range map[string]float64{
		"":          0,
		"mcf":       1,
		"mmmcf":     1, // three readers share one call
		"mcmcmcf":   3, // three readers, three calls
		"mcfmcf":    1, // twice missed, twice filled
		"mcmcfmcf":  1.5,
		"mcfcf":     1, // the second call refreshed what was still served
		"cf":        0,
		"mccc":      3, // never filled: it has not ended
		"mm":        0, // nobody called
		"mcfmmmccf": 1.5,
	} {
		e := newEpisodes(2)
		for _, event := range events {
			switch event {
			case 'm':
				e.miss(1)
			case 'c':
				e.call(1)
			case 'f':
				e.fill(1)
			}
		}
		require.Equal(t, want, e.callsPerEpisode(), events)
	}
}

func TestEpisodes_keysAreApart(t *testing.T) {
	e := newEpisodes(2)
	e.miss(0)
	e.miss(1)
	e.call(0)
	e.fill(1)
	e.call(0)
	e.call(1)
	require.Equal(t, 2.0, e.callsPerEpisode())
}

func TestTally_quantiles(t *testing.T) {
	ms := time.Millisecond
	times := func(n int, took time.Duration) []time.Duration {
		out := make([]time.Duration, n)
		for i := range out {
			out[i] = took
		}
		return out
	}
	for name, c := range map[string]struct {
		took           []time.Duration
		p50, p99, p999 float64
		waited         int
	}{
		"none":           {},
		"one at once":    {took: times(1, 0)},
		"one waits":      {times(1, 7*ms), 7, 7, 7, 1},
		"all alike":      {times(1000, 7*ms), 7, 7, 7, 1000},
		"one in a 1000":  {append(times(999, 0), 5*ms), 0, 0, 5, 1},
		"one in a 100":   {append(times(99, 0), 5*ms), 0, 5, 5, 1},
		"half":           {append(times(50, 0), times(50, 3*ms)...), 3, 3, 3, 50},
		"less than half": {append(times(51, 0), times(49, 3*ms)...), 0, 3, 3, 49},
		"unsorted":       {append(times(10, 9*ms), times(990, 1*ms)...), 1, 9, 9, 1000},
		"microseconds":   {times(1, 1500*time.Microsecond), 1.5, 1.5, 1.5, 1},
	} {
		t.Run(name, func(t *testing.T) {
			var tally tally
			for i, took := range c.took {
				tally.add(took, i%2 == 0)
			}
			var row Row
			tally.fillIn(&row)
			require.Equal(t, Row{Reads: len(c.took), Errors: len(c.took) / 2, Waited: c.waited,
				P50: c.p50, P99: c.p99, P999: c.p999}, row)
		})
	}
}

func TestGrouped(t *testing.T) {
	for want, n := range map[string]int{"0": 0, "999": 999, "1,000": 1000, "12,345": 12345, "1,234,567": 1234567} {
		require.Equal(t, want, grouped(n))
	}
}
