package bloom

import (
	"slices"
	"time"

	bitsbloom "github.com/bits-and-blooms/bloom/v3"
)

// A generation is the outcome of one build or load: a secret, a frozen filter
// and the overlay of ids added since it was frozen. Its fields never change
// once readers can see it; of what they point to only the overlay's slots do.
// To fold the overlay in, to give it more room or to end the grace is to
// publish another generation struct with the same secret.
type generation struct {
	design
	secret secret
	filter *bitsbloom.BloomFilter
	held   uint64  // distinct ids in filter, but for false positives among them
	fill   float64 // share of filter's bits that are set
	recent *overlay

	born   time.Time   // when its source began to be read
	old    *generation // predecessor, while in grace; itself without one
	expiry             // when readers must look at the clock
}

// newFilter allocates d's bits here rather than in the library, whose New
// turns a failed allocation into a filter of no bits.
func newFilter(d design) *bitsbloom.BloomFilter {
	return bitsbloom.FromWithM(make([]uint64, d.m/64), d.m, d.k)
}

// knows is the guard's read path.
func (g *generation) knows(id string) bool { return g.has(g.secret.digest(id)) }

// has asks the filter first: most ids that exist are there.
func (g *generation) has(d digest) bool {
	b := d.bytes()
	return g.filter.Test(b[:]) || g.recent.has(d)
}

// with adds d and returns the generation to publish, which is g itself unless
// the overlay was full. Writers only.
func (g *generation) with(d digest) *generation {
	if g.has(d) {
		return g
	}
	if g.recent.full() {
		g = g.roomier()
	}
	g.recent.insert(d)
	return g
}

// roomier returns a generation with room in its overlay. The overlay doubles
// until it could hold a 64th of the design count and is then folded in: that
// is some 115 bytes of filter copied for each id added, whatever the size.
func (g *generation) roomier() *generation {
	next := *g
	if uint64(g.recent.len()) >= g.n/64 {
		next = *g.folded()
	}
	next.recent = next.recent.doubled()
	return &next
}

// folded moves the overlay into a new frozen filter. Readers of g go on
// reading g.
func (g *generation) folded() *generation { return g.foldedTo(g.count()) }

// foldedTo is folded for anybody: count is what count returned. What is added
// meanwhile may be in it.
func (g *generation) foldedTo(count uint64) *generation {
	next := *g
	next.filter = bitsbloom.FromWithM(slices.Clone(g.filter.BitSet().Words()), g.m, g.k)
	g.recent.each(func(d digest) {
		b := d.bytes()
		next.filter.Add(b[:])
	})
	next.held, next.recent = count, nil
	next.fill = fillOf(next.filter)
	return &next
}

func fillOf(filter *bitsbloom.BloomFilter) float64 {
	return float64(filter.BitSet().Count()) / float64(filter.Cap())
}

// count is the number of ids held. Writers only, like the estimates below.
func (g *generation) count() uint64 { return g.held + uint64(g.recent.len()) }

// past reports whether the ids held exceed this multiple of the design count.
func (g *generation) past(factor float64) bool { return float64(g.count()) > factor*float64(g.n) }

// fillNow counts the overlay's ids as if they were folded in.
func (g *generation) fillNow() float64 { return g.fillAfter(g.fill, float64(g.recent.len())) }

// rate is the estimated share of absent ids that pass; in grace a stranger has
// two filters to slip through.
func (g *generation) rate() float64 {
	own := g.rateAt(g.fillNow())
	if g.old == nil {
		return own
	}
	return 1 - (1-own)*(1-g.old.rate())
}
