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
func (p *pattern) matchEnds(key string, now int64, at, piece int) bool {
	var room [2][maxKey/64 + 1]uint64
	words := len(key)/64 + 1
	starts, found := ends(room[0][:words]), ends(room[1][:words])
	starts.add(at)
	for i := piece; i < len(p.pieces); i++ {
		c := &p.pieces[i]
		clear(found)
		s := sweep{starts, found, max(0, len(key)-c.tail.max), len(key) - c.tail.min, c.follow}
		c.spread(key, &s, now)
		starts, found = found, starts
	}
	return starts.has(len(key))
}

// sweep is one step of matchEnds: the ends of one piece are found from all its
// starts. Only ends from lo to hi, and before a byte that may follow, are of
// use: from others the rest of the pattern cannot reach the end of the key. The
// key itself is not in here, lest its way into accept take the sets to the heap.
type sweep struct {
	starts, found ends
	lo, hi        int
	follow        *charset
}

func (s *sweep) add(key string, end int) {
	if s.follow == nil || s.follow[key[end]] {
		s.found.add(end)
	}
}

// spread finds the ends of the piece. The classes with a method of their own
// are told apart by type: a call through an interface would move the sets there
// too.
func (c *piece) spread(key string, s *sweep, now int64) {
	switch class := c.class.(type) {
	case run:
		class.spread(key, s)
	case choice:
		class.spread(key, s)
	default:
		c.tryEach(key, s, now)
	}
}

// tryEach serves the classes whose strings are short or of one length.
func (c *piece) tryEach(key string, s *sweep, now int64) {
	for at := s.starts.next(0); at >= 0; at = s.starts.next(at + 1) {
		longest := c.set.runEnd(key, at, min(at+c.span.max, s.hi))
		for end := max(at+c.span.min, s.lo); end <= longest; end++ {
			if c.accept(key[at:end], now) {
				s.add(key, end)
			}
		}
	}
}

// spread looks at each byte once. A start within the run of an earlier one, which
// add has seen to be of edge, breaks off where that does. So the intervals of
// ends have rising bounds, and what of one lies below the end of the one before
// is done.
func (r run) spread(key string, s *sweep) {
	broken, done := 0, s.lo
	for at := s.starts.next(0); at >= 0; at = s.starts.next(at + 1) {
		if at >= broken {
			broken = at + r.fit(key[at:])
		}
		end := max(at+r.min, done)
		for ; end <= min(at+r.max, broken, s.hi); end++ {
			if r.edge[key[end-1]] {
				s.add(key, end)
			}
		}
		done = max(done, end)
	}
}

func (c choice) spread(key string, s *sweep) {
	for at := s.starts.next(0); at >= 0; at = s.starts.next(at + 1) {
		for i := c.longestPrefix(key[at:]); i >= 0; i = c.up[i] {
			if end := at + len(c.words[i]); end <= s.hi {
				s.add(key, end)
			}
		}
	}
}
