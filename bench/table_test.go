package main

import (
	"bytes"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

func pair(compared column) row {
	return row{
		name: "pair", base: "slow", columns: speed(compared),
		subjects: []subject{{name: "slow"}, {name: "fast"}},
	}
}

func took(ns ...float64) (t turn) {
	for _, x := range ns {
		t = append(t, sample{perOp: x})
	}
	return t
}

// The machine was busy in the second turn, for both alike. The ratio must not
// notice.
func TestTable_ratiosAreTakenWithinATurn(t *testing.T) {
	m := measurement{turns: []turn{took(40, 10), took(400, 100), took(44, 11)}}
	fast := newTable(pair(times("slow", cost)), "", 1, m).Lines[1]
	require.Equal(t, spread{0.25, 0.25, 0.25}, fast.Figures["it ÷ slow"])
	require.Equal(t, spread{Median: 11, Low: 10.5, High: 55.5}, fast.Figures["ns/op"])

	fast = newTable(pair(faster("slow", cost)), "", 1, m).Lines[1]
	require.Equal(t, spread{4, 4, 4}, fast.Figures["slow ÷ it"])
}

// Others had the processor during the second half.
func TestCost_isProcessorTimeWhereKnown(t *testing.T) {
	require.Equal(t, 20.0, cost(sample{perOp: 80, cpuPerOp: 20}))
	require.Equal(t, 80.0, cost(sample{perOp: 80}))
}

func TestEach_dividesAmongKeys(t *testing.T) {
	c := each("", perOp, 0)
	require.Equal(t, 3.0, c.of(sample{perOp: 300, keysPerOp: 100}, nil))
}

func TestReport_printsTables(t *testing.T) {
	var out bytes.Buffer
	rep := newReport(plan{}, &out)
	rep.Date, rep.Go, rep.Platform, rep.CPUs = "2020-01-02", "go1.26", "plan9/mips", 3
	rep.Turns, rep.Benchtime = 1, "1s"
	rep.Modules = map[string]string{peers[0]: "v1", peers[1]: "v2"}
	r := pair(times("slow", cost))
	r.subjects = append(r.subjects, subject{name: "feigned"})
	table := newTable(r, "7 keys", 2, measurement{
		turns: []turn{{
			{perOp: 40, cpuPerOp: 80, allocsPerOp: 2, bytesPerOp: 64},
			{perOp: 10, cpuPerOp: 20},
			nil,
		}},
		failed: map[string]error{"feigned": errors.New("did nothing")},
	})
	require.NoError(t, rep.begin())
	require.NoError(t, rep.add(table))
	require.NoError(t, rep.end())
	require.Equal(t, `2020-01-02, go1.26, plan9/mips, 3 CPUs; medians and quartiles of 1 turns of 1s

pair, 2 procs; 7 keys
           ns/op  quartiles  cpu ns  quartiles  it ÷ slow  quartiles  allocs  bytes
  slow      40.0  40.0–40.0    80.0  80.0–80.0       1.00  1.00–1.00     2.0     64
  fast      10.0  10.0–10.0    20.0  20.0–20.0       0.25  0.25–0.25     0.0      0
  feigned  did nothing

github.com/earlybird-cache/earlybird v1
github.com/maypok86/otter/v2 v2
`, out.String())
}

func TestRows_haveTheirBase(t *testing.T) {
	for _, r := range rows {
		var names []string
		for _, s := range r.subjects {
			require.NotContains(t, names, s.name, r.name)
			names = append(names, s.name)
		}
		require.Contains(t, names, r.base)
	}
}

func TestQuantile(t *testing.T) {
	for _, c := range []struct {
		xs   []float64
		q    float64
		want float64
	}{
		{[]float64{5}, 0.5, 5},
		{[]float64{1, 2}, 0.5, 1.5},
		{[]float64{1, 2, 3, 4, 5}, 0.25, 2},
		{[]float64{1, 2, 3, 4}, 0.75, 3.25},
		{[]float64{1, 2, 3}, 1, 3},
	} {
		require.InDelta(t, c.want, quantile(c.xs, c.q), 1e-12)
	}
}
