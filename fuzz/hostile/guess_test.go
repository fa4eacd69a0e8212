package hostile

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRandom_isWellFormedAndNeverTheSame(t *testing.T) {
	keys := keysOf(t, "random", 10_000)
	require.EqualValues(t, 1, wellFormed(keys))
	require.Len(t, distinct(keys), len(keys))
}

func TestSequential_leavesOutNothingButWhatExists(t *testing.T) {
	var last uint64
	skipped := 0
	for _, key := range keysOf(t, "sequential", 100_000) {
		id, err := strconv.ParseUint(strings.TrimPrefix(key, "product:"), 10, 64)
		require.NoError(t, err)
		for between := last + 1; between < id; between++ {
			require.True(t, theArchive.Exists("product:"+strconv.FormatUint(between, 10)), "%d", between)
			skipped++
		}
		last = id
	}
	require.Equal(t, 5000, skipped, "it comes by every product")
}

func TestNear_oftenIsWellFormed(t *testing.T) {
	keys := keysOf(t, "near", 10_000)
	require.InDelta(t, 0.5, wellFormed(keys), 0.15)
	require.Greater(t, len(distinct(keys)), 9000)
}

func TestEdit_isOneEdit(t *testing.T) {
	const seed = 5
	rng := rand.New(rand.NewPCG(seed, 0))
	lengths := make(map[int]int)
	for range 10_000 {
		s := text(rng, "ab", 1+rng.IntN(6))
		e := edit(rng, s, "abc")
		require.True(t, oneEdit(s, e), "%q becomes %q, seed %d", s, e, seed)
		lengths[len(e)-len(s)]++
	}
	require.Len(t, lengths, 3, "longer, shorter and as long")
}

// oneEdit reports whether a and b differ by at most one byte put in, left out, replaced
// or swapped with the next.
func oneEdit(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	switch {
	case len(a) < len(b):
		return a[i:] == b[i+1:]
	case i == len(a) || a[i+1:] == b[i+1:]:
		return true
	}
	return i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
}
