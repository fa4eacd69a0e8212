package xfetch

import (
	"math"
	"time"
)

// Reads is what was seen of a key's readers: Count reads within Span, where
// earlier generations of its entry count less than the latest. Its zero value
// knows nothing.
type Reads struct {
	Count float64
	Span  time.Duration
}

// Caution divides the estimate of a rate before anything is built on it: taken
// for hotter than it is a key is refreshed late, taken for colder it is only
// refreshed a little earlier, by s*ln(4).
const Caution = 4

// Enough is how many reads of a generation need be counted: they tell a rate to
// within 12 %, 1/√64. An entry that has counted so many can be quiet again, so
// that hot keys pay for no more.
const Enough = 64

// After is r after a generation in which count reads came within span. What was
// known before weighs half: both figures fade, so that a generation that saw
// little leaves an old estimate in place, and one that saw much replaces it.
// (For a Poisson stream this is the Bayesian filter with a Gamma prior and a
// forgetting factor of 1/2.) Negative arguments count as 0.
func (r Reads) After(count int, span time.Duration) Reads {
	return Reads{
		Count: min(positive(r.Count), math.MaxFloat64)/2 + float64(max(count, 0)),
		Span:  plus(max(r.Span, 0)/2, max(span, 0)),
	}
}

// Rate is the estimate of the key's reads per second, 0 if nothing is known.
func (r Reads) Rate() float64 {
	if r.Span <= 0 {
		return 0
	}
	return min(positive(r.Count)/r.Span.Seconds(), maxRate)
}

// Reliable is the rate to build on: a quarter of the estimate without its last
// read, for it is with a read that a generation usually ends, and a count that
// stops there is one too high. It is 0 if too little is known.
func (r Reads) Reliable() float64 {
	return Reads{Count: r.Count - 1, Span: r.Span}.Rate() / Caution
}
