package earlybird

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

type user struct{ Name string }

// holdsLikeAnyValue: what a loader returns without an error is a value, and nil
// is one. Absence has its own word, ErrNotFound.
func holdsLikeAnyValue[V any](t *testing.T, v V) {
	t.Helper()
	loads := 0
	c := newTidy(t, func(context.Context, string) (V, error) {
		loads++
		return v, nil
	}, plain[V](time.Minute))
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
