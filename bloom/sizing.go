package bloom

import "math"

const (
	minBits   = 64
	minDesign = 1024 // ids; a smaller filter would save nothing worth having
	maxHashes = 32

	headroom   = 1.5  // design count over the ids known at build
	rebuildAt  = 1.25 // ids held over design count: ask for a build
	saturateAt = 1.5  // ids held over design count: fail open
)

// A design is the size of a filter: m bits and k probes, at which n ids give
// the configured false-positive rate.
type design struct {
	n    uint64
	m, k uint
}

// designFor is the textbook optimum m = -n ln ε/(ln 2)², k = (m/n) ln 2, with
// both kept in bounds whatever comes in: 1 <= k <= 32 and m >= 64. The caller
// has seen to it that m is affordable; see Options.mostIDs.
func designFor(n uint64, rate float64) design {
	perID := bitsPerID(rate)
	m := math.Ceil(float64(n) * perID)
	k := math.Round(perID * math.Ln2)
	return design{
		n: n,
		m: (max(uint(m), minBits) + 63) &^ 63,
		k: uint(min(max(k, 1), maxHashes)),
	}
}

func bitsPerID(rate float64) float64 { return -math.Log(rate) / (math.Ln2 * math.Ln2) }

// mostIDs is the largest design count that MaxBytes has room for.
func (o *Options) mostIDs() uint64 {
	words := o.MaxBytes &^ 7 // a filter is made of whole words
	return uint64(float64(words) * 8 / bitsPerID(o.FalsePositiveRate))
}

// designFor sizes a filter for a build that found n ids, leaving room for more
// as far as MaxBytes goes.
func (o *Options) designFor(n uint64) design {
	roomy := max(uint64(headroom*float64(n)), uint64(o.Expected), minDesign)
	return designFor(min(roomy, o.mostIDs()), o.FalsePositiveRate)
}

// rateAt is the false-positive rate of a filter with this share of its bits
// set: a stranger passes if all its k probes meet a set bit.
func (d design) rateAt(fill float64) float64 { return math.Pow(fill, float64(d.k)) }

// fillAfter is the expected share of set bits once n more ids join a filter
// that has this share set.
func (d design) fillAfter(fill, n float64) float64 {
	return 1 - (1-fill)*math.Exp(-float64(d.k)*n/float64(d.m))
}
