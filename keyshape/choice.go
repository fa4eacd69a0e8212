package keyshape

import (
	"slices"
	"strings"
)

// choice is the class of one of several literals, sorted and distinct.
type choice struct {
	words []string
	// up is for each word the place of the longest other word that it begins
	// with, or -1.
	up []int
}

// newChoice reads the alternatives between braces.
func newChoice(body field) (class, error) {
	var c choice
	for rest, more := body, true; more; {
		var word field
		word, rest, more = rest.cutBar()
		text, err := word.unescaped()
		if err != nil {
			return nil, err
		}
		if _, known := makerOf(text); known {
			return nil, word.fail("alternatives are literals, not classes: compile one pattern for each class")
		}
		if slices.Contains(c.words, text) {
			return nil, word.fail("alternative %q twice", text)
		}
		c.words = append(c.words, text)
	}
	slices.Sort(c.words)
	c.linkPrefixes()
	return c, nil
}

// linkPrefixes fills up. A word's prefixes sort before it, and the nearest of
// them is found on the chain of the word just before.
func (c *choice) linkPrefixes() {
	for i, word := range c.words {
		up := i - 1
		for up >= 0 && !strings.HasPrefix(word, c.words[up]) {
			up = c.up[up]
		}
		c.up = append(c.up, up)
	}
}

func (c choice) width() (shortest, longest int) {
	shortest = len(c.words[0])
	for _, w := range c.words {
		shortest, longest = min(shortest, len(w)), max(longest, len(w))
	}
	return shortest, longest
}

func (c choice) first() *charset {
	var set charset
	for _, w := range c.words {
		if w != "" {
			set[w[0]] = true
		}
	}
	return &set
}

func (c choice) alphabet() *charset { return bytesOf(strings.Join(c.words, "")) }

func (c choice) accept(s string, _ int64) bool {
	_, found := slices.BinarySearch(c.words, s)
	return found
}

// longestPrefix is the place of the longest word that s begins with, or -1.
// That word is the greatest one not above s, or on its chain of prefixes: what
// sorts between a prefix of s and s begins with that prefix too.
func (c choice) longestPrefix(s string) int {
	i, found := slices.BinarySearch(c.words, s)
	if !found {
		i--
	}
	for i >= 0 && !strings.HasPrefix(s, c.words[i]) {
		i = c.up[i]
	}
	return i
}

// longestWins reports whether the longest word that the rest of a key begins
// with is always the right one, given the bytes that may follow the choice:
// that is so if no shorter word leaves a remainder that begins with one.
func (c choice) longestWins(follow *charset) bool {
	for i, w := range c.words {
		for up := c.up[i]; up >= 0; up = c.up[up] {
			if follow[w[len(c.words[up])]] {
				return false
			}
		}
	}
	return true
}
