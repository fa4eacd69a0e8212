package xfetch

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Reference values computed with 25 digits.
func TestExponentialIntegrals_matchReferences(t *testing.T) {
	for _, row := range []struct{ x, e1, ein float64 }{
		{1e-9, 20.1460501730448783, 9.99999999749999818e-10},
		{0.01, 4.03792957653811383, 0.00997505545155532436},
		{0.1, 1.82292395841939067, 0.0975545303268778427},
		{0.5, 0.559773594776160812, 0.443842079117748363},
		{1, 0.219383934395520274, 0.796599599297053134},
		{math.Nextafter(1, 2), 0.219383934395520192, 0.796599599297053275},
		{1.5, 0.100019582406632652, 1.08270035541632989},
		{2, 0.0489005107080611196, 1.31926335616953929},
		{3, 0.0130483810941970374, 1.68887633466383959},
		{5, 0.0011482955912753258, 2.18780187292690856},
		{10, 4.15696892968532428e-6, 2.87980491486450823},
		{20, 9.83552529064988169e-11, 3.57294793855387911},
		{50, 3.78326402955045902e-24, 4.48923867032967892},
		{100, 3.68359776168203218e-46, 5.18238585088962423},
		{700, 1.40651876623403292e-307, 7.12829599994493753},
	} {
		require.InEpsilon(t, row.e1, e1(row.x), 2e-14, "E1(%v)", row.x)
		require.InEpsilon(t, row.ein, ein(row.x), 2e-15, "Ein(%v)", row.x)
	}
	require.Zero(t, ein(0))
	require.Zero(t, e1(1e28))
}

// atRate is the law of a key with a load time of one second and nothing that
// coordinates its readers.
func atRate(rate, beta float64) Law {
	return Law{Rate: rate, Scale: Scale(time.Second, beta), Aware: time.Second}
}

func TestLaw_ofOneKey(t *testing.T) {
	for _, row := range []struct {
		rate, beta                             float64
		loads, single, early, hard, left, late float64
	}{
		{0.1, 1, 1.0969, 0.9077, 0.098, 0.999, -8.951, 0.964},
		{1, 1, 1.7446, 0.5032, 0.837, 0.908, 0.429, 0.692},
		{3, 1, 2.3821, 0.3758, 1.817, 0.565, 1.672, 0.332},
		{10, 1, 2.7056, 0.3679, 2.650, 0.056, 2.880, 0.0252},
		{100, 1, 2.7183, 0.3679, 2.718, 3e-16, 5.182, 1e-16},
		{100, 0.5, 7.3884, 0.1353, 7.381, 0.0075, 2.245, 0.0012},
		{100, 1.5, 1.9477, 0.5134, 1.948, 0, 8.382, 0},
		{100, 2, 1.6487, 0.6065, 1.649, 0, 11.751, 0},
		{100, 4, 1.2840, 0.7788, 1.284, 0, 26.275, 0},
	} {
		law := atRate(row.rate, row.beta)
		early, hard := law.LoadsPerExpiry()
		require.InDelta(t, row.loads, early+hard, 1e-4*row.loads, "loads, %+v", row)
		require.InDelta(t, row.early, early, 6e-4, "early, %+v", row)
		require.InDelta(t, row.hard, hard, 6e-4, "hard, %+v", row)
		require.InDelta(t, row.single, law.SingleProbability(), 6e-5, "single, %+v", row)
		require.InDelta(t, row.left, law.ExpectedLeft().Seconds(), 6e-4, "left, %+v", row)
		require.InDelta(t, row.late, law.LateProbability(time.Second), 6e-4, "late, %+v", row)
	}
}

func TestLaw_tinyProbabilitiesKeepTheirDigits(t *testing.T) {
	law := atRate(100, 1)
	_, hard := law.LoadsPerExpiry()
	// a*E1(a/e), as e^{-a} is nothing at a = 100.
	require.InEpsilon(t, 100*e1(100/math.E), hard, 1e-12)
	require.InEpsilon(t, 1.05483e-16, law.LateProbability(time.Second), 1e-4)
	require.InEpsilon(t, math.Exp(-100), law.LateProbability(0), 1e-12)
}

func TestLaw_readsNeededToBeInTime(t *testing.T) {
	require.InDelta(t, 0.01, atRate(12.5, 1).LateProbability(time.Second), 5e-4)
	require.InDelta(t, 0.0001, atRate(25, 1).LateProbability(time.Second), 5e-6)
}

func TestLaw_stampedeIsTheSameAtEveryRate(t *testing.T) {
	law := atRate(1, 1)
	require.InDelta(t, math.E, law.StampedeMean(), 1e-12)
	require.InDelta(t, 1.948, atRate(1, 1.5).StampedeMean(), 1e-3)
	require.InDelta(t, 0.632, law.StampedeTail(1), 1e-3)
	require.Equal(t, 1.0, law.StampedeTail(0))
	require.Equal(t, 1.0, law.StampedeTail(-1))
	require.Greater(t, law.StampedeTail(10), 0.01)
	require.Less(t, law.StampedeTail(11), 0.01)
	for _, rate := range []float64{1e3, 1e6, 1e12, math.Inf(1)} {
		early, hard := atRate(rate, 1).LoadsPerExpiry()
		require.InEpsilon(t, math.E, early, 1e-9, "rate %v", rate)
		require.Less(t, hard, 1e-12, "rate %v", rate)
	}
}

func TestLaw_anOriginThatSlowsDownIsAmplified(t *testing.T) {
	slower := func(times time.Duration) float64 {
		return Law{Rate: 1e6, Scale: time.Second, Aware: times * time.Second}.StampedeMean()
	}
	require.InDelta(t, 20, slower(3), 0.1)
	require.InDelta(t, 148, slower(5), 0.5)
}

