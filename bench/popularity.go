package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
)

// popularity is the exponent of Zipf's law: the product of rank i is read with
// probability proportional to i to the power of minus it. At 0 all are equal.
type popularity float64

func parsePopularity(s string) (popularity, error) {
	if s == "uniform" {
		return 0, nil
	}
	x, err := strconv.ParseFloat(s, 64)
	if err != nil || !(0 <= x && x <= 10) {
		return 0, fmt.Errorf("%q is neither uniform nor an exponent from 0 to 10", s)
	}
	return popularity(x), nil
}

func (p popularity) String() string {
	if p == 0 {
		return "uniform"
	}
	return "Zipf " + strconv.FormatFloat(float64(p), 'g', -1, 64)
}

// draws returns a source of products, from 0 to n-1. Popularity has nothing to do
// with their numbers. The Zipf of math/rand wants an exponent above 1.
func (p popularity) draws(n int, r *rand.Rand) func() int {
	sums, sum := make([]float64, n), 0.0
	for i := range sums {
		sum += math.Pow(float64(i+1), -float64(p))
		sums[i] = sum
	}
	rank := r.Perm(n)
	return func() int {
		i, _ := slices.BinarySearch(sums, r.Float64()*sum)
		return rank[min(i, n-1)]
	}
}
