package scenarios

import (
	"bytes"
	"math"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird/sim/bubble"
	"github.com/earlybird-cache/earlybird/sim/estimate"
	"github.com/earlybird-cache/earlybird/sim/refresh"
)

// quick is the size at which all scenarios take a second or two.
const quick = 0.01 / raceSlowdown

func play(t *testing.T, list []Scenario, seed uint64, effort float64) []Played {
	t.Helper()
	var done atomic.Int64
	played, err := Play(list, Options{Seed: seed, Effort: effort, Runner: bubble.In(t)}, &done)
	require.NoError(t, err)
	require.EqualValues(t, len(list), done.Load())
	return played
}

// all plays all scenarios, once for all tests that look at them.
func all(t *testing.T) []Played {
	t.Helper()
	if played == nil {
		played = play(t, All(), 1, quick)
	}
	return played
}

var played []Played

func TestPlay_everyRowHolds(t *testing.T) {
	for _, p := range all(t) {
		require.NotEmpty(t, p.Rows, p.Name)
		for _, r := range p.Rows {
			require.True(t, r.OK(), "%s: %+v", p.Name, r)
			require.False(t, math.IsNaN(r.Expected) || math.IsNaN(r.Got), "%s: %+v", p.Name, r)
		}
	}
}

// One row beyond 4 is a fault, and so are standard errors that are too large, or
// too small: over many seeds the z of all rows must spread as a standard normal.
func TestPlay_zIsStandardNormal(t *testing.T) {
	var sum float64
	n, beyond := 0, 0
	seeds := uint64(20)
	if raceSlowdown > 1 {
		seeds = 8 // some nine hundred rows
	}
	for seed := range seeds {
		for _, p := range play(t, random(), 100+seed, 0.002/raceSlowdown) {
			for _, r := range p.Rows {
				if r.Basis != ClosedForm || r.StdErr == 0 || math.IsNaN(r.Z) || r.Expected < 0.05 {
					continue // counts of a few are not normal
				}
				n++
				sum += r.Z * r.Z
				if math.Abs(r.Z) > 3 {
					beyond++
				}
			}
		}
	}
	rms := math.Sqrt(sum / float64(n))
	t.Logf("RMS of z over %d rows: %.3f; %d beyond 3", n, rms, beyond)
	require.InDelta(t, 1.025, rms, 0.225)
	require.Less(t, float64(beyond)/float64(n), 0.01) // .0027 of a normal
}

// random are the scenarios without the real cache and the second engine.
func random() []Scenario {
	var list []Scenario
	for _, s := range All() {
		switch {
		case strings.HasPrefix(s.Name, "lab-"), strings.HasPrefix(s.Name, "bloom-"), strings.HasPrefix(s.Name, "hot-"),
			s.Name == "estimators", s.Name == "steps":
		default:
			list = append(list, s)
		}
	}
	return list
}

func TestPlay_repeatsBySeed(t *testing.T) {
	list := []Scenario{find(t, "stampede"), find(t, "internet-archive-2017"), find(t, "hot-flapping"), find(t, "skew")}
	a, b := play(t, list, 7, quick), play(t, list, 7, quick)
	other := play(t, list, 8, quick)
	for i := range list {
		same := 0
		for j, r := range a[i].Rows {
			require.Equal(t, r.Got, b[i].Rows[j].Got, r.Figure)
			if r.Got == other[i].Rows[j].Got {
				same++
			}
		}
		require.Less(t, same, len(a[i].Rows), "%s: another seed is another run", list[i].Name)
	}
}

func find(t *testing.T, name string) Scenario {
	t.Helper()
	s, ok := Find(name)
	require.True(t, ok, name)
	return s
}

func TestAll_namesTellScenariosApart(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range All() {
		require.False(t, seen[s.Name], s.Name)
		seen[s.Name] = true
		require.NotEmpty(t, s.Title)
		require.NotContains(t, s.About, "  ")
	}
	require.True(t, seen["goodreads-2015"] && seen["internet-archive-2017"])
}

