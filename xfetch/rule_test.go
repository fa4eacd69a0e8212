package xfetch

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// cost100ms is of loads that always take 100 ms.
var cost100ms = Cost{Mean: 100 * time.Millisecond}

func TestRule_zeroIsClassic(t *testing.T) {
	require.Equal(t, Classic, Rule{})
	known := Known{Cost: cost100ms, Rate: 1000, Aware: time.Millisecond}
	want := Aim{Scale: 150 * time.Millisecond}
	require.Equal(t, want, Rule{}.Aim(known, 1.5, time.Minute))
	require.Equal(t, want, Rule{Late: -1}.Aim(known, 1.5, time.Minute))
	require.Equal(t, want, Rule{Late: math.NaN()}.Aim(known, 1.5, time.Minute))
	require.Equal(t, ClampScale(time.Second, time.Second), Rule{}.Aim(Known{Cost: Cost{Mean: time.Second}}, 1, time.Second).Scale)
}

func TestRule_unknownRateIsClassic(t *testing.T) {
	for _, rate := range []float64{0, -1, math.NaN(), math.Inf(-1)} {
		require.Equal(t, Aim{Scale: cost100ms.Mean}, Deadline.Aim(Known{Cost: cost100ms, Rate: rate}, 1, time.Minute))
	}
}

func TestRule_nothingIsEarlyWithoutAScale(t *testing.T) {
	known := Known{Cost: cost100ms, Rate: 1000}
	require.Equal(t, Aim{}, Deadline.Aim(known, -1, time.Minute))
	require.Equal(t, Aim{}, Deadline.Aim(Known{Rate: 1000}, 1, time.Minute))
	require.Equal(t, Aim{}, Deadline.Aim(known, 1, 0))
}

// The promise: late with probability e^{-λ} whatever the rate. And the hot
// gap does not depend on it.
func TestDeadline_lateIsTheSameAtEveryRate(t *testing.T) {
	const life = 24 * time.Hour // no aim reaches a quarter of it
	for _, late := range []float64{1e-4, 1e-2, 0.3} {
		for rate := 0.01; rate < 1e9; rate *= 3 {
			law := lawOf(Rule{Late: late}, rate, life)
			require.InEpsilon(t, late, law.LateProbability(cost100ms.Lead()), 1e-6, "late %v rate %v", late, rate)
			lambda := -math.Log(late)
			if law.ReadsPerScale() > 2*lambda && late < 0.01 {
				gap := 0.1 + 0.1*(math.Log(lambda)+euler)
				require.InDelta(t, gap, law.ExpectedGap().Seconds(), 1e-5, "late %v rate %v", late, rate)
			}
		}
	}
}

// lawOf is the law of a key with loads of 100 ms whose rate is known, with a lease
// that takes a millisecond, which costs no λ below 1e5 reads a second.
func lawOf(r Rule, rate float64, life time.Duration) Law {
	aim := r.Aim(Known{Cost: cost100ms, Rate: rate}, 1, life)
	return Law{Rate: rate, Scale: aim.Scale, Shift: aim.Shift, Aware: time.Millisecond}
}

func TestDeadline_costsHardlyAnything(t *testing.T) {
	const life = time.Minute
	for rate := 10.0; rate < 1e6; rate *= 2 {
		law := lawOf(Deadline, rate, life)
		early, hard := law.LoadsPerExpiry()
		require.Less(t, early+hard, 1.011, "rate %v", rate)
		require.Less(t, hard, 1.2e-4*max(1, rate/1000), "rate %v", rate)
		overhead := law.LoadRate(life, 100*time.Millisecond)*life.Seconds() - 1
		require.Less(t, overhead, 0.0215, "rate %v", rate)
	}
}

// A key read every ten seconds would be loaded by each read, six times a minute,
// if t0 were not bounded.
func TestDeadline_reachKeepsColdKeysCold(t *testing.T) {
	const life, rate = time.Minute, 0.1
	bound := lawOf(Deadline, rate, life)
	require.Equal(t, 15*time.Second, bound.Shift)
	require.InDelta(t, 1.09, bound.LoadRate(life, 0)*60, 0.01)
	require.InDelta(t, 0.86, lawOf(Classic, rate, life).LoadRate(life, 0)*60, 0.01)
	unbound := Shift(rate, 100*time.Millisecond, 100*time.Millisecond, 9.21)
	require.Greater(t, unbound, life, "every read is due from birth")

	// What is left of the promise there: e^{-(a+r(φT-d))}.
	want := math.Exp(-(0.01 + rate*(15-0.1)))
	require.InEpsilon(t, want, bound.LateProbability(100*time.Millisecond), 1e-9)
}

