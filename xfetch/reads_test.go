package xfetch

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestReads_olderGenerationsFade(t *testing.T) {
	reads := Reads{}.After(100, 10*time.Second)
	require.Equal(t, 10.0, reads.Rate())
	reads = reads.After(400, 10*time.Second)
	require.Equal(t, Reads{450, 15 * time.Second}, reads)
	require.Equal(t, 30.0, reads.Rate())
	require.InDelta(t, 449.0/15/4, reads.Reliable(), 1e-12)
}

func TestReads_anOldEstimateOutlastsAnEmptyGeneration(t *testing.T) {
	reads := Reads{}.After(100, 10*time.Second).After(0, 0)
	require.Equal(t, 10.0, reads.Rate())
	for range 6 {
		reads = reads.After(0, 0)
	}
	require.Zero(t, reads.Reliable(), "but not for ever")
	require.Zero(t, Reads{}.Rate())
	require.Zero(t, Reads{}.After(1, time.Second).Reliable(), "one read is no rate")
}

// Generations that end with a read, and saw that one only, look hotter than they
// are: the mean of 1/span is infinite.
func TestReads_stoppingAtAReadIsNotMistakenForHeat(t *testing.T) {
	const n, rate = 100_000, 5.0
	rng := seeded(t)
	reads := Reads{}
	var naive, over mean
	for range n {
		span := time.Duration(rng.ExpFloat64() / rate * 1e9)
		naive.addBool(Reads{}.After(1, span).Rate() > 4*rate)
		reads = reads.After(1, span)
		over.addBool(reads.Reliable() > rate)
	}
	require.Greater(t, naive.value(), 0.2)
	require.Less(t, over.value(), 0.003)
}

func TestReads_edges(t *testing.T) {
	counts := []float64{math.Inf(-1), -1, 0, 1, 1e300, math.MaxFloat64, math.Inf(1), math.NaN()}
	spans := []time.Duration{math.MinInt64, -1, 0, 1, time.Second, forever}
	for _, count := range counts {
		for _, span := range spans {
			for _, more := range []int{math.MinInt, -1, 0, 1, math.MaxInt} {
				for _, within := range spans {
					reads := Reads{count, span}.After(more, within)
					require.True(t, reads.Count >= 0 && reads.Count <= math.MaxFloat64, "%+v", reads)
					require.GreaterOrEqual(t, reads.Span, time.Duration(0))
					for _, rate := range []float64{reads.Rate(), reads.Reliable()} {
						require.True(t, rate >= 0 && rate <= maxRate, "%+v: %v", reads, rate)
					}
				}
			}
		}
	}
}
