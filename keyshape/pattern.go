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
	class
	span widths // of the piece itself
	tail widths // of all that follows it
	end  ending
	set  *charset // for ending atRunEnd and undecided: the class's alphabet
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
	classes, err := parse(text)
	if err != nil {
		return nil, err
	}
	p := &pattern{text: text, pieces: make([]piece, len(classes))}
	for i := len(classes) - 1; i >= 0; i-- {
		lo, hi := classes[i].width()
		p.pieces[i] = piece{class: classes[i], span: widths{lo, hi}, tail: p.span, set: classes[i].alphabet()}
		p.pieces[i].decide(p.pieces[i+1:])
		p.span = p.span.plus(p.pieces[i].span)
	}
	return p, nil
}

// decide chooses the rule for the end of a piece, given those that follow.
func (c *piece) decide(next []piece) {
	c.end = undecided
	switch {
	case c.span.fixed():
		c.end = byWidth
		return
	case c.tail.fixed():
		c.end = byTail
		return
	case next[0].span.min == 0:
		return // then what follows next may come first, and so on
	case c.set.disjoint(next[0].first()):
		c.end = atRunEnd
		return
	}
	if words, ok := c.class.(choice); ok && words.longestWins(next[0].first()) {
		c.end = byLongest
	}
}

func (p *pattern) match(key string) bool {
	if !p.span.has(len(key)) {
		return false
	}
	at := 0
	for i := range p.pieces {
		c := &p.pieces[i]
		if c.end == undecided {
			return p.matchEnds(key, at, i)
		}
		end := c.endIn(key, at)
		if end > len(key) || !c.span.has(end-at) || !c.accept(key[at:end]) {
			return false
		}
		at = end
	}
	return at == len(key)
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