// What a row says it is shown by must be a command.
func TestRow_commandsRun(t *testing.T) {
	tried := map[string]bool{}
	for _, p := range all(t) {
		for _, r := range p.Rows {
			name, rest, _ := strings.Cut(strings.TrimPrefix(r.Command, "sim "), " ")
			switch {
			case tried[r.Command]:
			case name == "scenarios":
				find(t, rest)
			default:
				require.Equal(t, "refresh", name)
				var errs bytes.Buffer
				args := append(strings.Fields(rest), "-expiries", "2", "-events", "0", "-draws", "2")
				require.Zero(t, refresh.Main(args, &bytes.Buffer{}, &errs), "%s: %s", r.Command, errs.String())
			}
			tried[r.Command] = true
		}
	}
	require.Greater(t, len(tried), 50)
}

func TestRow_verdicts(t *testing.T) {
	for _, c := range []struct {
		row     Row
		verdict string
	}{
		{closed("", estimate.Estimate{Observed: 1, StdErr: 0.1, Theory: 1.3, Z: -3}), "holds"},
		{closed("", estimate.Estimate{Observed: 1, StdErr: 0.1, Theory: 1.5, Z: -5}), "FAILS"},
		{closed("", estimate.Estimate{Observed: 1, StdErr: 0.1, Theory: math.NaN(), Z: math.NaN()}), "FAILS"},
		{closed("", estimate.Proportion(0, 1000, 1e-9)), "closed form only"},
		{closed("", estimate.Proportion(1, 1000, 1e-9)), "FAILS"},
		{closed("", estimate.Proportion(40, 1000_000, 1e-5)), "FAILS"},
		{closed("", estimate.Proportion(15, 1000_000, 1e-5)), "holds"},
		{counted("", 7, 7), "holds"},
		{counted("", 7, 8), "FAILS"},
		{bounded("", AtMost, 1, 1), "holds"},
		{bounded("", AtMost, 1, 1.1), "FAILS"},
		{bounded("", AtMost, 1, math.NaN()), "FAILS"},
		{bounded("", AtLeast, 1, 0.9), "FAILS"},
		{Row{Basis: Misprint, Z: 5}, "refuted"},
		{Row{Basis: Misprint, Z: 3}, "FAILS"},
		{Row{Basis: Misprint, Z: math.NaN()}, "FAILS"},
	} {
		require.Equal(t, c.verdict, c.row.Verdict(), "%+v", c.row)
	}
}

// The figures that these choices were made on, from a simulation of their own.
func TestEstimators_areAsWhenTheyWereChosen(t *testing.T) {
	want := []float64{
		3.13, .062, 6.55, 2.41, 0, 5.61, // lognormal:0.5, last and ewma: loads, hard loads, gap
		3.42, .47, 9.95, 2.04, 0, 6.32, // lognormal:1
		2.62, .06, 13.9, 1.47, .004, 7.1, // twopoint:0.1,9.1
	}
	rows := play(t, []Scenario{find(t, "estimators")}, 1, 0.1/raceSlowdown)[0].Rows
	require.Len(t, rows, len(want))
	for i, r := range rows {
		require.InDelta(t, want[i], r.Got, 0.06*want[i]+0.02+4*r.StdErr, r.Figure)
	}
}

func TestArchive_isTheModelOfTheTalk(t *testing.T) {
	st := newStage("x", Options{Seed: 3, Effort: 1})
	plain, early, locked := newArchive(st, false, false), newArchive(st, true, false), newArchive(st, false, true)
	require.InDelta(t, 37.6, plain.play(1000).Mean(), 0.6)
	require.InDelta(t, 2.7, early.play(1000).Mean(), 0.3)
	require.Equal(t, 1.0, locked.play(1000).Mean())
}

// The document is what the scenarios print. At the size of a test their figures
// differ from its, but not by more than their errors; all else must be the same.
func TestPrediction_isWhatTheScenariosSay(t *testing.T) {
	text, err := os.ReadFile("../../docs/prediction.md")
	require.NoError(t, err)
	var now bytes.Buffer
	if os.Getenv("EARLYBIRD_SOAK") != "" {
		played = play(t, All(), 1, 1)
	}
	require.NoError(t, WriteMarkdown(&now, all(t)))
	want, got := strings.Split(now.String(), "\n"), strings.Split(string(text), "\n")
	const again = "run go run ./sim scenarios -markdown > docs/prediction.md"
	require.Len(t, got, len(want), again)
	for i := range want {
		if !strings.HasPrefix(want[i], "| ") || strings.HasPrefix(want[i], "| |") {
			require.Equal(t, want[i], got[i], again)
			continue
		}
		requireSameRow(t, want[i], got[i])
	}
}
