package hostile

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOversize_isAsLongAsAllowedAndLonger(t *testing.T) {
	keys := keysOf(t, "oversize", 3000)
	longest := 0
	for _, key := range keys {
		longest = max(longest, len(key))
	}
	require.InEpsilon(t, 1<<20, longest, 0.05)

	within := onlyWithin(keys, 1024)
	require.InDelta(t, len(keys)/3, len(within), 200)
	require.EqualValues(t, 1, wellFormed(within), "it takes the guard to refuse them")
	for _, key := range within {
		require.InDelta(t, 1024, len(key), 2)
	}
}

func TestTangle_isMalformedWithinTheLength(t *testing.T) {
	keys := keysOf(t, "tangle", 5000)
	require.Zero(t, wellFormed(keys))
	require.Len(t, onlyWithin(keys, 1024), len(keys), "the length does not give them away")
}

func onlyWithin(keys []string, length int) (some []string) {
	for _, key := range keys {
		if len(key) <= length {
			some = append(some, key)
		}
	}
	return some
}
