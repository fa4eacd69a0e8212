package keyshape

// charset is a set of bytes. It is a table, not a bitmap, because it is
// consulted once for every byte of every key.
type charset [256]bool

// chars makes a set from single bytes and ranges: "0-9a-f". A hyphen at the end
// is a hyphen.
func chars(spec string) *charset {
	var set charset
	for i := 0; i < len(spec); i++ {
		lo, hi := spec[i], spec[i]
		if i+2 < len(spec) && spec[i+1] == '-' {
			hi = spec[i+2]
			i += 2
		}
		for b := int(lo); b <= int(hi); b++ {
			set[b] = true
		}
	}
	return &set
}

// bytesOf is the set of the bytes of s.
func bytesOf(s string) *charset {
	var set charset
	for i := range len(s) {
		set[s[i]] = true
	}
	return &set
}

// holdsAll reports whether every byte of s is in the set.
func (c *charset) holdsAll(s string) bool {
	for i := range len(s) {
		if !c[s[i]] {
			return false
		}
	}
	return true
}

// runEnd is where the bytes of s stop being in the set, looking from at on but
// not beyond limit.
func (c *charset) runEnd(s string, at, limit int) int {
	limit = min(limit, len(s))
	for at < limit && c[s[at]] {
		at++
	}
	return at
}

func (c *charset) disjoint(d *charset) bool {
	for b := range c {
		if c[b] && d[b] {
			return false
		}
	}
	return true
}
