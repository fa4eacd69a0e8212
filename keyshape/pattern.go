package keyshape

// pattern is a sequence of pieces that together cover a key.
type pattern struct {
	text   string
	pieces []piece
	span   widths
}

// piece is one literal or class of a pattern, and how its end is found in a
// key once its start is known.
type piece struct {
	source field
	class
	span   widths // of the piece itself
	tail   widths // of all that follows it
	end    ending
	set    *charset // the class's alphabet
	follow *charset // bytes of which one must follow; nil if any or none may
}

type widths struct{ min, max int }

func (w widths) fixed() bool          { return w.min == w.max }
func (w widths) has(n int) bool       { return w.min <= n && n <= w.max }
func (w widths) plus(v widths) widths { return widths{w.min + v.min, w.max + v.max} }

// ending is the rule by which the end of a piece is found. All but the last
// leave a single candidate, so that a key is matched in one pass.
type ending uint8

const (
	byWidth   ending = iota // the piece has a fixed length
	byTail                  // all that follows has a fixed length
	atRunEnd                // what follows begins with a byte that the class does not contain
	byLongest               // a choice whose longest fitting word is the right one
	undecided
)

func compile(text string) (*pattern, error) {
	pieces, err := parse(text)
	if err != nil {
		return nil, err
	}
	p := &pattern{text: text, pieces: pieces}
	for i := len(pieces) - 1; i >= 0; i-- {
		lo, hi := pieces[i].width()
		pieces[i].span, pieces[i].tail = widths{lo, hi}, p.span
		pieces[i].prepare(pieces[i+1:])
		p.span = p.span.plus(pieces[i].span)
	}
	return p, p.checkCost()
}

// prepare fills in what is derived from the piece and those that follow.
func (c *piece) prepare(next []piece) {
	c.set = c.alphabet()
	if len(next) > 0 && next[0].span.min > 0 {
		c.follow = next[0].first()
	}
	c.end = c.ending()
}

func (c *piece) ending() ending {
	switch {
	case c.span.fixed():
		return byWidth
	case c.tail.fixed():
		return byTail
	case c.follow == nil:
		return undecided
	case c.set.disjoint(c.follow):
		return atRunEnd
	}
	if words, ok := c.class.(choice); ok && words.longestWins(c.follow) {
		return byLongest
	}
	return undecided
}

// checkCost refuses a pattern that would try a costly class at many places.
func (p *pattern) checkCost() error {
	decided := true
	for i := range p.pieces {
		c := &p.pieces[i]
		decided = decided && c.end != undecided
		if _, ok := c.class.(costly); ok && !decided {
			return c.source.fail("this class must begin and end at places that its neighbours decide: put a byte that neither contains between them")
		}
	}
	return nil
}

func (p *pattern) match(key string, now int64) bool {
	if !p.span.has(len(key)) {
		return false
	}
	at := 0
	for i := range p.pieces {
		c := &p.pieces[i]
		if c.end == undecided {
			return p.matchEnds(key, now, at, i)
		}
		end := c.endIn(key, at)
		if end > len(key) || !c.span.has(end-at) || !c.accept(key[at:end], now) {
			return false
		}
		at = end
	}
	// The last piece whose length varies ended just where the rest of the key,
	// which is as long as the pieces after it, begins. So all is covered.
	return true
}

// endIn is the only place where the piece can end if it starts at at. It may
// lie before at or beyond the key; then the piece does not fit at all.
func (c *piece) endIn(key string, at int) int {
	switch c.end {
	case byWidth:
		return at + c.span.min
	case byTail:
		return len(key) - c.tail.min
	case atRunEnd:
		return c.set.runEnd(key, at, at+c.span.max+1)
	default:
		words := c.class.(choice)
		if i := words.longestPrefix(key[at:]); i >= 0 {
			return at + len(words.words[i])
		}
		return -1
	}
}
