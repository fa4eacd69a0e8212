package earlybird

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird/hotkeys"
	"github.com/earlybird-cache/earlybird/keyshape"
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

// fold is lower case and NFC, as far as these tests need it.
func fold(key string) string {
	return strings.ReplaceAll(strings.ToLower(strings.TrimSuffix(key, ".")), "e\u0301", "\u00e9")
}

// spellings are the ways to write two names.
var spellings = map[string][]string{
	"example.com": {"Example.COM.", "example.com.", "EXAMPLE.com", "example.com"},
	"caf\u00e9":   {"caf\u00e9", "cafe\u0301", "CAF\u00c9", "CAFE\u0301."},
}

// The canonical key is what every stage sees: the loaders, the guard, the hooks and
// what is in memory.
func TestCanonical_isUsedByEveryStage(t *testing.T) {
	for name, written := range spellings {
		require.Equal(t, name, fold(name), "idempotent")
		for _, first := range written {
			t.Run(first, func(t *testing.T) { canonicalEverywhere(t, name, first, written) })
		}
	}
}

func canonicalEverywhere(t *testing.T, name, first string, written []string) {
	ctx := t.Context()
	seen := func(key string) { require.Equal(t, name, key) }
	guard := guardOf(t, "another")
	ids := guard.Stats().IDs
	tracker, err := hotkeys.New(hotkeys.Options{})
	require.NoError(t, err)
	var loads, version atomic.Int64
	opts := plain[int64](time.Minute)
	opts.Canonical, opts.Guard, opts.HotKeys = fold, guard, tracker
	opts.Shapes = keyshape.MustCompile(name)
	opts.GuardPart = func(key string) string { seen(key); return key }
	opts.TTLFor = func(key string, _ int64) time.Duration { seen(key); return 0 }
	opts.Validate = func(key string, _ int64) error { seen(key); return nil }
	opts.LoadMany = func(_ context.Context, keys []string) (map[string]int64, error) {
		require.Equal(t, []string{name}, keys)
		loads.Add(1)
		return map[string]int64{name: version.Load()}, nil
	}
	c := newTidy(t, func(_ context.Context, key string) (int64, error) {
		seen(key)
		loads.Add(1)
		return version.Load(), nil
	}, opts)
	for _, key := range written {
		_, err := c.Get(ctx, key)
		require.ErrorIs(t, err, ErrNotFound, "the guard does not know it yet")
	}
	for _, key := range written {
		require.NoError(t, c.Created(ctx, key))
	}
	require.Equal(t, ids+1, guard.Stats().IDs, "one element of the filter")

	for round, change := range []func() error{
		func() error { return nil },
		func() error { return c.Invalidate(ctx, first) },
		func() error { return c.InvalidateAll(ctx) },
		func() error { return c.Set(ctx, first, version.Load()) },
		func() error {
			return c.Creating(ctx, []string{first}, func() error { return c.Invalidate(ctx, first) })
		},
	} {
		version.Store(int64(round))
		require.NoError(t, change())
		require.NoError(t, c.Warm(ctx, slices.Values(written)))
		many, err := c.GetMany(ctx, written)
		require.NoError(t, err)
		require.Len(t, many, len(written), "under the keys as they were given")
		for _, key := range written {
			require.EqualValues(t, round, many[key])
			require.EqualValues(t, round, mustGet(t, c, key))
			r, ok := c.Peek(key)
			require.True(t, ok)
			require.EqualValues(t, round, r.Value)
		}
		require.Equal(t, 1, c.Stats().Values)
	}
	require.EqualValues(t, 4, loads.Load(), "one for each round but that of Set")
}

// Without Canonical keys are compared byte by byte.
func TestCanonical_nilTellsSpellingsApart(t *testing.T) {
	c := newTidy(t, echo(0), plain[string](time.Minute))
	n := 0
	for _, written := range spellings {
		for _, key := range written {
			require.Equal(t, key, mustGet(t, c, key))
			n++
		}
	}
	require.Equal(t, n, c.Stats().Values)
	require.NoError(t, c.Invalidate(t.Context(), "EXAMPLE.com."))
	require.Equal(t, n, c.Stats().Values, "nobody wrote it so")
	require.NoError(t, c.Invalidate(t.Context(), "cafe\u0301"))
	_, ok := c.Peek("caf\u00e9")
	require.True(t, ok)
	require.Equal(t, n-1, c.Stats().Values)
}
