package keyshape

import (
	"slices"
	"strings"
)

// joined is the shape of a joined key: one set for each part.
type joined []*Set

// Joined makes the set of the keys that [Join] makes of exactly one part for
// each given set, where each part matches its set. A part with a nil set may
// be anything. A set may itself be made by Joined, for a part that is a joined
// key; keys with different numbers of parts go together by [Union].
func Joined(parts ...*Set) *Set {
	return &Set{[]shape{joined(slices.Clone(parts))}}
}

func (j joined) match(key string, now int64) bool {
	for _, set := range j {
		part, rest, ok := cutPart(key)
		if !ok || !set.match(part, now) {
			return false
		}
		key = rest
	}
	return key == ""
}

func (j joined) String() string {
	texts := make([]string, len(j))
	for i, set := range j {
		texts[i] = set.String()
	}
	return "Join(" + strings.Join(texts, ", ") + ")"
}
