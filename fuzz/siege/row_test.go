package siege

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// held is an outcome that is just within every bound.
func held() *outcome {
	o := &outcome{
		requests:    10_000,
		calls:       25, // 10, four times the root of that, and 3
		elapsed:     time.Second,
		growth:      maxGrowth,
		before:      newTally(1000),
		during:      newTally(1000),
		loadsMost:   maxLoads,
		rejectVsHit: maxReject,
	}
	o.before.reads.Store(1000)
	o.before.hits.Store(800)
	o.during.reads.Store(1000)
	o.during.hits.Store(679) // 5 points less, and four standard deviations of 0.0179
	for i := range o.during.waits {
		o.during.waits[i] = loadTimeout
	}
	return o
}

func TestVerdict_holdsUpToEveryBound(t *testing.T) {
	require.Equal(t, Holds, held().verdict(named(t, "random")))
}

func TestVerdict_namesTheBoundThatWasBroken(t *testing.T) {
	for want, beyond := range map[string]func(o *outcome){
		"26 origin calls, at most 25":              func(o *outcome) { o.calls++ },
		"129 loads at once, at most 128":           func(o *outcome) { o.loadsMost++ },
		"2 wrongful refusals":                      func(o *outcome) { o.before.failed.Add(1); o.denied++ },
		"1 wrongful refusals":                      func(o *outcome) { o.during.failed.Add(1) },
		"1 answers to keys of nothing":             func(o *outcome) { o.during.leaks.Add(1) },
		"1 errors that are no refusals":            func(o *outcome) { o.during.strange.Add(1) },
		"good hit ratio 0.678, at least 0.678":     func(o *outcome) { o.during.hits.Store(678) },
		"bytes, at most":                           func(o *outcome) { o.growth++ },
		"p99 10.000000001s, at most 10s":           func(o *outcome) { o.during.waits = []time.Duration{loadTimeout + 1} },
		"a refusal takes 25.1 hits, at most 25":    func(o *outcome) { o.rejectVsHit = 25.1 },
		"26 origin calls, at most 25; 1 wrongful":  func(o *outcome) { o.calls++; o.denied++ },
		"1 wrongful refusals; 1 answers to keys o": func(o *outcome) { o.denied++; o.during.leaks.Add(1) },
	} {
		o := held()
		beyond(o)
		r := o.row(named(t, "random"))
		require.Contains(t, r.Verdict, want)
		require.True(t, r.Broken())
	}
}

func TestAllowance_growsWithWhatItDependsOn(t *testing.T) {
	o := &outcome{requests: 1_000_000, elapsed: time.Second}
	require.Zero(t, none(o))
	require.InDelta(t, 1129, byChance(o), 1)
	require.EqualValues(t, 1_000_000, once(o))
	require.EqualValues(t, 50*5, remembered(50)(o), "an absence lives for at least 225 ms")
	o.elapsed = 0
	require.EqualValues(t, 50, remembered(50)(o))
}

func TestRow_json(t *testing.T) {
	text, err := json.Marshal(held().row(named(t, "random")))
	require.NoError(t, err)
	var fields map[string]any
	require.NoError(t, json.Unmarshal(text, &fields))
	require.Len(t, fields, 12)
	for _, name := range []string{"requests", "origin_calls", "origin_per_million", "origin_calls_allowed", "wrongful_refusals",
		"good_hit_before", "good_hit_during", "heap_growth", "p99_ms", "reject_vs_hit"} {
		require.IsType(t, 0.0, fields[name], name)
	}
	require.Equal(t, "random", fields["name"])
	require.Equal(t, Holds, fields["verdict"])
	require.EqualValues(t, 10_000, fields["p99_ms"])
}
