package xfetch

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestCost_learnsMeanAndDeviation(t *testing.T) {
	cost := Cost{}.After(100)
	require.Equal(t, Cost{100, 50}, cost)
	require.Equal(t, time.Duration(200), cost.Lead())
	cost = cost.After(200)
	require.Equal(t, Cost{125, 63}, cost) // 50 + (100-50)/4, to the nearest
	cost = cost.After(125)
	require.Equal(t, Cost{125, 47}, cost)
}

// Of a spread that lasts, Deviation is the mean distance: 4 seconds for loads
// that take a second or nine in turn around a mean of five.
func TestCost_settlesOnTheSpread(t *testing.T) {
	rng := seeded(t)
	cost := Cost{}
	var deviation, lead mean
	for range 20_000 {
		sample := time.Second
		if rng.IntN(2) == 0 {
			sample = 9 * time.Second
		}
		cost = cost.After(sample)
		deviation.add(cost.Deviation.Seconds())
		lead.add(cost.Lead().Seconds())
	}
	// The mean wanders, which adds to the distance when it is small and takes none
	// from it when it is within the two values.
	require.InDelta(t, 4, deviation.value(), 0.1)
	require.InDelta(t, 13, lead.value(), 0.3)

	for range 100 {
		cost = cost.After(time.Second)
	}
	require.InDelta(t, 1e9, float64(cost.Lead()), 10, "constant loads need no more than they take")
}

func TestCost_edges(t *testing.T) {
	edges := []time.Duration{math.MinInt64, -1, 0, 1, 2, time.Second, forever}
	for _, mean := range edges {
		for _, deviation := range edges {
			cost := Cost{mean, deviation}
			require.GreaterOrEqual(t, cost.Lead(), max(mean, 0))
			for _, sample := range edges {
				next := cost.After(sample)
				require.GreaterOrEqual(t, next.Mean, time.Duration(0), "%+v after %d", cost, sample)
				require.GreaterOrEqual(t, next.Deviation, time.Duration(0), "%+v after %d", cost, sample)
			}
		}
	}
	require.Equal(t, forever, Cost{forever, forever}.Lead())
	require.Zero(t, Cost{}.Lead())
}
