package earlybird

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

type user struct{ Name string }

// holdsLikeAnyValue: what a loader returns without an error is a value, and nil
// is one. Absence has its own word, ErrNotFound.
func holdsLikeAnyValue[V any](t *testing.T, v V) {
	t.Helper()
	loads, batches := 0, 0
	opts := plain[V](time.Minute)
	opts.LoadMany = func(_ context.Context, keys []string) (map[string]V, error) {
		batches++
		return map[string]V{"many": v}, nil
	}
	c := newTidy(t, func(context.Context, string) (V, error) {
		loads++
		return v, nil
	}, opts)
	for range 10 {
		got, err := c.Get(t.Context(), "loaded")
		require.NoError(t, err)
		require.Equal(t, v, got)
	}
	require.Equal(t, 1, loads)
	r, ok := c.Peek("loaded")
	require.True(t, ok)
	require.Equal(t, v, r.Value)

	require.NoError(t, c.Set(t.Context(), "set", v))
	require.Equal(t, Fresh, mustLookup(t, c, "set").State)
	require.Equal(t, v, mustGet(t, c, "set"))
	require.Equal(t, 1, loads)
	require.Equal(t, 2, c.Stats().Values)
	require.Zero(t, c.Stats().Negatives)

	for range 10 {
		found, err := c.GetMany(t.Context(), []string{"loaded", "set", "many"})
		require.NoError(t, err)
		require.Equal(t, map[string]V{"loaded": v, "set": v, "many": v}, found)
	}
	require.Equal(t, v, mustGet(t, c, "many"))
	require.Equal(t, 1, batches)
	found, err := c.GetMany(t.Context(), []string{"left out", "many"})
	require.Equal(t, map[string]V{"many": v}, found, "a key with a nil is there, one that is left out is not")
	require.ErrorIs(t, err.(*ManyError).Errors["left out"], ErrNotFound)
	require.Equal(t, 1, loads)
}

// Nor does it become an absence in a refresh, past its expiry, or by way of a
// copy or a revalidation.
func TestGet_nilStaysAValueWhateverBecomesOfIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		loads := 0
		opts := eager[*user](time.Minute)
		opts.StaleWhileRevalidate = time.Minute
		opts.Clone = func(u *user) *user { return u }
		opts.Validate = func(_ string, u *user) error { require.Nil(t, u); return nil }
		opts.Revalidate = func(_ context.Context, key string, old *user) (*user, error) {
			require.Nil(t, old)
			return nil, ErrNotModified
		}
		c := newTidy(t, func(context.Context, string) (*user, error) {
			time.Sleep(time.Second)
			loads++
			return nil, nil
		}, opts)
		for _, want := range []State{Loaded, Early, Fresh, Stale, Fresh} {
			r := mustLookup(t, c, "k")
			require.Nil(t, r.Value)
			require.Equal(t, want, r.State)
			synctest.Wait()
			time.Sleep(map[State]time.Duration{Loaded: 50 * time.Second, Fresh: time.Minute}[want])
		}
		require.Equal(t, 1, loads)
		require.Zero(t, c.Stats().Negatives)
	})
}

func TestGet_nilAndZeroAreValuesLikeAnyOther(t *testing.T) {
	t.Run("pointer", func(t *testing.T) { holdsLikeAnyValue(t, (*user)(nil)) })
	t.Run("interface", func(t *testing.T) { holdsLikeAnyValue[any](t, nil) })
	t.Run("typed nil in an interface", func(t *testing.T) { holdsLikeAnyValue[any](t, (*user)(nil)) })
	t.Run("error", func(t *testing.T) { holdsLikeAnyValue[error](t, nil) })
	t.Run("error as a value", func(t *testing.T) { holdsLikeAnyValue(t, ErrNotFound) })
	t.Run("slice", func(t *testing.T) { holdsLikeAnyValue(t, []byte(nil)) })
	t.Run("empty slice", func(t *testing.T) { holdsLikeAnyValue(t, []byte{}) })
	t.Run("map", func(t *testing.T) { holdsLikeAnyValue(t, map[string]int(nil)) })
	t.Run("number", func(t *testing.T) { holdsLikeAnyValue(t, 0) })
	t.Run("struct", func(t *testing.T) { holdsLikeAnyValue(t, user{}) })
	t.Run("nothing at all", func(t *testing.T) { holdsLikeAnyValue(t, struct{}{}) })
}

// A nil pointer that comes with ErrNotFound is an absence all the same.
func TestGet_errorDecidesNotTheValue(t *testing.T) {
	c := newTidy(t, func(_ context.Context, key string) (*user, error) {
		if key == "ghost" {
			return &user{"boo"}, ErrNotFound
		}
		return nil, ErrNotFound
	}, plain[*user](time.Minute))
	for _, key := range []string{"nobody", "ghost"} {
		for range 2 {
			v, err := c.Get(t.Context(), key)
			require.ErrorIs(t, err, ErrNotFound)
			require.Nil(t, v)
		}
	}
	require.Zero(t, c.Stats().Values)
	require.Equal(t, 2, c.Stats().Negatives)
}

func TestNew_needsALoader(t *testing.T) {
	_, err := New[string](nil, plain[string](time.Minute))
	var bad *OptionError
	require.ErrorAs(t, err, &bad)
	require.Equal(t, "load", bad.Field)
}
