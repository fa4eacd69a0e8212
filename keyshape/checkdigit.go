package keyshape

import "strings"

// maxChecked bounds the length of ids with check digits.
const maxChecked = 64

var (
	alphanumeric = chars("0-9A-Z")
	isbn10Bytes  = chars("0-9X")
)

// checked is the class of strings of min to max bytes of set whose check digits
// are right.
type checked struct {
	set      *charset
	min, max int
	right    func(s string) bool
}

func (c checked) width() (int, int)  { return c.min, c.max }
func (c checked) first() *charset    { return c.set }
func (c checked) alphabet() *charset { return c.set }
func (checked) costly()              {}

func (c checked) accept(s string, _ int64) bool { return c.set.holdsAll(s) && c.right(s) }

// newChecked makes a class whose shortest strings are one digit of content and
// its check digits.
func newChecked(arg field, set *charset, shortest int, right func(string) bool) (class, error) {
	lo, hi, err := arg.lengths(maxChecked)
	if err != nil {
		return nil, err
	}
	if lo < shortest {
		return nil, arg.fail("ids of this class have at least %d characters", shortest)
	}
	return checked{set, lo, hi, right}, nil
}

func newLuhn(arg field) (class, error)  { return newChecked(arg, digits, 2, luhn) }
func newMod97(arg field) (class, error) { return newChecked(arg, alphanumeric, 3, mod97) }

func newISBN10(arg field) (class, error) {
	return checked{isbn10Bytes, 10, 10, isbn10}, arg.mustBeEmpty()
}

func newISBN13(arg field) (class, error) {
	return checked{digits, 13, 13, isbn13}, arg.mustBeEmpty()
}

// luhn checks the last digit by ISO/IEC 7812-1: every second digit from the
// right is doubled and the digits of all results add up to a multiple of ten.
func luhn(s string) bool {
	sum := 0
	for i := range len(s) {
		d := int(s[len(s)-1-i] - '0')
		if i%2 == 1 {
			d *= 2
			d = d/10 + d%10
		}
		sum += d
	}
	return sum%10 == 0
}

// mod97 checks the last two digits by ISO/IEC 7064, MOD 97-10: with letters as
// 10 to 35, the whole number is 1 modulo 97. The digits are computed as 98
// minus a remainder and so lie in 02 to 98; without that, 00, 01 and 99 would
// be second spellings of 97, 98 and 02.
func mod97(s string) bool {
	check := s[len(s)-2:]
	if !digits.holdsAll(check) || check < "02" || check > "98" {
		return false
	}
	rest := 0
	for i := range len(s) {
		if digits[s[i]] {
			rest = (rest*10 + int(s[i]-'0')) % 97
		} else {
			rest = (rest*100 + int(s[i]-'A') + 10) % 97
		}
	}
	return rest == 1
}

// isbn10 checks the last character by ISO 2108: digits times 10, 9, … 1 add up
// to a multiple of eleven, where X stands for a last digit of ten.
func isbn10(s string) bool {
	sum := 0
	for i := range len(s) {
		d := int(s[i] - '0')
		if s[i] == 'X' {
			if i != 9 {
				return false
			}
			d = 10
		}
		sum += (10 - i) * d
	}
	return sum%11 == 0
}

// isbn13 checks the last digit by ISO 2108: digits times 1 and 3 in turn add up
// to a multiple of ten. The prefixes are those of books.
func isbn13(s string) bool {
	if !strings.HasPrefix(s, "978") && !strings.HasPrefix(s, "979") {
		return false
	}
	sum := 0
	for i := range len(s) {
		sum += int(s[i]-'0') * (1 + i%2*2)
	}
	return sum%10 == 0
}
