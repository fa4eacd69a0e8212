package keyshape

import (
	"errors"
	"strconv"
)

// ErrNotJoined is the error of [Split] for a key that [Join] does not make.
var ErrNotJoined = errors.New("keyshape: not a joined key")

// Join makes one key of a list of parts: each part's length in decimal, a
// colon, its bytes and a comma, which is the netstring of D. J. Bernstein.
//
//	Join("acme1", "23") == "5:acme1,2:23,"
//
// Different lists make different keys, whatever bytes the parts consist of,
// for lengths and not separators tell the parts; the empty list makes the
// empty key. Join(a...) + Join(b...) is the key of the two lists in a row.
func Join(parts ...string) string {
	key := make([]byte, 0, 128) // on the stack; if it suffices, the string is the only allocation
	for _, part := range parts {
		key = strconv.AppendInt(key, int64(len(part)), 10)
		key = append(key, ':')
		key = append(key, part...)
		key = append(key, ',')
	}
	return string(key)
}

// Split is the inverse of [Join]: the parts, which are substrings of key and
// not copies. A key that Join does not make, such as one with a length spelled
// 05, is refused with [ErrNotJoined] before anything is allocated.
func Split(key string) ([]string, error) {
	n, ok := countParts(key)
	if !ok {
		return nil, ErrNotJoined
	}
	parts := make([]string, n)
	for i := range parts {
		parts[i], key, _ = cutPart(key)
	}
	return parts, nil
}

// Part is part i of a joined key, counted from 0, as a substring of key. It
// reports false if the key has no such part or is not one that [Join] makes,
// in any of its parts: whoever trusts a part may trust the whole. It allocates
// nothing.
func Part(key string, i int) (string, bool) {
	var found string
	n := 0
	for ; key != ""; n++ {
		part, rest, ok := cutPart(key)
		if !ok {
			return "", false
		}
		if n == i {
			found = part
		}
		key = rest
	}
	return found, 0 <= i && i < n
}

// countParts counts the parts of a key and reports whether it is a joined key.
func countParts(key string) (n int, ok bool) {
	for ; key != ""; n++ {
		if _, key, ok = cutPart(key); !ok {
			return 0, false
		}
	}
	return n, true
}

// cutPart takes the first part off a joined key. The length is held against
// what is left of the key while it is read, so it cannot overflow 64 bits.
func cutPart(key string) (part, rest string, ok bool) {
	size, i := uint64(0), 0
	for ; i < len(key) && '0' <= key[i] && key[i] <= '9'; i++ {
		if i > 0 && size == 0 {
			return "", "", false // a leading zero: a second spelling
		}
		size = 10*size + uint64(key[i]-'0')
		if size > uint64(len(key)) {
			return "", "", false
		}
	}
	if i == 0 || i == len(key) || key[i] != ':' {
		return "", "", false
	}
	start, end := i+1, i+1+int(size)
	if end >= len(key) || key[end] != ',' {
		return "", "", false
	}
	return key[start:end], key[end+1:], true
}
