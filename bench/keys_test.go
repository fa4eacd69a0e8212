package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird/keyshape"
)

func TestKeys_productsAndStrangersAreWellFormedAndApart(t *testing.T) {
	shapes := keyshape.MustCompile(shape)
	seen := make(map[string]bool)
	for i := range 2 * fewKeys {
		for _, key := range []string{keyOf(i), strangerOf(i)} {
			require.Len(t, key, keyLen)
			require.True(t, shapes.Match(key), key)
			require.False(t, seen[key], key)
			seen[key] = true
		}
		require.False(t, isStranger(keyOf(i)))
		require.True(t, isStranger(strangerOf(i)))
	}
}

func TestReader_goesRoundAndRound(t *testing.T) {
	r := sequence([]string{"aa", "bb", "cc"}).reader()
	var got string
	for range 7 {
		got += r.next()
	}
	require.Equal(t, "aabbccaabbccaa", got)
}
