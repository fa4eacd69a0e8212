package xfetch

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// anyAim has a scale and a shift of every magnitude, the shift of either sign.
func anyAim(rng *rand.Rand) Aim {
	aim := Aim{anyDuration(rng), anyDuration(rng)}
	if rng.IntN(2) == 0 {
		aim.Shift = -aim.Shift
	}
	return aim
}

func TestAim_withoutShiftIsTheClassicRule(t *testing.T) {
	rng := seeded(t)
	for range 20_000 {
		scale, left, u := anyDuration(rng), anyDuration(rng), rng.Float64()
		aim := Aim{Scale: scale}
		require.Equal(t, Due(left, scale, u), aim.Due(left, u), "left %d scale %d u %v", left, scale, u)
		require.Equal(t, Window(scale), aim.Window())
		require.Equal(t, Probability(left, scale), aim.Probability(left))
	}
}

func TestAim_windowIsExact(t *testing.T) {
	rng := seeded(t)
	for range 20_000 {
		aim := anyAim(rng)
		window := aim.Window()
		if window > 0 {
			require.True(t, aim.Due(window, 0), "%+v: the smallest u at the edge", aim)
		}
		if window == forever {
			continue // nothing lies beyond
		}
		for _, u := range append(wildU, rng.Float64()) {
			require.False(t, aim.Due(window+1, u), "%+v u %v: beyond the edge", aim, u)
		}
	}
}

func TestAim_followsItsProbability(t *testing.T) {
	const n = 200_000
	rng := seeded(t)
	for _, aim := range []Aim{{time.Second, 0}, {time.Second, 2 * time.Second}, {time.Second, -2 * time.Second}, {0, time.Second}} {
		for _, left := range []time.Duration{3 * time.Second, time.Second, time.Millisecond} {
			p := aim.Probability(left)
			got := electedShare(rng, n, func(u float64) bool { return aim.Due(left, u) })
			require.InDelta(t, p, got, 5*math.Sqrt(p*(1-p)/n), "%+v, %v left", aim, left)
		}
	}
	require.Equal(t, 1.0, Aim{time.Second, 2 * time.Second}.Probability(2*time.Second))
	require.InDelta(t, math.Exp(-3), Aim{time.Second, -2 * time.Second}.Probability(time.Second), 1e-12)
}

func TestAim_zeroRefreshesNothingEarly(t *testing.T) {
	for _, u := range wildU {
		require.False(t, Aim{}.Due(1, u))
		require.True(t, Aim{}.Due(0, u))
	}
	require.Zero(t, Aim{}.Window())
}

func TestAim_edges(t *testing.T) {
	edges := []time.Duration{math.MinInt64, math.MinInt64 + 1, -time.Second, -1, 0, 1, time.Second, forever - 1, forever}
	for _, scale := range edges {
		for _, shift := range edges {
			aim := Aim{scale, shift}
			require.GreaterOrEqual(t, aim.Window(), time.Duration(0), "%+v", aim)
			for _, left := range edges {
				p := aim.Probability(left)
				require.True(t, p >= 0 && p <= 1, "%+v, %d left: %v", aim, left, p)
				for _, u := range wildU {
					requireMonotone(t, aim, left, u)
				}
			}
		}
	}
}

// requireMonotone checks that expired is due, and that less time left or a
// smaller u never turns a refresh down.
func requireMonotone(t *testing.T, aim Aim, left time.Duration, u float64) {
	t.Helper()
	due := aim.Due(left, u)
	if left <= 0 {
		require.True(t, due, "%+v, %d left, u %v", aim, left, u)
		return
	}
	require.False(t, due && left > aim.Window(), "%+v, %d left, u %v", aim, left, u)
	require.False(t, due && !aim.Due(left/2, u), "%+v, %d left, u %v: half the time", aim, left, u)
	require.False(t, due && u > 0 && !aim.Due(left, u/2), "%+v, %d left, u %v: half of u", aim, left, u)
}

func FuzzAim(f *testing.F) {
	f.Add(int64(time.Second), int64(time.Second), int64(time.Second), 0.5)
	f.Add(int64(math.MaxInt64), int64(math.MinInt64), int64(math.MaxInt64), 0.0)
	f.Fuzz(func(t *testing.T, scale, shift, left int64, u float64) {
		requireMonotone(t, Aim{time.Duration(scale), time.Duration(shift)}, time.Duration(left), u)
	})
}
