package estimate

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPoissonZ_turnsTailsIntoDeviates(t *testing.T) {
	require.InDelta(t, 0, poissonZ(0, 0.5), 1e-12)           // P(0) = .61: nothing unusual
	require.InDelta(t, -1.64485, poissonZ(0, 2.9957), 1e-3)  // P(0) = 5 %
	require.InDelta(t, 2.0537, poissonZ(1, 0.0202027), 1e-3) // P(1 or more) = 2 %
	require.InDelta(t, 1.379, poissonZ(6, 3), 1e-3)          // P(6 or more) = 8.4 %
	require.Greater(t, poissonZ(40, 3), 4.0)
	require.Equal(t, float64(zLimit), poissonZ(1000, 1e-9))
}

func TestProportion_choosesItsTest(t *testing.T) {
	require.True(t, math.IsNaN(Proportion(0, 1_000_000, 1e-11).Z), "too rare to say")
	require.Greater(t, Proportion(1, 1000, 1e-11).Z, 4.0, "but seeing it says a lot")
	require.InDelta(t, -1.64485, Proportion(0, 29957, 1e-4).Z, 1e-3)
	require.InDelta(t, 2, Proportion(600, 1000, 0.5683).Z, 0.03)
	require.Zero(t, Proportion(1000, 1000, 1).Z)
	require.Equal(t, -float64(zLimit), Proportion(999, 1000, 1).Z)
}

func TestSample_meanAndStandardError(t *testing.T) {
	var s Sample
	for _, x := range []float64{2, 4, 4, 4, 5, 5, 7, 9} {
		s.Add(x)
	}
	e := s.Against(4)
	require.InDelta(t, 5, e.Observed, 1e-12)
	require.InDelta(t, math.Sqrt(32.0/7/8), e.StdErr, 1e-12)
	require.InDelta(t, 1/e.StdErr, e.Z, 1e-12)
	require.True(t, math.IsNaN(s.Alone().Z))
}

// Few of many expiries load twice: a sample that has none shows no variance, and
// is no proof against theory.
func TestSample_countsThatHardlyVary(t *testing.T) {
	var s Sample
	for range 1000 {
		s.Add(1)
	}
	require.InDelta(t, -1, s.CountAgainst(1.001, 1).Z, 0.01)
	require.Less(t, s.CountAgainst(1.1, 1).Z, -4.0)
	require.True(t, math.IsNaN(s.CountAgainst(1+1e-9, 1).Z))
	s.Add(2)
	require.False(t, math.IsNaN(s.CountAgainst(1+1e-9, 1).Z))
}

// Values that follow one another closely are worth less than as many free ones.
// The blocks' error must be the true one: z is then a standard normal.
func TestPool_errorOfDependentValues(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	const runs = 300
	pooled, plain := 0.0, 0.0
	for range runs {
		blocks := make([]Sample, 64)
		for i := range blocks {
			x := rng.NormFloat64() / math.Sqrt(1-0.9*0.9)
			for range 200 {
				x = 0.9*x + rng.NormFloat64()
				blocks[i].Add(x)
			}
		}
		all := Pool(blocks)
		z := all.Against(0).Z
		pooled += z * z
		all.pooled = 0
		z = all.Against(0).Z
		plain += z * z
	}
	require.InDelta(t, 1, math.Sqrt(pooled/runs), 0.2)
	require.Greater(t, math.Sqrt(plain/runs), 3.0)
}

// deviate must be the inverse of the normal tail.
func TestDeviate_invertsTheTail(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 1000 {
		z := 7 * rng.Float64()
		require.InDelta(t, z, deviate(math.Erfc(z/math.Sqrt2)/2), 1e-5)
	}
	require.Zero(t, deviate(0.5))
}
