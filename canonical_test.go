package earlybird

import (
	"context"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestCanonical_oneKeyWhateverTheSpelling(t *testing.T) {
	var loads atomic.Int64
	opts := plain[string](time.Minute)
	opts.Canonical = func(k string) string { return strings.ToLower(strings.TrimSuffix(k, ".")) }
	c := newTidy(t, func(_ context.Context, key string) (string, error) {
		require.Equal(t, "example.com", key)
		return strconv.FormatInt(loads.Add(1), 10), nil
	}, opts)
	require.Equal(t, "1", mustGet(t, c, "Example.COM."))
	require.Equal(t, "1", mustGet(t, c, "example.com"))
	many, err := c.GetMany(t.Context(), []string{"EXAMPLE.com", "example.com."})
	require.NoError(t, err)
	require.Equal(t, map[string]string{"EXAMPLE.com": "1", "example.com.": "1"}, many)
	require.NoError(t, c.Invalidate(t.Context(), "EXAMPLE.com."))
	many, err = c.GetMany(t.Context(), []string{"EXAMPLE.com", "example.com."})
	require.NoError(t, err)
	require.Equal(t, map[string]string{"EXAMPLE.com": "2", "example.com.": "2"}, many)
	require.NoError(t, c.Set(t.Context(), "Example.com", "9"))
	r, ok := c.Peek("example.COM")
	require.True(t, ok)
	require.Equal(t, "9", r.Value)
	require.NoError(t, c.Created(t.Context(), "Example.com"))
	require.Equal(t, 1, c.Stats().Values)
}
