// Package estimate sets what a simulation observed beside what theory says of
// it, in standard errors.
package estimate

import "math"

// Estimate is a figure observed in a run and what theory says of it.
type Estimate struct {
	Observed float64
	StdErr   float64
	Theory   float64 // NaN: there is no closed form
	Z        float64 // standard errors between the two; NaN: not comparable
}

// Below TooRare a run will see nothing, which then says nothing. Below rare,
// and with fewer than many expected, counts are too small for the normal
// approximation, and z comes from the exact Poisson tail.
const (
	TooRare = 1e-6
	rare    = 1e-3
	many    = 100
	zLimit  = 99 // stands for "impossible"; infinity would not fit into JSON
)

// Proportion compares hits in n trials with the probability p.
func Proportion(hits, n int, p float64) Estimate {
	e := Estimate{
		Observed: float64(hits) / float64(n),
		StdErr:   math.Sqrt(p * (1 - p) / float64(n)),
		Theory:   p,
	}
	switch expected := p * float64(n); {
	case p < TooRare && hits == 0:
		e.Z = math.NaN()
	case p < rare && expected < many, expected < 10:
		e.Z = poissonZ(hits, expected)
	default:
		e.Z = Distance(e.Observed-p, e.StdErr)
	}
	return e
}

// Alone is a mean that no closed form speaks of.
func (s Sample) Alone() Estimate { return s.Against(math.NaN()) }

// Against compares the mean with theory, which may be NaN.
func (s Sample) Against(theory float64) Estimate {
	e := Estimate{Observed: s.Mean(), StdErr: s.StdErr(), Theory: theory, Z: math.NaN()}
	if !math.IsNaN(theory) {
		e.Z = Distance(e.Observed-theory, e.StdErr)
	}
	return e
}

// CountAgainst is Against for a whole number that is least or more. When nearly
// all values are least the sample may miss the rest and show no variance. But a
// count's variance is at least m(1-m), m being its mean above least.
func (s Sample) CountAgainst(theory, least float64) Estimate {
	e := s.Against(theory)
	above := theory - least
	if math.IsNaN(theory) || above >= rare && above*float64(s.N) > many {
		return e
	}
	if above > 0 && above < TooRare && e.Observed == least {
		e.Z = math.NaN()
		return e
	}
	floor := math.Sqrt(max(0, above*(1-above)) / float64(s.N))
	e.Z = Distance(e.Observed-theory, max(e.StdErr, floor))
	return e
}

// ProportionAgainst is Against for a sample of zeros and ones.
func (s Sample) ProportionAgainst(p float64) Estimate {
	if math.IsNaN(p) {
		return s.Alone()
	}
	return Proportion(int(s.Sum), s.N, p)
}

// Distance is off in standard errors, within ±99. Differences that only
// rounding makes are none.
func Distance(off, stdErr float64) float64 {
	if math.Abs(off) < 1e-12 {
		return 0
	}
	return max(-zLimit, min(zLimit, off/stdErr))
}

// poissonZ turns the probability of a count at least as far from the mean as
// hits, on its side, into the normal deviate of the same probability.
func poissonZ(hits int, mean float64) float64 {
	below, at := 0.0, math.Exp(-mean) // P(N < k), P(N = k)
	for k := range hits {
		below += at
		at *= mean / float64(k+1)
	}
	if float64(hits) < mean {
		return -deviate(below + at)
	}
	return deviate(1 - below)
}

// deviate is the z that a standard normal exceeds with probability p; 0 for a p
// of a half or more.
func deviate(p float64) float64 {
	if p >= 0.5 {
		return 0
	}
	return min(zLimit, math.Sqrt2*math.Erfcinv(2*max(p, 0)))
}