// A lease shortens awareness to a round trip.
func TestLaw_aLeaseLeavesOneLoad(t *testing.T) {
	law := Law{Rate: 100, Scale: time.Second, Aware: 10 * time.Millisecond}
	require.InDelta(t, 1.010, law.StampedeMean(), 1e-3)
}

func TestFleetLoads_ofAHotKey(t *testing.T) {
	law := atRate(100, 1)
	for instances, want := range map[int]float64{
		-1: 1, 0: 1, 1: 1, 2: 1.462, 4: 1.902, 10: 2.320, 30: 2.571, 100: 2.672, math.MaxInt32: math.E,
	} {
		require.InDelta(t, want, law.FleetLoads(instances), 6e-4, "%d instances", instances)
	}
}

// With very many instances no two elected reads fall on the same one, so the
// fleet's law must meet the one without coalescing, which has a closed form.
func TestFleetLoads_meetsTheUncoalescedLaw(t *testing.T) {
	for _, rate := range []float64{0, 1e-3, 0.1, 0.9, 1, 1.1, 3, 10, 100, 1e4} {
		for _, beta := range []float64{0, 0.02, 0.3, 1, 4, 1e6} {
			law := atRate(rate, beta)
			early, hard := law.LoadsPerExpiry()
			require.InEpsilon(t, early+hard, law.FleetLoads(math.MaxInt32), 1e-4, "rate %v beta %v", rate, beta)
		}
	}
}

func TestFleetLoads_growsWithTheFleet(t *testing.T) {
	for _, rate := range []float64{0.3, 5, 50} {
		law, last := atRate(rate, 0.5), 1.0
		early, hard := law.LoadsPerExpiry()
		for m := 2; m < 1000; m *= 2 {
			loads := law.FleetLoads(m)
			require.Greater(t, loads, last)
			require.Less(t, loads, early+hard)
			last = loads
		}
	}
}

// Bounds that tie the forms to one another, on random keys.
func TestLaw_formsAgreeWithEachOther(t *testing.T) {
	rng := seeded(t)
	for range 300 {
		law := Law{
			Rate:  math.Exp(12*rng.Float64() - 6),
			Scale: Scale(time.Second, math.Exp(3*rng.Float64()-1.5)),
			Aware: time.Second,
		}
		early, hard := law.LoadsPerExpiry()
		single := law.SingleProbability()
		require.GreaterOrEqual(t, early+hard, 2-single, "%+v: who is not single loads twice", law)
		// P(G > 0) expiries have an early load, the rest a hard one.
		require.GreaterOrEqual(t, early, 1-law.LateProbability(0)-1e-12, "%+v", law)
		require.GreaterOrEqual(t, hard, law.LateProbability(0), "%+v", law)
		gap := numericGap(law)
		require.InEpsilon(t, gap, law.ExpectedGap().Seconds(), 1e-4, "%+v", law)
	}
}

// numericGap integrates P(G > t) over t > 0.
func numericGap(law Law) float64 {
	const steps, scales = 40_000, 60
	sum := 0.0
	for i := range steps {
		lead := (float64(i) + 0.5) / steps * scales * float64(law.Scale)
		sum += -math.Expm1(-law.ReadsPerScale() * Probability(time.Duration(lead), law.Scale))
	}
	return sum / steps * scales * law.Scale.Seconds()
}

func TestLaw_withoutEarlyRefresh(t *testing.T) {
	law := Law{Rate: 50, Aware: 2 * time.Second}
	early, hard := law.LoadsPerExpiry()
	require.Zero(t, early)
	require.InDelta(t, 101, hard, 1e-12) // the first, and all who come while it runs
	require.Equal(t, -20*time.Millisecond, law.ExpectedLeft())
	require.Zero(t, law.ExpectedGap())
	require.Equal(t, 1.0, law.LateProbability(time.Second))
	require.InDelta(t, math.Exp(-50), law.LateProbability(-time.Second), 1e-30)
	require.InDelta(t, 2-math.Exp(-50), law.FleetLoads(2), 1e-12)
}

func TestLaw_isFiniteEverywhere(t *testing.T) {
	rates := []float64{0, 5e-324, 1e-9, 1, 1e9, 1e18, math.MaxFloat64, math.Inf(1), -1, math.NaN()}
	times := []time.Duration{math.MinInt64, -1, 0, 1, time.Second, forever}
	for _, rate := range rates {
		for _, scale := range times {
			for _, aware := range times {
				requireFinite(t, Law{Rate: rate, Scale: scale, Aware: aware})
			}
		}
	}
}

func requireFinite(t *testing.T, law Law) {
	t.Helper()
	early, hard := law.LoadsPerExpiry()
	for name, x := range map[string]float64{
		"reads": law.ReadsPerScale(), "mean": law.StampedeMean(), "early": early, "hard": hard,
		"fleet": law.FleetLoads(7),
	} {
		require.False(t, math.IsNaN(x) || math.IsInf(x, 0) || x < 0, "%s = %v, %+v", name, x, law)
	}
	for name, p := range map[string]float64{
		"single": law.SingleProbability(), "tail": law.StampedeTail(3),
		"late": law.LateProbability(time.Second), "miss": law.LateProbability(0), "hard": law.LateProbability(-time.Second),
	} {
		require.True(t, p >= 0 && p <= 1+1e-12, "%s = %v, %+v", name, p, law)
	}
	require.GreaterOrEqual(t, law.ExpectedGap(), law.ExpectedLeft())
}