func TestRule_lambdaGrowsWithTheCrowd(t *testing.T) {
	require.InDelta(t, 9.2103, Deadline.Lambda(1000, time.Millisecond), 1e-4)
	require.InDelta(t, math.Log1p(1e6*0.001/0.01), Deadline.Lambda(1e6, time.Millisecond), 1e-12)
	require.InDelta(t, 9.2103, Rule{Late: 1e-4, HardReads: -1}.Lambda(1e6, time.Millisecond), 1e-4)
	require.InDelta(t, MaxDraw, Rule{Late: 1e-300}.Lambda(1, 0), 1e-12)
	require.Zero(t, Classic.Lambda(1e6, time.Second))

	// e^{-λ}*r*w stays below HardReads.
	for rate := 1.0; rate < 1e12; rate *= 10 {
		lambda := Deadline.Lambda(rate, time.Second)
		require.Less(t, math.Exp(-lambda)*rate, Deadline.HardReads)
	}
}

func TestShift_isContinuousWhereItsFormChanges(t *testing.T) {
	const scale, lead, lambda = time.Second, 3 * time.Second, 9.21
	below, above := Shift(lambda*(1-1e-9), scale, lead, lambda), Shift(lambda*(1+1e-9), scale, lead, lambda)
	require.InDelta(t, float64(lead), float64(below), 20)
	require.InDelta(t, float64(lead), float64(above), 20)
	last := forever
	for rate := 1e-6; rate < 1e20; rate *= 1.7 {
		shift := Shift(rate, scale, lead, lambda)
		require.LessOrEqual(t, shift, last, "rate %v", rate)
		require.GreaterOrEqual(t, shift+Window(scale), lead, "rate %v", rate)
		last = shift
	}
}

func TestRule_listensBeforeTheDuePoint(t *testing.T) {
	const life = time.Minute
	require.Zero(t, Classic.Listening(Aim{Shift: time.Second}, life))
	require.Equal(t, 15*time.Second, Deadline.Listening(Aim{Scale: time.Second}, life))
	require.Equal(t, 15*time.Second, Deadline.Listening(Aim{Shift: -time.Second}, life))
	require.Equal(t, 25*time.Second, Deadline.Listening(Aim{Shift: 10 * time.Second}, life))
	require.Equal(t, life, Rule{Late: 0.1, Reach: 1}.Listening(Aim{Shift: time.Second}, life))
	require.Equal(t, forever, Rule{Late: 0.1, Reach: 1}.Listening(Aim{Shift: forever}, forever))
	require.Zero(t, Deadline.Listening(Aim{Shift: forever}, -1))
}

func TestRule_edges(t *testing.T) {
	floats := []float64{math.Inf(-1), -1, 0, 5e-324, 1e-9, 0.5, 1, 2, 1e18, math.MaxFloat64, math.Inf(1), math.NaN()}
	times := []time.Duration{math.MinInt64, -1, 0, 1, time.Second, forever}
	rng := seeded(t)
	oneFloat := func() float64 { return floats[rng.IntN(len(floats))] }
	oneTime := func() time.Duration { return times[rng.IntN(len(times))] }
	for range 20_000 {
		rule := Rule{oneFloat(), oneFloat(), oneFloat()}
		known := Known{Cost{oneTime(), oneTime()}, oneFloat(), oneTime()}
		beta, life := oneFloat(), oneTime()
		aim := rule.Aim(known, beta, life)
		require.LessOrEqual(t, aim.Scale, max(life, 0)/16)
		require.GreaterOrEqual(t, aim.Scale, time.Duration(0))
		require.LessOrEqual(t, aim.Shift, max(life, 0), "%+v %+v %v %v", rule, known, beta, life)
		lambda := rule.Lambda(known.Rate, known.Aware)
		require.True(t, lambda >= 0 && lambda < 800, "%+v %+v: %v", rule, known, lambda)
	}
	for range 500 {
		requireFinite(t, Law{oneFloat(), oneTime(), oneTime(), oneTime()})
	}
}

func TestRule_saysWhatIsWrong(t *testing.T) {
	for name, rule := range map[string]Rule{
		"Late":      {Late: 1},
		"Late must": {Late: math.NaN()},
		"HardReads": {Late: 0.1, HardReads: math.Inf(1)},
		"Reach":     {Late: 0.1, Reach: -1},
		"Reach m":   {Late: 0.1, Reach: 1.1},
		"Reach mu":  {Late: 0.1, Reach: math.NaN()},
	} {
		require.ErrorContains(t, rule.Validate(), name)
	}
	for _, rule := range []Rule{Classic, Deadline, {Late: -1}, {Late: 0.5, HardReads: -1, Reach: 1}} {
		require.NoError(t, rule.Validate())
	}
}
