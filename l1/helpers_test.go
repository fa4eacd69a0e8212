package l1

import (
	"math"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

const never = math.MaxInt64 // an expiry

// newOpen makes a tier that the test closes when it ends.
func newOpen[V any](t testing.TB, maxKeys int) *Tier[V] {
	t.Helper()
	tier, err := New[V](Options{MaxKeys: maxKeys})
	require.NoError(t, err)
	t.Cleanup(tier.Close)
	return tier
}

func names(n int) []string {
	keys := make([]string, n)
	for i := range keys {
		keys[i] = "key-" + strconv.Itoa(i)
	}
	return keys
}

func requireValue[V any](t testing.TB, tier *Tier[V], key string, want V) {
	t.Helper()
	v, ok := tier.Get(key, 0)
	require.True(t, ok, key)
	require.Equal(t, want, v, key)
}

func requireNone[V any](t testing.TB, tier *Tier[V], key string) {
	t.Helper()
	_, ok := tier.Get(key, 0)
	require.False(t, ok, key)
}
