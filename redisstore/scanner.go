package redisstore

import "fmt"

// scanner follows messages of RESP, versions 2 and 3, in pieces as they come. It
// is as strict as the stricter of all readers, so that none can see another
// message in the same bytes than it does.
type scanner struct {
	limit  int64            // on what one message makes its reader allocate
	starts func(byte) error // told of each message, by its type
	ends   func(byte) error

	state scanState
	kind  byte      // of what is being read
	spent int64     // of limit
	line  [22]byte  // of a number, up to the line's end
	n     int       // bytes of the line so far
	body  int64     // bytes of a string that are still to come, and the line's end
	last  byte      // of a line of text
	open  [16]int64 // elements still to come, of each aggregate that is open
	depth int
	top   byte // type of the message

	word [len(invalidate)]byte // of a push or an error, the first one
	said int                   // bytes of it; -1 once it was checked
}

type scanState byte

const (
	atType scanState = iota
	inNumber
	inText
	inBody
)

const (
	longestLine   = 64 << 10
	costOfElement = 64 // what a reader allocates for one
	invalidate    = "invalidate"
)

func broken(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errProtocol, fmt.Sprintf(format, args...))
}

// scan follows p, or says what is wrong with it.
func (s *scanner) scan(p []byte) error {
	for len(p) > 0 {
		if s.state == inBody {
			n := int(min(int64(len(p)), s.body))
			if err := s.inBody(p[:n]); err != nil {
				return err
			}
			p = p[n:]
			continue
		}
		if n, err := s.quick(p); n > 0 || err != nil {
			if err != nil {
				return err
			}
			p = p[n:]
			continue
		}
		if err := s.step(p[0]); err != nil {
			return err
		}
		p = p[1:]
	}
	return nil
}

// quick takes a whole element of the commonest types at once, if p begins with
// its header, and returns how much of p it was. What is unusual it leaves to
// step, 0 bytes then.
func (s *scanner) quick(p []byte) (int, error) {
	if s.state != atType || p[0] != '$' && p[0] != '*' && p[0] != ':' {
		return 0, nil
	}
	n, size := shortNumber(p[1:])
	if size == 0 {
		return 0, nil
	}
	if err := s.begin(p[0]); err != nil {
		return 0, err
	}
	size++
	if rest := p[size:]; s.kind == '$' && s.top != '>' && n < int64(len(rest))-1 {
		if rest[n] != '\r' || rest[n+1] != '\n' {
			return 0, broken("a string that ends badly")
		}
		if err := s.spend(n, 1); err != nil {
			return 0, err
		}
		return size + int(n) + 2, s.element()
	}
	return size, s.count(n)
}

// shortNumber reads a number of few digits, without a sign, and the line's end.
// It returns 0 for its size if there is another.
func shortNumber(p []byte) (n int64, size int) {
	const most = 9
	for i, c := range p[:min(len(p), most+1)] {
		switch {
		case '0' <= c && c <= '9':
			n = n*10 + int64(c-'0')
		case c == '\r' && i > 0 && i+1 < len(p) && p[i+1] == '\n':
			return n, i + 2
		default:
			return 0, 0
		}
	}
	return 0, 0
}

// step takes one byte that is not of a string's body.
func (s *scanner) step(c byte) error {
	switch s.state {
	case atType:
		return s.begin(c)
	case inNumber:
		return s.number(c)
	default:
		return s.text(c)
	}
}

// begin begins whatever has c as its type.
func (s *scanner) begin(c byte) error {
	s.kind, s.n = c, 0
	switch c {
	case '$', '!', '=', '*', '~', '%', ':', '>':
		s.state = inNumber
	case '+', '-', ',', '(', '#', '_':
		s.state = inText
	default:
		return broken("type %q", c)
	}
	if s.depth > 0 {
		if c == '>' {
			return broken("a push within a reply")
		}
		return nil
	}
	s.top, s.spent, s.said = c, 0, 0
	if s.starts != nil {
		return s.starts(c)
	}
	return nil
}

// number takes a byte of a line that must be a number.
func (s *scanner) number(c byte) error {
	if s.n == len(s.line) {
		return broken("a number of more than %d digits", s.n)
	}
	s.line[s.n] = c
	s.n++
	if c != '\n' {
		return nil
	}
	return s.header(s.line[:s.n])
}

// header takes the number behind a type, up to the line's end.
func (s *scanner) header(line []byte) error {
	n, ok := parseNumber(line)
	if !ok {
		return broken("%q for a number", line)
	}
	return s.count(n)
}

// count takes the number behind a type.
func (s *scanner) count(n int64) error {
	switch s.kind {
	case ':':
		return s.element()
	case '$', '!', '=':
		return s.beginBody(n)
	}
	return s.beginAggregate(n)
}

// parseNumber reads digits, with or without a minus, and the line's end.
func parseNumber(line []byte) (n int64, ok bool) {
	if len(line) < 3 || line[len(line)-2] != '\r' {
		return 0, false
	}
	digits, sign := line[:len(line)-2], int64(1)
	if digits[0] == '-' {
		digits, sign = digits[1:], -1
	}
	for _, c := range digits {
		if c < '0' || c > '9' || n > (1<<63-10)/10 {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return n * sign, len(digits) > 0
}

// text takes a byte of a line of text.
func (s *scanner) text(c byte) error {
	s.n++
	last := s.last
	s.last = c
	if s.top == '-' && s.n <= len(s.word) {
		s.word[s.n-1] = c
	}
	switch {
	case s.n > longestLine:
		return broken("a line of more than %d bytes", longestLine)
	case s.n > 1 && last == '\r' && c != '\n', c == '\n' && (s.n < 2 || last != '\r'):
		return broken("a line that ends badly")
	case s.kind == '_' && s.n > 2, s.kind == '#' && (s.n > 3 || s.n == 1 && c != 't' && c != 'f'):
		return broken("type %q that is too long", s.kind)
	case c == '\n':
		if err := s.spend(int64(s.n), 1); err != nil {
			return err
		}
		return s.element()
	}
	return nil
}

// wordIs reports whether the error that is ending begins with word.
func (s *scanner) wordIs(word string) bool {
	return s.n > len(word) && string(s.word[:len(word)]) == word && s.word[len(word)] == ' '
}
