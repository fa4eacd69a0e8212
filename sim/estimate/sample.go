package estimate

import "math"

// Sample sums up values for a mean. Its zero value is empty. It is not safe for
// concurrent use: each worker fills samples of its own, and Pool joins them.
type Sample struct {
	N            int
	Sum, Squares float64

	pooled float64 // standard error by blocks; 0: from Squares
}

// Add counts a value.
func (s *Sample) Add(x float64) {
	s.N++
	s.Sum += x
	s.Squares += x * x
}

// AddBool counts a yes as 1 and a no as 0.
func (s *Sample) AddBool(yes bool) {
	if yes {
		s.Add(1)
	} else {
		s.Add(0)
	}
}

// Mean is NaN for an empty sample.
func (s Sample) Mean() float64 { return s.Sum / float64(s.N) }

// StdErr is the standard error of the mean; NaN for fewer than two values.
func (s Sample) StdErr() float64 {
	if s.pooled > 0 {
		return s.pooled
	}
	n := float64(s.N)
	variance := max(0, s.Squares-s.Sum*s.Sum/n) / (n - 1)
	return math.Sqrt(variance / n)
}

// Pool joins the samples of blocks that are independent of one another, though
// values within a block may depend on each other. The standard error is that of
// a ratio of sums, taken from what differs between blocks; the order of the
// blocks decides the rounding, so keep it fixed.
func Pool(blocks []Sample) Sample {
	var all Sample
	for _, b := range blocks {
		all.N += b.N
		all.Sum += b.Sum
		all.Squares += b.Squares
	}
	mean, off := all.Mean(), 0.0
	for _, b := range blocks {
		d := b.Sum - mean*float64(b.N)
		off += d * d
	}
	n := float64(len(blocks))
	all.pooled = math.Sqrt(off*n/(n-1)) / float64(all.N)
	if !(all.pooled > 0) {
		all.pooled = 0 // one block, or all alike
	}
	return all
}
