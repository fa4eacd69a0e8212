package workload

import (
	"math"
	"math/rand/v2"
	"sort"
)

// zipf draws ranks from 0 with probability proportional to 1/(rank+1)^exponent. The
// one in math/rand wants an exponent above 1; catalogues are read with about 1 or
// less.
type zipf struct{ cumulative []float64 }

func newZipf(n int, exponent float64) zipf {
	z := zipf{make([]float64, n)}
	sum := 0.0
	for i := range z.cumulative {
		sum += math.Pow(float64(i+1), -exponent)
		z.cumulative[i] = sum
	}
	return z
}

func (z zipf) draw(rng *rand.Rand) int {
	last := len(z.cumulative) - 1
	u := rng.Float64() * z.cumulative[last]
	return min(last, sort.SearchFloat64s(z.cumulative, u))
}
