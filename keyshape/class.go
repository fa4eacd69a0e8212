package keyshape

// class is a set of strings that a piece of a key may be: a literal, a choice
// of literals, or one of the named classes. Its methods but accept are asked
// at compile time only. Classes never change once made.
type class interface {
	// width bounds the length of an accepted string.
	width() (shortest, longest int)

	// first holds every byte that an accepted string may begin with, and
	// alphabet every byte that it may contain.
	first() *charset
	alphabet() *charset

	// accept reports whether s, whose length is within width, is in the class.
	accept(s string) bool
}

// maker builds a class from the argument after its name and a colon; the field
// is empty if there was none.
type maker func(arg field) (class, error)

// makerOf finds a class by name. It is not a map because newChoice asks it too,
// and a variable may not refer to itself on such a detour.
func makerOf(name string) (maker, bool) {
	switch name {
	case "uint":
		return newUint, true
	case "int":
		return newInt, true
	case "uuid":
		return newUUID, true
	case "ulid":
		return newULID, true
	case "hex":
		return newRun(hexDigits), true
	case "base58":
		return newRun(chars("1-9A-HJ-NP-Za-km-z")), true
	case "slug":
		return newSlug, true
	}
	return nil, false
}

// literal is the class of one string.
type literal string

func (l literal) width() (int, int)    { return len(l), len(l) }
func (l literal) first() *charset      { return bytesOf(string(l[:1])) }
func (l literal) alphabet() *charset   { return bytesOf(string(l)) }
func (l literal) accept(s string) bool { return s == string(l) }
