package keyshape

import (
	"fmt"
	"strconv"
	"strings"
)

// field is a stretch of a pattern that knows where it came from, so that a
// complaint about it can name the column.
type field struct {
	pattern  string
	from, to int
}

func (f field) text() string { return f.pattern[f.from:f.to] }

// sub is the part of f from byte i to byte j of f.
func (f field) sub(i, j int) field { return field{f.pattern, f.from + i, f.from + j} }

// fail makes the error that points at the start of f.
func (f field) fail(reason string, args ...any) error {
	return &PatternError{f.pattern, f.from + 1, fmt.Sprintf(reason, args...)}
}

func (f field) mustBeEmpty() error {
	if f.text() != "" {
		return f.fail("this class takes no argument")
	}
	return nil
}

// cut splits f at the first sep; without one, the second field is empty and
// found is false.
func (f field) cut(sep string) (before, after field, found bool) {
	n := len(f.text())
	if i := strings.Index(f.text(), sep); i >= 0 {
		return f.sub(0, i), f.sub(i+len(sep), n), true
	}
	return f, f.sub(n, n), false
}

// cutBar splits f at the first bar that is not escaped.
func (f field) cutBar() (before, after field, found bool) {
	text := f.text()
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '|':
			return f.sub(0, i), f.sub(i+1, len(text)), true
		}
	}
	return f, f.sub(len(text), len(text)), false
}

// unescaped is the text of f with its escapes undone. A brace or bar without
// an escape is an error: it was meant as syntax, and here it is none.
func (f field) unescaped() (string, error) {
	text := f.text()
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '{', '}', '|':
			return "", f.sub(i, i+1).fail(`%[1]q stands for itself only as \%[1]c`, text[i])
		case '\\':
			if i+1 == len(text) || !strings.Contains(`{}|\`, text[i+1:i+2]) {
				return "", f.sub(i, i+1).fail(`only \{ \} \| and \\ are escapes`)
			}
			i++
		}
		b.WriteByte(text[i])
	}
	return b.String(), nil
}

// lengths reads "n" or "n..m".
func (f field) lengths(limit int) (shortest, longest int, err error) {
	if f.text() == "" {
		return 0, 0, f.fail("this class needs a length, such as 16 or 4..16")
	}
	lo, hi, isRange := f.cut("..")
	if !isRange {
		hi = lo
	}
	if shortest, err = lo.length(limit); err != nil {
		return 0, 0, err
	}
	if longest, err = hi.length(limit); err != nil {
		return 0, 0, err
	}
	if shortest > longest {
		return 0, 0, f.fail("the range is empty")
	}
	return shortest, longest, nil
}

func (f field) length(limit int) (int, error) {
	n, err := strconv.Atoi(f.text())
	if err != nil || strconv.Itoa(n) != f.text() || n < 1 || n > limit {
		return 0, f.fail("%q is not a length from 1 to %d", f.text(), limit)
	}
	return n, nil
}

// bounds reads "a..b" by a pair of functions from strconv. The numbers must be
// spelled as keys would spell them.
func bounds[N int64 | uint64](f field, parse func(string, int, int) (N, error), format func(N, int) string) (lo, hi N, err error) {
	first, second, isRange := f.cut("..")
	if !isRange {
		return 0, 0, f.fail("%q is not a range, such as 1..100", f.text())
	}
	bound := func(f field) (v N) {
		if err != nil {
			return 0
		}
		v, bad := parse(f.text(), 10, 64)
		if bad != nil || format(v, 10) != f.text() {
			err = f.fail("%q is not a bound: digits, no leading zeros, within 64 bits", f.text())
		}
		return v
	}
	lo, hi = bound(first), bound(second)
	if err == nil && lo > hi {
		err = f.fail("the range is empty")
	}
	return lo, hi, err
}
