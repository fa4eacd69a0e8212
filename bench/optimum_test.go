package main

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// asked is requests for the given letters.
func asked(text string) *synthetic {
	i := -1
	return draw(len(text), func() int { i++; return int(text[i]) })
}

func TestOptimum_knowsTheFuture(t *testing.T) {
	for _, c := range []struct {
		text string
		room int
		hits int
	}{
		{"aaaa", 1, 3},
		{"abab", 1, 1}, // holds one of them throughout
		{"abcabc", 1, 1},
		{"abcabc", 2, 2},
		{"abcabc", 3, 3},
		{"abcdabcd", 2, 2},
		{"axaybzb", 1, 2}, // x, y and z are not worth storing
		{"abcdef", 3, 0},
		{"70120304230321201701", 3, 12}, // the textbooks' 11 if every page must be stored
	} {
		require.Equal(t, c.hits, optimum(asked(c.text), c.room), "%q in %d", c.text, c.room)
	}
}

// Every choice is tried for every short sequence.
func TestOptimum_isTheBestOfAllChoices(t *testing.T) {
	const seed = 11
	r := rand.New(rand.NewPCG(seed, seed))
	for range 300 {
		text := make([]byte, 1+r.IntN(9))
		for i := range text {
			text[i] = 'a' + byte(r.IntN(4))
		}
		room := 1 + r.IntN(3)
		require.Equal(t, bestOf(string(text), "", room), optimum(asked(string(text)), room),
			"%q in %d, seed %d", text, room, seed)
	}
}

// bestOf is the most hits of text that a cache holding the given letters can get.
func bestOf(text, held string, room int) (best int) {
	if text == "" {
		return 0
	}
	for i := range held {
		if held[i] == text[0] {
			return 1 + bestOf(text[1:], held, room)
		}
	}
	best = bestOf(text[1:], held, room) // declines to store it
	if len(held) < room {
		return max(best, bestOf(text[1:], held+text[:1], room))
	}
	for i := range held {
		best = max(best, bestOf(text[1:], held[:i]+held[i+1:]+text[:1], room))
	}
	return best
}
