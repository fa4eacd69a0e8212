package hostile

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird/fuzz/archive"
	"github.com/earlybird-cache/earlybird/keyshape"
)

func TestSpelling_isForTheShapesToRefuse(t *testing.T) {
	keys := keysOf(t, "spelling", 10_000)
	require.Less(t, wellFormed(keys), 0.05, "a few become another page's title")
	for _, trick := range []string{":0", ":+", "%", " ", "0x", "?v=", "../", "'", "\x00"} {
		require.True(t, slices.ContainsFunc(keys, func(key string) bool { return strings.Contains(key, trick) }), "%q", trick)
	}
}

func TestUnicode_isTextAndNot(t *testing.T) {
	keys := keysOf(t, "unicode", 10_000)
	foreign, broken, named := 0, 0, 0
	for _, key := range keys {
		switch {
		case !utf8.ValidString(key):
			broken++
		case utf8.RuneCountInString(key) < len(key):
			foreign++
		}
		if _, err := keyshape.Split(key); err == nil {
			named++
		}
	}
	for _, n := range []int{foreign, broken, named} {
		require.Greater(t, n, len(keys)/10)
	}
	require.InDelta(t, 0.33, wellFormed(keys), 0.05, "in the names of documents anything goes")
}

func TestLookAlikes_doNotMatch(t *testing.T) {
	for b, looks := range lookAlikes {
		for _, look := range looks {
			require.NotEqual(t, string(b), look)
			require.NotEmpty(t, look)
		}
	}
}

// Some of the forged keys would deceive whoever joins parts with a separator, or asks the
// guard without having looked at the shape: those are the ones that shapes must refuse.
func TestSmuggle_wouldDeceiveTheCareless(t *testing.T) {
	keys := keysOf(t, "smuggle", 10_000)
	known := distinct(slices.Collect(theArchive.IDs()))
	naive := make(map[string]bool) // keys that exist, with parts joined by a separator
	for _, key := range theArchive.Keys() {
		if parts, err := keyshape.Split(key); err == nil {
			naive[strings.Join(parts, "")] = true
		}
	}
	shapes := archive.Shapes()
	guard, join := 0, 0
	for _, key := range keys {
		if known[archive.ID(key)] {
			guard++
			require.False(t, shapes.Match(key), "%q", key)
		}
		if parts, err := keyshape.Split(key); err == nil && naive[strings.Join(parts, "")] {
			join++
		}
	}
	require.Greater(t, guard, len(keys)/50)
	require.Greater(t, join, len(keys)/20)
	require.InDelta(t, 0.4, wellFormed(keys), 0.2)
}

func TestForgeries_takeAnyParts(t *testing.T) {
	rng := newRNG(t)
	for range 200 {
		for _, forge := range forgeries {
			require.NotPanics(t, func() { forge(&newFake().Target, rng, "en", "acme", "n") })
		}
	}
}
