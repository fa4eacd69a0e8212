package keyshape

import (
	"encoding/base32"
	"encoding/base64"
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The reference matcher: slow, sharing nothing with the package, and short
// enough to be seen to be right. A pattern is cut into pieces, each piece is a
// predicate on strings, and every division of the key between them is tried.

// farFuture stands in where a test asks for no time.
var farFuture = time.UnixMilli(1 << 60)

// referenceMatch answers for patterns that Compile accepts.
func referenceMatch(pattern, key string, now time.Time) bool {
	starts := map[int]bool{0: true}
	for piece := ""; pattern != ""; {
		piece, pattern = referenceCut(pattern)
		is := referenceClass(piece, now)
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

// referenceCut cuts off the first class, escape or byte.
func referenceCut(pattern string) (piece, rest string) {
	n, depth := 0, 0
	for {
		switch {
		case pattern[n] == '\\':
			n++
		case pattern[n] == '{' && (depth == 0 || strings.HasPrefix(pattern, "{re:")):
			depth++
		case pattern[n] == '}':
			depth--
		}
		n++
		if depth == 0 {
			return pattern[:n], pattern[n:]
		}
	}
}

func referenceClass(piece string, now time.Time) func(string) bool {
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
	case "digits":
		return referenceLength(arg, `\A[0-9]*\z`)
	case "lower":
		return referenceLength(arg, `\A[a-z]*\z`)
	case "upper":
		return referenceLength(arg, `\A[A-Z]*\z`)
	case "base62":
		return referenceLength(arg, `\A[[:alnum:]]*\z`)
	case "crockford":
		return referenceLength(arg, `\A[0123456789ABCDEFGHJKMNPQRSTVWXYZ]*\z`)
	case "base32":
		return both(referenceLength(arg, ``), referenceBase32)
	case "base64url":
		return both(referenceLength(arg, ``), referenceBase64)
	case "luhn":
		return both(referenceLength(arg, `\A[0-9]{2,}\z`), referenceLuhn)
	case "mod97":
		return both(referenceLength(arg, `\A[0-9A-Z]+[0-9]{2}\z`), referenceMod97)
	case "isbn10":
		return both(referenceLength("10", `\A[0-9]{9}[0-9X]\z`), referenceISBN10)
	case "isbn13":
		return both(referenceLength("13", `\A97[89][0-9]{10}\z`), referenceISBN13)
	case "snowflake":
		return referenceSnowflake(arg, now)
	case "re":
		lengths, re, _ := strings.Cut(arg, ":")
		return referenceLength(lengths, `\A(?:`+re+`)\z`)
	}
	return referenceChoice(piece[1 : len(piece)-1])
}

func both(is, alsoIs func(string) bool) func(string) bool {
	return func(s string) bool { return is(s) && alsoIs(s) }
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

// An encoder's output is the one spelling of what a decoder reads.
func referenceBase32(s string) bool {
	enc := base32.StdEncoding.WithPadding(base32.NoPadding)
	raw, err := enc.DecodeString(s)
	return err == nil && enc.EncodeToString(raw) == s
}

func referenceBase64(s string) bool {
	raw, err := base64.RawURLEncoding.DecodeString(s)
	return err == nil && base64.RawURLEncoding.EncodeToString(raw) == s
}

// The check digits are computed from the content and compared, which is the
// other way round from summing up over both.
func referenceLuhn(s string) bool {
	sum, double := 0, true
	for i := len(s) - 2; i >= 0; i-- {
		d := int(s[i] - '0')
		if double {
			d = []int{0, 2, 4, 6, 8, 1, 3, 5, 7, 9}[d]
		}
		sum, double = sum+d, !double
	}
	return s[len(s)-1:] == strconv.Itoa((10-sum%10)%10)
}

func referenceMod97(s string) bool {
	var content strings.Builder
	for _, c := range s[:len(s)-2] {
		if c >= 'A' {
			fmt.Fprint(&content, c-'A'+10)
		} else {
			content.WriteRune(c)
		}
	}
	n, _ := new(big.Int).SetString(content.String()+"00", 10)
	check := 98 - new(big.Int).Mod(n, big.NewInt(97)).Int64()
	return s[len(s)-2:] == fmt.Sprintf("%02d", check)
}

func referenceISBN10(s string) bool {
	sum := 0
	for i := range 9 {
		sum += (i + 1) * int(s[i]-'0')
	}
	return s[9] == "0123456789X"[sum%11]
}

func referenceISBN13(s string) bool {
	odd, even := 0, 0
	for i := 0; i < 12; i += 2 {
		odd += int(s[i] - '0')
		even += int(s[i+1] - '0')
	}
	return int(s[12]-'0') == (10-(odd+3*even)%10)%10
}

func referenceSnowflake(arg string, now time.Time) func(string) bool {
	epoch, err := strconv.ParseInt(arg, 10, 64)
	if err != nil {
		epoch = map[string]int64{
			"twitter": time.Date(2010, 11, 4, 1, 42, 54, 657e6, time.UTC).UnixMilli(),
			"discord": time.Date(2015, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli(),
		}[arg]
	}
	return func(s string) bool {
		id, err := strconv.ParseInt(s, 10, 64)
		if err != nil || id < 0 || strconv.FormatInt(id, 10) != s {
			return false
		}
		return !time.UnixMilli(epoch + id/(1<<22)).After(now.Add(time.Minute))
	}
}
