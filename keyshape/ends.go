package keyshape

import "math/bits"

// ends is a set of places in a key, one bit each.
type ends []uint64

func (e ends) add(i int)      { e[i/64] |= 1 << (i % 64) }
func (e ends) has(i int) bool { return e[i/64]>>(i%64)&1 != 0 }

// next is the first member from i on, or -1.
func (e ends) next(i int) int {
	for w := i / 64; w < len(e); w++ {
		if rest := e[w] >> (i % 64); rest != 0 {
			return i + bits.TrailingZeros64(rest)
		}
		i = (w + 1) * 64
	}
	return -1
}

// matchEnds matches the pieces from the given one on, which start at at, by
// carrying along every place where a piece may end. There are no more places
// than bytes, so that trying all divisions of a key between classes that
// overlap takes no longer than trying each place once per piece.
func (p *pattern) matchEnds(key string, at, piece int) bool {
	var room [2][maxKey/64 + 1]uint64
	words := len(key)/64 + 1
	starts, found := ends(room[0][:words]), ends(room[1][:words])
	starts.add(at)
	for i := piece; i < len(p.pieces); i++ {
		clear(found)
		p.pieces[i].spread(key, starts, found)
		starts, found = found, starts
	}
	return starts.has(len(key))
}

// spread adds to found the ends that the piece can have from one of starts,
// leaving out those from which the rest of the pattern cannot reach the end of
// the key. The classes with a method of their own are told apart by type: a
// call through an interface would move both sets to the heap.
func (c *piece) spread(key string, starts, found ends) {
	lo, hi := max(0, len(key)-c.tail.max), len(key)-c.tail.min
	switch class := c.class.(type) {
	case run:
		class.spread(key, starts, found, lo, hi)
	case choice:
		class.spread(key, starts, found, lo, hi)
	default:
		c.tryEach(key, starts, found, lo, hi)
	}
}

// tryEach serves the classes whose strings are short.
func (c *piece) tryEach(key string, starts, found ends, lo, hi int) {
	for at := starts.next(0); at >= 0; at = starts.next(at + 1) {
		longest := c.set.runEnd(key, at, min(at+c.span.max, hi))
		for end := max(at+c.span.min, lo); end <= longest; end++ {
			if !found.has(end) && c.accept(key[at:end]) {
				found.add(end)
			}
		}
	}
}

// spread looks at each byte once. A later start never breaks off earlier, so the
// intervals of ends have rising bounds, and the part of one that lies below
// the end of the one before is done.
func (r run) spread(key string, starts, found ends, lo, hi int) {
	broken, done := 0, lo
	for at := starts.next(0); at >= 0 && at < len(key); at = starts.next(at + 1) {
		if !r.edge[key[at]] {
			continue
		}
		if at >= broken {
			broken = at + r.fit(key[at:])
		}
		end := max(at+r.min, done)
		for ; end <= min(at+r.max, broken, hi); end++ {
			if r.edge[key[end-1]] {
				found.add(end)
			}
		}
		done = max(done, end)
	}
}

func (c choice) spread(key string, starts, found ends, lo, hi int) {
	for at := starts.next(0); at >= 0; at = starts.next(at + 1) {
		for i := c.longestPrefix(key[at:]); i >= 0; i = c.up[i] {
			if end := at + len(c.words[i]); lo <= end && end <= hi {
				found.add(end)
			}
		}
	}
}
