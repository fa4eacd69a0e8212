package refresh

import "math"

// Estimate is a figure observed in a run and what theory says of it.
type Estimate struct {
	Observed float64
	StdErr   float64
	Theory   float64 // NaN: there is no closed form
	Z        float64 // standard errors between the two; NaN: not comparable
}

// Below tooRare a run will see nothing, which then says nothing. Below rare,
// and with fewer than many expected, counts are too small for the normal
// approximation, and z comes from the exact Poisson tail.
const (
	tooRare = 1e-6
	rare    = 1e-3
	many    = 100
	zLimit  = 99 // stands for "impossible"; infinity would not fit into JSON
)

// proportion compares hits in n trials with the probability p.
func proportion(hits, n int, p float64) Estimate {
	e := Estimate{
		Observed: float64(hits) / float64(n),
		StdErr:   math.Sqrt(p * (1 - p) / float64(n)),
		Theory:   p,
	}
	switch {
	case p < tooRare && hits == 0:
		e.Z = math.NaN()
	case p < rare && p*float64(n) < many:
		e.Z = poissonZ(hits, p*float64(n))
	default:
		e.Z = distance(e.Observed-p, e.StdErr)
	}
	return e
}

// sample collects values for a mean.
type sample struct {
	n            int
	sum, squares float64
}

func (s *sample) add(x float64) {
	s.n++
	s.sum += x
	s.squares += x * x
}

func (s *sample) addBool(yes bool) {
	if yes {
		s.add(1)
	} else {
		s.add(0)
	}
}

func (s *sample) mean() float64 { return s.sum / float64(s.n) }

func (s *sample) stdErr() float64 {
	n := float64(s.n)
	variance := max(0, s.squares-s.sum*s.sum/n) / (n - 1)
	return math.Sqrt(variance / n)
}

// against compares the mean with theory.
func (s *sample) against(theory float64) Estimate {
	e := Estimate{Observed: s.mean(), StdErr: s.stdErr(), Theory: theory}
	e.Z = distance(e.Observed-theory, e.StdErr)
	return e
}

// countAgainst is against for a whole number that is least or more. When nearly
// all values are least the sample may miss the rest and show no variance. But a
// count's variance is at least m(1-m), m being its mean above least.
func (s *sample) countAgainst(theory, least float64) Estimate {
	e := s.against(theory)
	above := theory - least
	if above < tooRare && e.Observed == least {
		e.Z = math.NaN()
		return e
	}
	floor := math.Sqrt(max(0, above*(1-above)) / float64(s.n))
	e.Z = distance(e.Observed-theory, max(e.StdErr, floor))
	return e
}

// proportionAgainst is against for a sample of yes and no.
func (s *sample) proportionAgainst(p float64) Estimate {
	return proportion(int(s.sum), s.n, p)
}

// alone is a mean that no closed form speaks of.
func (s *sample) alone() Estimate {
	return Estimate{s.mean(), s.stdErr(), math.NaN(), math.NaN()}
}

// distance is off in standard errors, within ±zLimit. Differences that only
// rounding makes are none.
func distance(off, stdErr float64) float64 {
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
