package xfetch

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Slots that are never idle, and loads that take a third longer than remembered
// and vary: the origin is used to its capacity and not far beyond.
func TestMaxLoads_usesTheOriginAndNoMore(t *testing.T) {
	const capacity, seconds = 200.0, 2000.0
	rng := seeded(t)
	cost := Cost{Mean: 100 * time.Millisecond, Deviation: 20 * time.Millisecond} // a margin of 1.4
	limit := MaxLoads(capacity, cost)
	require.Equal(t, 28, limit)
	loads := 0.0
	for range limit {
		for at := 0.0; at < seconds; loads++ {
			at += rng.ExpFloat64() * 0.14
		}
	}
	require.InEpsilon(t, capacity, loads/seconds, 0.02)
}

func TestMaxLoads_marginFollowsTheSpread(t *testing.T) {
	mean := 100 * time.Millisecond
	require.Equal(t, 24, MaxLoads(200, Cost{mean, 0}))
	require.Equal(t, 30, MaxLoads(200, Cost{mean, 25 * time.Millisecond}))
	require.Equal(t, 40, MaxLoads(200, Cost{mean, time.Hour}))
	require.Equal(t, 1, MaxLoads(1, Cost{mean, 0}))
}

func TestRefillTime_matchesNumericIntegration(t *testing.T) {
	rng := seeded(t)
	for range 300 {
		rate, ramp := 1+1000*rng.Float64(), 10*rng.Float64()
		keys := 1 + rng.IntN(20_000)
		// The gate's law, step by step.
		loaded, at := 0.0, 0.0
		for dt := 1e-3 * max(1, float64(keys)/rate/10); loaded < float64(keys); at += dt {
			share := 1.0
			if x := (at + dt/2) / ramp; x < 1 {
				share = math.Exp2(2 * (x - 1))
			}
			loaded += rate * share * dt
		}
		got := RefillTime(keys, rate, time.Duration(ramp*1e9))
		require.InDelta(t, at, got.Seconds(), 0.005*at+0.002, "%d keys, %v/s, ramp %v s", keys, rate, ramp)
		require.GreaterOrEqual(t, got.Seconds(), float64(keys)/rate*(1-1e-9)-1e-9, "nothing is faster")
	}
	require.Equal(t, 100*time.Second, RefillTime(20_000, 200, 0))
}

func TestLeastTTL_isWithinTheCapacity(t *testing.T) {
	rng := seeded(t)
	for range 1000 {
		keys, loads, rate := 1+rng.IntN(1e6), 1+2*rng.Float64(), math.Exp(8*rng.Float64())
		ttl := LeastTTL(keys, loads, rate)
		require.LessOrEqual(t, float64(keys)*loads/ttl.Seconds(), rate*(1+1e-9))
		require.Greater(t, float64(keys)*loads/(ttl.Seconds()*0.999), rate)
	}
}

func TestLimits_edges(t *testing.T) {
	floats := []float64{math.Inf(-1), -1, 0, 5e-324, 0.1, 1, 1e18, math.MaxFloat64, math.Inf(1), math.NaN()}
	times := []time.Duration{math.MinInt64, -1, 0, 1, time.Second, forever}
	for _, x := range floats {
		for _, d := range times {
			for _, e := range times {
				limit := MaxLoads(x, Cost{d, e})
				require.True(t, limit >= 1 && limit <= math.MaxInt32, "%v %v %v: %d", x, d, e, limit)
			}
			for _, n := range []int{math.MinInt, -1, 0, 1, math.MaxInt} {
				require.GreaterOrEqual(t, RefillTime(n, x, d), time.Duration(0))
				through := LoadsThrough(n, d)
				require.True(t, through >= 0 && through <= math.MaxFloat64)
				for _, y := range floats {
					require.GreaterOrEqual(t, LeastTTL(n, x, y), time.Duration(0))
				}
			}
		}
	}
	require.Equal(t, 1, MaxLoads(100, Cost{}))
	require.Equal(t, forever, RefillTime(1, 0, 0))
	require.Equal(t, forever, LeastTTL(1, 1, 0))
	require.Zero(t, LeastTTL(0, math.Inf(1), 0))
	require.InDelta(t, 240, LoadsThrough(24, 100*time.Millisecond), 1e-9)
}
