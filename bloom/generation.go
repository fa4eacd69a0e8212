package bloom

import (
	"slices"

	bitsbloom "github.com/bits-and-blooms/bloom/v3"
)

// A generation is the outcome of one build: a secret, a frozen filter and the
// overlay of ids added since it was frozen. Its fields never change once
// readers can see it; of what they point to only the overlay's slots do. To
// fold the overlay in, or to give it more room, is to publish another
// generation struct with the same secret.
type generation struct {
	design
	secret secret
	filter *bitsbloom.BloomFilter
	held   uint64  // distinct ids in filter, but for false positives among them
	fill   float64 // share of filter's bits that are set
	recent *overlay
}

// freeze makes a generation of a filter that holds this many ids.
func freeze(d design, s secret, filter *bitsbloom.BloomFilter, held uint64) *generation {
	return &generation{
		design: d,
		secret: s,
		filter: filter,
		held:   held,
		fill:   float64(filter.BitSet().Count()) / float64(d.m),
	}
}

// newFilter allocates d's bits here rather than in the library, whose New
// turns a failed allocation into a filter of no bits.
func newFilter(d design) *bitsbloom.BloomFilter {
	return bitsbloom.FromWithM(make([]uint64, d.m/64), d.m, d.k)
}

// has is the guard's read path. Filter first: most ids that exist are there.
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
	if uint64(g.recent.len()) >= g.n/64 {
		g = g.folded()
	}
	next := *g
	next.recent = g.recent.doubled()
	return &next
}

// folded moves the overlay into a new frozen filter. Readers of g go on
// reading g.
func (g *generation) folded() *generation {
	filter := bitsbloom.FromWithM(slices.Clone(g.filter.BitSet().Words()), g.m, g.k)
	g.recent.each(func(d digest) {
		b := d.bytes()
		filter.Add(b[:])
	})
	return freeze(g.design, g.secret, filter, g.count())
}

// count is the number of ids held. Writers only, like the estimates below.
func (g *generation) count() uint64 { return g.held + uint64(g.recent.len()) }

// past reports whether the ids held exceed this multiple of the design count.
func (g *generation) past(factor float64) bool { return float64(g.count()) > factor*float64(g.n) }

// fillNow counts the overlay's ids as if they were folded in.
func (g *generation) fillNow() float64 { return g.fillAfter(g.fill, float64(g.recent.len())) }
