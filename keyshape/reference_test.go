package keyshape

import (
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// The reference matcher: slow, sharing nothing with the package, and short
// enough to be seen to be right. A pattern is cut into pieces, each piece is a
// predicate on strings, and every division of the key between them is tried.

var pieceSyntax = regexp.MustCompile(`(?s)\\.|\{(?:\\.|[^}\\])*\}|[^\\{]`)

// referenceMatch answers for patterns that Compile accepts.
func referenceMatch(pattern, key string) bool {
	pieces := pieceSyntax.FindAllString(pattern, -1)
	starts := map[int]bool{0: true}
	for _, piece := range pieces {
		is := referenceClass(piece)
		ends := map[int]bool{}
		for at := range starts {
			for end := at; end <= len(key); end++ {
				if is(key[at:end]) {
					ends[end] = true
				}
			}
		}
		starts = ends
	}
	return starts[len(key)]
}

func referenceClass(piece string) func(string) bool {
	if piece[0] != '{' {
		text := strings.TrimPrefix(piece, `\`)
		if piece == `\\` {
			text = `\`
		}
		return func(s string) bool { return s == text }
	}
	name, arg, _ := strings.Cut(piece[1:len(piece)-1], ":")
	switch name {
	case "uint":
		return referenceInterval(arg, "0", "18446744073709551615")
	case "int":
		return referenceInterval(arg, "-9223372036854775808", "9223372036854775807")
	case "uuid":
		return regexp.MustCompile(`\A[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\z`).MatchString
	case "ulid":
		return regexp.MustCompile(`\A[0-7][0123456789ABCDEFGHJKMNPQRSTVWXYZ]{25}\z`).MatchString
	case "hex":
		return referenceLength(arg, `\A[0-9a-f]*\z`)
	case "base58":
		return referenceLength(arg, `\A[123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz]*\z`)
	case "slug":
		if arg == "" {
			arg = "1..128"
		}
		return referenceLength(arg, `\A[a-z0-9]+(-[a-z0-9]+)*\z`)
	}
	return referenceChoice(piece[1 : len(piece)-1])
}

// referenceInterval is arithmetic on big integers; the one spelling is the one
// that big.Int prints.
func referenceInterval(arg, lo, hi string) func(string) bool {
	if arg != "" {
		lo, hi, _ = strings.Cut(arg, "..")
	}
	low, _ := new(big.Int).SetString(lo, 10)
	high, _ := new(big.Int).SetString(hi, 10)
	return func(s string) bool {
		v, ok := new(big.Int).SetString(s, 10)
		return ok && v.String() == s && v.Cmp(low) >= 0 && v.Cmp(high) <= 0
	}
}

func referenceLength(arg, syntax string) func(string) bool {
	lo, hi, isRange := strings.Cut(arg, "..")
	if !isRange {
		hi = lo
	}
	low, _ := strconv.Atoi(lo)
	high, _ := strconv.Atoi(hi)
	re := regexp.MustCompile(syntax)
	return func(s string) bool { return low <= len(s) && len(s) <= high && re.MatchString(s) }
}

func referenceChoice(body string) func(string) bool {
	words := []string{""}
	for _, b := range regexp.MustCompile(`(?s)\\.|.`).FindAllString(body, -1) {
		if b == "|" {
			words = append(words, "")
			continue
		}
		if len(b) == 2 && b[0] == '\\' {
			b = b[1:]
		}
		words[len(words)-1] += b
	}
	return func(s string) bool { return slices.Contains(words, s) }
}
