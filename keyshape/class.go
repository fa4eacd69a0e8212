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

	// accept reports whether s, whose length is within width, is in the class at
	// the time now, in milliseconds since 1970.
	accept(s string, now int64) bool
}

// costly marks a class whose accept is too slow to be tried at many places of
// a key: what stands around it must decide where it begins and ends.
type costly interface {
	class
	costly()
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
	case "snowflake":
		return newSnowflake, true
	case "uuid":
		return newUUID, true
	case "ulid":
		return newULID, true
	case "digits":
		return newRun(digits), true
	case "lower":
		return newRun(chars("a-z")), true
	case "upper":
		return newRun(chars("A-Z")), true
	case "hex":
		return newRun(hexDigits), true
	case "base58":
		return newRun(chars("1-9A-HJ-NP-Za-km-z")), true
	case "base62":
		return newRun(chars("0-9A-Za-z")), true
	case "crockford":
		return newRun(crockford), true
	case "base32":
		return newEncoded(base32Order), true
	case "base64url":
		return newEncoded(base64Order), true
	case "slug":
		return newSlug, true
	case "luhn":
		return newLuhn, true
	case "mod97":
		return newMod97, true
	case "isbn10":
		return newISBN10, true
	case "isbn13":
		return newISBN13, true
	case "re":
		return newExpr, true
	}
	return nil, false
}

// literal is the class of one string.
type literal string

func (l literal) width() (int, int)             { return len(l), len(l) }
func (l literal) first() *charset               { return bytesOf(string(l[:1])) }
func (l literal) alphabet() *charset            { return bytesOf(string(l)) }
func (l literal) accept(s string, _ int64) bool { return s == string(l) }
