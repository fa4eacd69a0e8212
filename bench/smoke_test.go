package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const fewKeys = 10_000

func TestHit_everyCacheHoldsEveryProduct(t *testing.T) {
	w := newWorkload(fewKeys)
	for _, s := range rowNamed(t, "hit").subjects {
		t.Run(s.name, func(t *testing.T) {
			trial, err := s.open(w)
			require.NoError(t, err)
			defer trial.end()
			for i := range fewKeys {
				require.True(t, trial.holds(keyOf(i)), keyOf(i))
			}
		})
	}
}

// hurry makes benchmarks short until the test ends, and no longer: those that
// go test runs come after it.
func hurry(t *testing.T) {
	f := flag.Lookup("test.benchtime")
	before := f.Value.String()
	require.NoError(t, f.Value.Set("1ms"))
	t.Cleanup(func() { require.NoError(t, f.Value.Set(before)) })
}

func TestBench_measuresEverySubject(t *testing.T) {
	hurry(t)
	p := plan{rows: rows, procs: []int{1, 2}, count: 1, benchtime: time.Millisecond, keys: fewKeys, json: true}
	var out bytes.Buffer
	require.NoError(t, bench(t.Context(), p, &out, io.Discard))

	var rep report
	require.NoError(t, json.Unmarshal(out.Bytes(), &rep))
	require.Len(t, rep.Tables, len(rows)*len(p.procs))
	for i, table := range rep.Tables {
		r := rows[i%len(rows)]
		require.Equal(t, r.name, table.Row)
		require.Len(t, table.Lines, len(r.subjects))
		for _, l := range table.Lines {
			require.Positive(t, l.Ns.Low, l.Subject)
			require.Positive(t, l.Ratio.Low, l.Subject)
			if l.Subject == r.base {
				require.Equal(t, spread{1, 1, 1}, l.Ratio)
			}
		}
	}
}

func TestBench_interrupted(t *testing.T) {
	hurry(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p := plan{rows: rows, procs: []int{1}, count: 1, benchtime: time.Millisecond, keys: fewKeys}
	require.ErrorIs(t, bench(ctx, p, io.Discard, io.Discard), context.Canceled)
}

// A cache that loads where it should hit must not get into a table.
func TestTrial_checkRefusesStrays(t *testing.T) {
	hurry(t)
	w := newWorkload(fewKeys)
	trial, err := openMiss(w)
	require.NoError(t, err)
	defer trial.end()
	hits := w.popular()
	trial.keys = hits
	for r := hits.reader(); trial.strayed() == 0; {
		trial.do(r.next()) // until the most popular is asked for again
	}
	testing.Benchmark(trial.run)
	require.ErrorContains(t, trial.check(), "did not do what is measured")
}

func TestTrial_checkRefusesFailures(t *testing.T) {
	hurry(t)
	trial := &trial{keys: newWorkload(1000).distinct(), do: func(string) (string, bool) { return "", false }}
	testing.Benchmark(trial.run)
	require.Error(t, trial.check())
}
