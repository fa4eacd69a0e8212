package earlybird

import (
	"context"
	"fmt"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// Every life an origin or an operator may ask for, with every jitter: New says
// which option it cannot work with, and what it takes works, whatever is drawn.
func TestLives_ofAnyLengthWithAnyJitter(t *testing.T) {
	draws := []float64{0, 0.5, math.Nextafter(1, 0), 1}
	for _, ttl := range []time.Duration{0, 1, time.Millisecond, time.Hour, -time.Second} {
		for _, jitter := range []float64{0, 1e-12, 0.1, 1, 2, -1, math.NaN()} {
			for _, item := range []time.Duration{0, 1, time.Millisecond, math.MaxInt64, Off, math.MinInt64} {
				for _, draw := range draws {
					t.Run(fmt.Sprintf("TTL %v, Jitter %v, TTLFor %v, draw %v", ttl, jitter, item, draw), func(t *testing.T) {
						opts := Options[string]{TTL: ttl, Jitter: jitter, Rand: func() float64 { return draw }}
						opts.TTLFor = func(string, string) time.Duration { return item }
						opts.LoadMany = func(_ context.Context, keys []string) (map[string]string, error) {
							return map[string]string{"many": "many"}, nil
						}
						liveOnce(t, opts, item)
					})
				}
			}
		}
	}
}

// liveOnce makes a cache, or is refused one by the name of the option, and sees
// a value through its life.
func liveOnce(t *testing.T, opts Options[string], item time.Duration) {
	switch {
	case opts.TTL < time.Millisecond:
		_, err := New(sometimesAbsent, opts)
		requireRefused(t, err, "TTL", opts.TTL)
		return
	case opts.Jitter > 1 || math.IsNaN(opts.Jitter):
		_, err := New(sometimesAbsent, opts)
		requireRefused(t, err, "Jitter", opts.Jitter)
		return
	}
	synctest.Test(t, func(t *testing.T) {
		c := newTidy(t, sometimesAbsent, opts)
		requireWorks(t, c)
		require.NoError(t, c.InvalidateAll(t.Context()))
		for range 2 {
			require.Equal(t, "k", mustGet(t, c, "k"))
			found, err := c.GetMany(t.Context(), []string{"many"})
			require.NoError(t, err)
			require.Len(t, found, 1)
			require.NoError(t, c.Set(t.Context(), "set", "v"))
		}
		life := opts.TTL
		if item > 0 {
			life = min(item, life)
		}
		if item < 0 {
			require.Zero(t, c.Stats().Values, "not to be stored")
		}
		time.Sleep(life)
		for _, key := range []string{"k", "many", "set"} {
			_, ok := c.Peek(key)
			require.False(t, ok, "%s outlived %v", key, life)
		}
		require.Equal(t, "k", mustGet(t, c, "k"))
	})
}
