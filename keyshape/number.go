package keyshape

import (
	"math"
	"strconv"
)

var (
	digits       = chars("0-9")
	signedDigits = chars("0-9-")
)

// number is the class of decimal integers of an interval, in their one
// spelling: no leading zeros, no plus, no minus before zero. The interval is
// kept as the magnitudes on either side of zero, so that one type reaches from
// the least int64 to the greatest uint64.
type number struct {
	pos, neg span
}

// span is an interval of magnitudes, empty if lo exceeds hi.
// Magnitudes of negative numbers begin at 1, so that -0 is in no number.
type span struct{ lo, hi uint64 }

var none = span{1, 0}

func (s span) empty() bool            { return s.lo > s.hi }
func (s span) has(v uint64) bool      { return s.lo <= v && v <= s.hi }
func (s span) digits() (int, int)     { return digitsIn(s.lo), digitsIn(s.hi) }
func digitsIn(v uint64) (n int)       { return len(strconv.FormatUint(v, 10)) }
func magnitude(negative int64) uint64 { return -uint64(negative) }

func newUint(arg field) (class, error) {
	if arg.text() == "" {
		return number{pos: span{0, math.MaxUint64}, neg: none}, nil
	}
	lo, hi, err := bounds(arg, strconv.ParseUint, strconv.FormatUint)
	if err != nil {
		return nil, err
	}
	return number{pos: span{lo, hi}, neg: none}, nil
}

func newInt(arg field) (class, error) {
	lo, hi := int64(math.MinInt64), int64(math.MaxInt64)
	if arg.text() != "" {
		var err error
		if lo, hi, err = bounds(arg, strconv.ParseInt, strconv.FormatInt); err != nil {
			return nil, err
		}
	}
	n := number{pos: none, neg: none}
	if hi >= 0 {
		n.pos = span{uint64(max(lo, 0)), uint64(hi)}
	}
	if lo < 0 {
		n.neg = span{magnitude(min(hi, -1)), magnitude(lo)}
	}
	return n, nil
}

func (n number) width() (shortest, longest int) {
	if n.pos.empty() {
		lo, hi := n.neg.digits()
		return lo + 1, hi + 1
	}
	shortest, longest = n.pos.digits()
	if n.neg.empty() {
		return shortest, longest
	}
	lo, hi := n.neg.digits()
	return min(shortest, lo+1), max(longest, hi+1)
}

func (n number) first() *charset { return n.alphabet() }

func (n number) alphabet() *charset {
	if n.neg.empty() {
		return digits
	}
	return signedDigits
}

func (n number) accept(s string, _ int64) bool {
	negative := s[0] == '-'
	if negative {
		s = s[1:]
	}
	v, ok := parseDecimal(s)
	if !ok {
		return false
	}
	if negative {
		return n.neg.has(v)
	}
	return n.pos.has(v)
}

// parseDecimal reads a decimal number of 64 bits in its one spelling. It is
// strconv.ParseUint without the error, which would be an allocation for every
// refused key, and without the second spellings.
func parseDecimal(s string) (v uint64, ok bool) {
	if s == "" || s[0] == '0' && len(s) > 1 {
		return 0, false
	}
	for i := range len(s) {
		d := uint64(s[i] - '0')
		if d > 9 || v > (math.MaxUint64-d)/10 {
			return 0, false
		}
		v = v*10 + d
	}
	return v, true
}
