package keyshape

import "strings"

// Bounds on what a pattern may ask for. They are far above what ids need, and
// keep the cost of a match with any pattern within sight.
const (
	maxText   = 4096 // bytes of a pattern
	maxPieces = 64   // literals and classes of a pattern
	maxKey    = 2048 // bytes of the longest key that a pattern accepts
)

// parse reads a pattern as pieces of which only the source and class are known.
func parse(pattern string) ([]piece, error) {
	rest := field{pattern, 0, len(pattern)}
	switch {
	case pattern == "":
		return nil, rest.fail("the pattern is empty")
	case len(pattern) > maxText:
		return nil, rest.sub(maxText, len(pattern)).fail("the pattern is longer than %d bytes", maxText)
	}
	var pieces []piece
	longest := 0
	for rest.text() != "" {
		c, end, err := parsePiece(rest)
		if err != nil {
			return nil, err
		}
		_, n := c.width()
		longest += n
		if longest > maxKey {
			return nil, rest.fail("the pattern accepts keys longer than %d bytes from here on", maxKey)
		}
		if len(pieces) == maxPieces {
			return nil, rest.fail("more than %d literals and classes", maxPieces)
		}
		pieces = append(pieces, piece{source: rest.sub(0, end), class: c})
		rest = rest.sub(end, len(rest.text()))
	}
	return pieces, nil
}

// parsePiece reads the piece at the start of f, and where it ends.
func parsePiece(f field) (c class, end int, err error) {
	end = nextUnescaped(f.text(), "{")
	if end > 0 {
		text, err := f.sub(0, end).unescaped()
		return literal(text), end, err
	}
	end = closingBrace(f.text())
	if end < 0 {
		return nil, 0, f.fail("the brace is never closed")
	}
	c, err = parseBraces(f.sub(1, end))
	return c, end + 1, err
}

// nextUnescaped is the place of the first byte of set in s that no backslash
// precedes, or the length of s.
func nextUnescaped(s, set string) int {
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' {
			i++
		} else if strings.IndexByte(set, s[i]) >= 0 {
			return i
		}
	}
	return len(s)
}

// closingBrace is the place of the brace that closes the one at the start of s,
// or -1. Only a regular expression has braces inside, and they are balanced.
func closingBrace(s string) int {
	depth := 0
	for i := 0; i < len(s); i++ {
		i += nextUnescaped(s[i:], "{}")
		switch {
		case i == len(s):
			return -1
		case s[i] == '}':
			depth--
		case depth == 0 || strings.HasPrefix(s, "{re:"):
			depth++
		}
		if depth == 0 {
			return i
		}
	}
	return -1
}

// parseBraces reads what stands between braces: a named class, or a choice.
func parseBraces(body field) (class, error) {
	name, arg, hasArg := body.cut(":")
	if newClass, known := makerOf(name.text()); known {
		if hasArg && arg.text() == "" {
			return nil, arg.fail("nothing follows the colon")
		}
		return newClass(arg)
	}
	if _, _, isChoice := body.cutBar(); isChoice {
		return newChoice(body)
	}
	return nil, body.fail("no class is named %q", name.text())
}
