package hostile

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestKeys_sameSeedSameKeys(t *testing.T) {
	unseeded := map[string]bool{"sequential": true, "deleted": true}
	for _, a := range All() {
		t.Run(a.Name, func(t *testing.T) {
			keys := first(500, a.Keys(&newFake().Target, 1))
			require.Len(t, keys, 500, "there is no end of them")
			require.Equal(t, keys, first(500, a.Keys(&newFake().Target, 1)))
			if !unseeded[a.Name] {
				require.NotEqual(t, keys, first(500, a.Keys(&newFake().Target, 2)))
			}
		})
	}
}

// What exists is anybody's to ask for: an attack that did could not be told from readers.
func TestKeys_areOfNothing(t *testing.T) {
	for _, a := range All() {
		if a.Name == "scan" {
			continue
		}
		for _, key := range first(5000, a.Keys(&newFake().Target, 7)) {
			require.False(t, theArchive.Exists(key), "%s: %q", a.Name, key)
		}
	}
}

func TestNamed_knowsAllAndListsThemForOthers(t *testing.T) {
	names := make(map[string]bool)
	for _, a := range All() {
		require.NotEmpty(t, a.About)
		found, err := Named(a.Name)
		require.NoError(t, err)
		require.Equal(t, a.About, found.About)
		names[a.Name] = true
	}
	require.Len(t, names, len(All()), "no two have one name")
	_, err := Named("murmurs")
	require.ErrorContains(t, err, `unknown attack "murmurs"`)
	for name := range names {
		require.ErrorContains(t, err, name)
	}
}
