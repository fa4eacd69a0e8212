package archive

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNew_sameSeedSameArchive(t *testing.T) {
	a, b := New(1000, 3), New(1000, 3)
	require.Equal(t, a.Keys(), b.Keys())
	require.Equal(t, a.Deleted(), b.Deleted())
	require.NotEqual(t, a.Keys(), New(1000, 4).Keys())
	require.False(t, slices.IsSorted(a.Keys()), "popularity says nothing of ids")
}

func TestArchive_keysAreDistinctAndWellFormed(t *testing.T) {
	a, shapes := New(8000, 1), Shapes()
	require.Len(t, a.Keys(), 7000+1000*len(locales))
	distinct := make(map[string]bool)
	for _, key := range slices.Concat(a.Keys(), a.Deleted()) {
		require.True(t, shapes.Match(key), "%q", key)
		distinct[key] = true
	}
	require.Len(t, distinct, len(a.Keys())+Deletions)
	require.True(t, a.Exists(a.Keys()[0]))
	require.False(t, a.Exists(a.Deleted()[0]))
	require.False(t, a.Exists(""))
}

func TestID_isTheKeyWithoutTheLocale(t *testing.T) {
	require.Equal(t, "product:7", ID(Product(7)))
	require.Equal(t, "page:red-shoe-7", ID(Page("red-shoe", 7)))
	require.Equal(t, "4:acme,5:a,b:c,", ID(Document("en", "acme", "a,b:c")))
	require.Equal(t, ID(Document("en", "acme", "a")), ID(Document("de", "acme", "a")))
	require.NotEqual(t, ID(Document("en", "acme", "1a")), ID(Document("en", "acme1", "a")))
	for _, strange := range []string{"", ":", "2:en", "2:en,", "02:en,1:a,", "5:a,"} {
		require.True(t, strings.HasSuffix(strange, ID(strange)), "%q", strange)
	}
}

func TestIDs_areThoseOfAllThatExistsOrDid(t *testing.T) {
	a := New(8000, 1)
	ids := slices.Collect(a.IDs())
	require.Len(t, ids, 8000+Deletions, "a document's ID comes once")
	known := make(map[string]bool)
	for _, id := range ids {
		known[id] = true
	}
	require.Len(t, known, len(ids))
	for _, key := range slices.Concat(a.Keys(), a.Deleted()) {
		require.True(t, known[ID(key)], "%q", key)
	}
	for range a.IDs() {
		break // whoever stops early gets no more
	}
}
