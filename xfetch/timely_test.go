package xfetch

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestLambertW_invertsItsDefinition(t *testing.T) {
	for w := 1e-12; w < 650; w *= 1.3 {
		require.InEpsilon(t, w, lambertW(w*math.Exp(w)), 1e-9, "w = %v", w)
	}
	require.Zero(t, lambertW(0))
	require.InDelta(t, 703.227, lambertW(math.MaxFloat64), 1e-2)
}

func TestTimelyScale_isTheLeastInTime(t *testing.T) {
	rng := seeded(t)
	for range 2000 {
		rate := math.Exp(14*rng.Float64() - 5)
		lead := time.Duration(rng.Float64() * float64(10*time.Second))
		late := math.Exp(-12 * rng.Float64())
		scale := TimelyScale(rate, lead, late)
		require.InEpsilon(t, late, Law{Rate: rate, Scale: scale}.LateProbability(lead), 1e-5, "rate %v lead %v", rate, lead)
		less := Law{Rate: rate, Scale: scale - scale/100 - 1}
		require.Greater(t, less.LateProbability(lead), late, "rate %v lead %v: a smaller one is late", rate, lead)
	}
}

// The figures that are quoted for beta 1: twelve and a half and twenty-five reads
// per load.
func TestTimelyScale_ofABetaOfOne(t *testing.T) {
	require.InDelta(t, 1, TimelyScale(12.52, time.Second, 0.01).Seconds(), 1e-3)
	require.InDelta(t, 1, TimelyScale(25.04, time.Second, 1e-4).Seconds(), 1e-3)
}

func TestTimelyScale_edges(t *testing.T) {
	require.Equal(t, forever, TimelyScale(0, time.Second, 0.01))
	require.Equal(t, forever, TimelyScale(math.NaN(), time.Second, 0.01))
	require.Zero(t, TimelyScale(1, time.Second, 1))
	require.Zero(t, TimelyScale(1, time.Second, math.NaN()))
	require.InDelta(t, math.Log(100), TimelyScale(1, 0, 0.01).Seconds(), 1e-6)
	require.InDelta(t, math.Log(100), TimelyScale(1, -time.Second, 0.01).Seconds(), 1e-6)
	require.InDelta(t, MaxDraw, TimelyScale(1, 0, 0).Seconds(), 1e-6)
	require.Positive(t, TimelyScale(math.Inf(1), forever, 0))
	require.Positive(t, TimelyScale(5e-324, forever, 0.5))
}

// Readers served stale for StaleFor past expiry do not wait, but for the share
// asked for: a load that takes lead, started by the first who is due, ends before.
func TestStaleFor_nobodyWaits(t *testing.T) {
	const n, lead = 40_000, time.Second
	rng := seeded(t)
	for _, law := range []Law{
		{Rate: 0.2, Scale: time.Second},
		{Rate: 4, Scale: time.Second},
		{Rate: 10, Scale: time.Second / 10},
	} {
		const lambda = 3.0
		stale := StaleFor(law.Rate, law.Scale, lead, lambda)
		require.Positive(t, stale)
		var waits mean
		for range n {
			waits.addBool(law.play(rng).left+stale <= lead)
		}
		waits.requireNear(t, math.Exp(-lambda), "%+v, stale for %v", law, stale)
	}
	require.Zero(t, StaleFor(1000, time.Second, lead, 3), "draws alone do")
	require.Equal(t, forever, StaleFor(0, time.Second, lead, 3))
}

func TestLifeFor_isTheLeastThatKeepsThePromise(t *testing.T) {
	const rate, late = 0.5, 0.001
	life := LifeFor(rate, cost100ms.Mean, cost100ms.Lead(), -math.Log(late), 0)
	require.InEpsilon(t, late, lawOf(Rule{Late: late}, rate, life+8).LateProbability(cost100ms.Lead()), 1e-6)
	require.Greater(t, lawOf(Rule{Late: late}, rate, life*8/10).LateProbability(cost100ms.Lead()), 2*late)
	require.Equal(t, forever, LifeFor(0, 0, 0, 1, math.NaN()))
}
