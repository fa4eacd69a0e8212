package earlybird

import (
	"encoding/binary"

	"github.com/earlybird-cache/earlybird/store"
)

// guardMark is what goes before a guard's snapshot in the tier: the place in the
// bus from which whoever begins with it must listen, and some keys of values, by
// which he finds out whether he has the same ids for the same keys.
//
// It is written as a version and its texts, each after its length.
type guardMark struct {
	place string
	known []string
}

const (
	guardMarkVersion = 1
	mostKnown        = 8
)

// String leaves out those known keys that there is no room for.
func (m guardMark) String() string {
	b := appendText([]byte{guardMarkVersion}, m.place)
	for _, key := range m.known[:min(len(m.known), mostKnown)] {
		if next := appendText(b, key); len(next) <= store.MaxMark {
			b = next
		}
	}
	return string(b)
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// parseGuardMark undoes String. Anybody may have written s.
func parseGuardMark(s string) (m guardMark, ok bool) {
	if len(s) > store.MaxMark || s == "" || s[0] != guardMarkVersion {
		return m, false
	}
	var texts []string
	for rest := []byte(s[1:]); len(rest) > 0; {
		n, width := binary.Uvarint(rest)
		if width <= 0 || n > uint64(len(rest)-width) {
			return m, false
		}
		end := width + int(n)
		texts, rest = append(texts, string(rest[width:end])), rest[end:]
	}
	if len(texts) == 0 || len(texts) > 1+mostKnown || texts[0] == "" {
		return m, false
	}
	return guardMark{place: texts[0], known: texts[1:]}, true
}
