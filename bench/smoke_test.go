package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Rows that need a process of their own run this one.
func TestMain(m *testing.M) {
	if inJob() {
		os.Exit(runJob(os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

const fewKeys = 10_000

// smallPlan measures everything once, briefly.
func smallPlan() plan {
	p := newPlan()
	p.procs, p.count, p.benchtime, p.json = []int{2}, 1, time.Millisecond, true
	p.keys, p.entries, p.requests = []int{fewKeys}, fewKeys, 2000
	if os.Getenv("EARLYBIRD_NO_REDIS") != "" {
		p.rows = slices.DeleteFunc(slices.Clone(p.rows), func(r row) bool { return strings.HasPrefix(r.name, "shared") })
	}
	return p
}

func smallWorkload() *workload { return smallPlan().combinations()[0].workload() }

func TestHit_everyCacheHoldsEveryProduct(t *testing.T) {
	w := smallWorkload()
	for _, s := range rowNamed(t, "hit").subjects {
		if s.name == "hot-wtinylfu" {
			continue // keeps a hundredth, see TestBench_measuresEverySubject
		}
		t.Run(s.name, func(t *testing.T) {
			trial, err := s.open(w)
			require.NoError(t, err)
			defer trial.end()
			loaded := counter(trial.count)
			for i := range fewKeys {
				require.True(t, trial.holds(keyOf(i)), keyOf(i))
			}
			if s.name != "sturdyc" { // whose fullest shards evict what is read next
				require.LessOrEqual(t, loaded(), int64(fewKeys/100))
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
	p := smallPlan()
	var out bytes.Buffer
	require.NoError(t, bench(t.Context(), p, &out, io.Discard))

	var rep report
	require.NoError(t, json.Unmarshal(out.Bytes(), &rep))
	tables := rep.Tables
	for _, r := range p.rows {
		for range len(p.variantsOf(r)) * len(p.procsOf(r)) {
			require.Equal(t, r.name, tables[0].Row)
			require.Len(t, tables[0].Lines, len(r.subjects))
			for _, l := range tables[0].Lines {
				checkLine(t, r, l)
			}
			tables = tables[1:]
		}
	}
	require.Empty(t, tables)
}

func checkLine(t *testing.T, r row, l line) {
	if l.Failure != "" {
		// A peer may hold less than it was given: hot's W-TinyLFU keeps a hundredth,
		// the shards of a small sturdyc fill unevenly, ristretto drops what comes
		// while it is busy.
		require.Regexp(t, "^(hot-|sturdyc|ristretto)", l.Subject, l.Failure)
		return
	}
	require.Len(t, l.Figures, len(r.columns))
	for _, c := range r.columns {
		if s := l.Figures[c.head]; strings.Contains(c.head, "÷ "+r.base) && l.Subject == r.base {
			require.Equal(t, spread{1, 1, 1}, s)
		}
	}
	if l.Subject == "lru" {
		return // of a loop larger than itself it hits nothing
	}
	first := l.Figures[r.columns[0].head]
	require.Positive(t, first.Low, "%s/%s", r.name, l.Subject)
}

// A tier that answers with another key's value must not get into a table.
func TestShared_eachTierHoldsEveryProduct(t *testing.T) {
	if os.Getenv("EARLYBIRD_NO_REDIS") != "" {
		t.Skip("EARLYBIRD_NO_REDIS is set")
	}
	w := smallWorkload()
	for _, name := range []string{"shared", "shared-bytes"} {
		for _, s := range rowNamed(t, name).subjects {
			t.Run(name+"/"+s.name, func(t *testing.T) {
				trial, err := s.open(w)
				require.NoError(t, err)
				defer trial.end()
				for i := range fewKeys / 10 {
					require.True(t, trial.holds(keyOf(i)), keyOf(i))
				}
				require.False(t, trial.holds(strangerOf(1)))
				served := counter(trial.counts[serverPerOp])
				require.Eventually(t, func() bool { trial.holds(keyOf(1)); return served() > 0 }, 10*time.Second, time.Millisecond)
			})
		}
	}
}

func TestBench_interrupted(t *testing.T) {
	hurry(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, bench(ctx, smallPlan(), io.Discard, io.Discard), context.Canceled)
}

// A cache that loads where it should hit must not get into a table.
func TestTrial_checkRefusesStrays(t *testing.T) {
	hurry(t)
	w := smallWorkload()
	trial, err := misses(newEarlybird)(w)
	require.NoError(t, err)
	defer trial.end()
	trial.keys = w.popular()
	for r := trial.keys.reader(); ; {
		loaded := counter(trial.count)
		trial.do(r.next())
		if loaded() == 0 {
			break // the most popular was asked for again
		}
	}
	testing.Benchmark(trial.run)
	require.ErrorContains(t, trial.check(), "did not do what is measured")
}

func TestTrial_checkRefusesFailures(t *testing.T) {
	hurry(t)
	trial := &trial{keys: smallWorkload().distinct(), do: func(string) (string, bool) { return "", false }}
	testing.Benchmark(trial.run)
	require.Error(t, trial.check())
}

// The bars speak of one call of the origin for each batch.
func TestMany_missingKeysAreLoadedInOneCall(t *testing.T) {
	hurry(t)
	for _, fresh := range []int{batchLen / 2, batchLen} {
		s, err := opener(manyMisses(newEarlybird, fresh)).sample(smallWorkload())
		require.NoError(t, err)
		require.Equal(t, 1.0, s[callsOp])
	}
}

func TestJob_thatNobodyCanDo(t *testing.T) {
	for _, in := range []string{"", "{}", `{"Row":"memory"}`, `{"Row":"hit","Subject":"map","Entries":1,"Procs":1}`} {
		var complaint bytes.Buffer
		require.Equal(t, 1, runJob(strings.NewReader(in), io.Discard, &complaint), in)
		require.NotEmpty(t, complaint.String())
	}
}

func TestHeap_countsWhatIsHeld(t *testing.T) {
	s, err := heapOf(newMap)(job{Entries: 100_000})
	require.NoError(t, err)
	require.Equal(t, 1.0, s[heldPerEntry])
	require.Greater(t, s[bytesPerEntry], 32.0) // two headers of strings
	require.Less(t, s[bytesPerEntry], 128.0)
}
