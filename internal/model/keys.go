package model

import (
	"fmt"
	"strings"
)

// longestKey is Options.MaxKeyLen.
const longestKey = 32

// id is Options.GuardPart: the first number in the key.
func id(key string) string {
	part, _, _ := strings.Cut(strings.TrimPrefix(key, "k"), "/")
	return part
}

// wellFormed says what the profiles' shapes mean, in other words.
func wellFormed(key string) bool {
	if len(key) > longestKey || !strings.HasPrefix(key, "k") {
		return false
	}
	first, second, two := strings.Cut(key[1:], "/")
	return isNumber(first) && (!two || isNumber(second))
}

// isNumber reports whether s is a number in its one spelling.
func isNumber(s string) bool {
	for _, d := range s {
		if d < '0' || d > '9' {
			return false
		}
	}
	return s == "0" || s != "" && s[0] != '0'
}

// row returns the key of a row.
func (p Profile) row(i int) string {
	if p.Siblings && i%2 == 1 {
		return fmt.Sprintf("%s/%d", rowKey(i-1), i)
	}
	return rowKey(i)
}

func rowKey(i int) string { return fmt.Sprintf("k%d", i) }

// ghostKey numbers the ghosts from where no row is.
func ghostKey(i int) string { return fmt.Sprintf("k%d", 100+i) }

// malformed are keys that no well-behaved caller sends.
var malformed = []string{
	"x", "k", "k007", "k-1", "k1/en", "k1/", "k/1", "k1/2/3", "K1", "k" + strings.Repeat("1", longestKey),
}
