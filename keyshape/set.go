package keyshape

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// Set is a set of key shapes: a key matches if it has one of them. A nil *Set
// matches every key, as a stage that is switched off; the zero Set matches
// none. A Set never changes and may be used by any number of goroutines.
type Set struct{ shapes []shape }

// shape is a pattern, or the shapes of a joined key's parts.
type shape interface {
	match(key string, now int64) bool
	String() string
}

// Compile makes the set of the given patterns, in the language that the
// package documentation describes. Patterns are tried in order, so the most
// frequent goes first. Calling it with no pattern is an error, as is a pattern
// longer than 4096 bytes, of more than 64 pieces, or for keys of more than
// 2048 bytes. Every error is a *[PatternError].
func Compile(patterns ...string) (*Set, error) {
	if len(patterns) == 0 {
		return nil, field{}.fail("no pattern was given; a nil Set matches every key")
	}
	set := &Set{}
	for _, text := range patterns {
		p, err := compile(text)
		if err != nil {
			return nil, err
		}
		set.shapes = append(set.shapes, p)
	}
	return set, nil
}

// MustCompile is [Compile] for patterns in the source of a program: it panics
// with the error.
func MustCompile(patterns ...string) *Set {
	set, err := Compile(patterns...)
	if err != nil {
		panic(err)
	}
	return set
}

// Union makes the set of the shapes of all given sets. If one of them is nil,
// and so matches every key, the union is nil too.
func Union(sets ...*Set) *Set {
	union := &Set{}
	for _, s := range sets {
		if s == nil {
			return nil
		}
		union.shapes = append(union.shapes, s.shapes...)
	}
	return union
}

// Match reports whether key has one of the set's shapes. It takes time linear
// in the length of the key, allocates nothing, and is fit for any bytes. It
// asks no clock: ids that carry a time may carry any.
func (s *Set) Match(key string) bool { return s.match(key, math.MaxInt64) }

// MatchAt is [Set.Match] at a given time: ids that carry a time must not come
// from the future, give or take a minute for the clocks of the machines that
// make them.
func (s *Set) MatchAt(key string, now time.Time) bool { return s.match(key, now.UnixMilli()) }

func (s *Set) match(key string, now int64) bool {
	if s == nil {
		return true
	}
	for _, shape := range s.shapes {
		if shape.match(key, now) {
			return true
		}
	}
	return false
}

// String lists the shapes for a reader: patterns in quotes, joined keys as
// Join(…), with bars between them. A nil Set is "*".
func (s *Set) String() string {
	if s == nil {
		return "*"
	}
	texts := make([]string, len(s.shapes))
	for i, shape := range s.shapes {
		texts[i] = shape.String()
	}
	return strings.Join(texts, " | ")
}

func (p *pattern) String() string { return strconv.Quote(p.text) }
