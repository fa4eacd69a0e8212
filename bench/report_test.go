package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

var pair = row{name: "pair", base: "slow", subjects: []subject{{name: "slow"}, {name: "fast"}}}

// The machine was busy in the second turn, for both alike. The ratio must not
// notice.
func TestReport_ratiosAreTakenWithinATurn(t *testing.T) {
	turns := []turn{
		{{ns: 40}, {ns: 10}},
		{{ns: 400}, {ns: 100}},
		{{ns: 44}, {ns: 11}},
	}
	rep := newReport(plan{})
	rep.add(pair, 1, turns)
	fast := rep.Tables[0].Lines[1]
	require.Equal(t, spread{0.25, 0.25, 0.25}, fast.Ratio)
	require.Equal(t, spread{Median: 11, Low: 10.5, High: 55.5}, fast.Ns)

	inverse := pair
	inverse.inverse = true
	rep.add(inverse, 1, turns)
	require.Equal(t, spread{4, 4, 4}, rep.Tables[1].Lines[1].Ratio)
}

// Others had the processor during the second half.
func TestReport_ratiosAreOfProcessorTimeWhereKnown(t *testing.T) {
	rep := newReport(plan{})
	rep.add(pair, 1, []turn{{{ns: 40, cpu: 40}, {ns: 80, cpu: 20}}})
	require.Equal(t, spread{0.5, 0.5, 0.5}, rep.Tables[0].Lines[1].Ratio)
}

func TestReport_printsATable(t *testing.T) {
	rep := newReport(plan{})
	rep.Date, rep.Go, rep.Platform, rep.CPUs = "2020-01-02", "go1.26", "plan9/mips", 3
	rep.Keys, rep.Turns, rep.Benchtime = 7, 1, "1s"
	rep.Modules = map[string]string{peers[0]: "v1", peers[1]: "v2"}
	rep.add(pair, 2, []turn{{{ns: 40, cpu: 80, allocs: 2, bytes: 64}, {ns: 10, cpu: 20}}})
	var out bytes.Buffer
	require.NoError(t, rep.print(&out))
	require.Equal(t, `2020-01-02, go1.26, plan9/mips, 3 CPUs; 7 keys; medians and quartiles of 1 turns of 1s

pair, 2 procs
        ns/op  quartiles  cpu ns  quartiles  it ÷ slow  quartiles  allocs  bytes
  slow   40.0  40.0–40.0    80.0  80.0–80.0       1.00  1.00–1.00     2.0     64
  fast   10.0  10.0–10.0    20.0  20.0–20.0       0.25  0.25–0.25     0.0      0

github.com/earlybird-cache/earlybird v1
github.com/maypok86/otter/v2 v2
`, out.String())
}

func TestRows_haveTheirBase(t *testing.T) {
	for _, r := range rows {
		var names []string
		for _, s := range r.subjects {
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
