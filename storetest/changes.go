package storetest

import (
	"context"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird/store"
)

var changes = []promise{
	{"InvalidateForgets", invalidateForgets, anyLease},
	{"InvalidateFencesLoads", invalidateFencesLoads, anyLease},
	{"ChangesFenceRefreshes", changesFenceRefreshes, anyLease},
	{"InvalidateOfManyKeys", invalidateMany, anyLease},
	{"InvalidateEndsCooling", invalidateEndsCooling, anyLease},
	{"InvalidateAllForgets", invalidateAllForgets, anyLease},
	{"InvalidateAllFencesLoads", invalidateAllFencesLoads, anyLease},
	{"SetReplaces", setReplaces, anyLease},
	{"SetFencesLoads", setFencesLoads, anyLease},
	{"LateLoadDoesNotOverwrite", lateLoad, exclusive},
}

func invalidateForgets(x *tier) {
	x.load(x.a, "k", valueOf("v"))
	x.load(x.a, "none", store.Record[*Item]{Kind: store.Absent, Life: long})
	require.NoError(x, x.a.Invalidate(x.Context(), "k", "none", "never there"))
	require.NoError(x, x.a.Invalidate(x.Context()))
	for _, key := range []string{"k", "none", "never there"} {
		r := x.get(x.b, key)
		require.Equal(x, store.Missing, r.Kind, key)
		require.NotZero(x, r.Generation, "copies that lie elsewhere are void")
		x.grant(x.b, key, r.Generation, long)
	}
}

func invalidateFencesLoads(x *tier) {
	l := x.grant(x.a, "k", 0, long)
	require.NoError(x, x.b.Invalidate(x.Context(), "k"))
	require.ErrorIs(x, x.a.Publish(x.Context(), l, valueOf("old")), store.ErrLost)
	require.Equal(x, store.Missing, x.get(x.a, "k").Kind)

	next := x.grant(x.b, "k", 0, long)
	require.ErrorIs(x, x.a.Publish(x.Context(), l, valueOf("old")), store.ErrLost, "nor under the next lease")
	require.NoError(x, x.b.Publish(x.Context(), next, valueOf("new")))
	require.ErrorIs(x, x.a.Publish(x.Context(), l, valueOf("old")), store.ErrLost, "nor over what it brought")
	require.Equal(x, "new", x.get(x.a, "k").Value.Text)
}

// A refresh that began before a change, and ends after it, brings nothing back, not
// even what it would have replaced, and is in nobody's way.
func changesFenceRefreshes(x *tier) {
	for what, change := range map[string]func(s store.Store[*Item], key string) error{
		"Invalidate":    func(s store.Store[*Item], key string) error { return s.Invalidate(x.Context(), key) },
		"InvalidateAll": func(s store.Store[*Item], _ string) error { return s.InvalidateAll(x.Context()) },
		"Set": func(s store.Store[*Item], key string) error {
			_, err := s.Set(x.Context(), key, store.Record[*Item]{Kind: store.Absent, Life: long})
			return err
		},
	} {
		for who, s := range map[string]store.Store[*Item]{"own": x.a, "other": x.b} {
			key := what + who
			old := x.load(x.a, key, valueOf("old"))
			refresh := x.grant(x.a, key, old.Generation, long)
			require.NoError(x, change(s, key))
			require.ErrorIs(x, x.a.Publish(x.Context(), refresh, valueOf("late")), store.ErrLost, key)
			require.NoError(x, x.a.Fail(x.Context(), refresh, long))
			for _, s := range []store.Store[*Item]{x.a, x.b} {
				r := x.get(s, key)
				require.NotEqual(x, store.Value, r.Kind, key)
				require.Greater(x, r.Generation, refresh.Generation, key)
			}
			next := x.grant(x.b, key, x.get(x.b, key).Generation, long)
			require.NoError(x, x.b.Publish(x.Context(), next, valueOf("new")))
			require.Equal(x, "new", x.get(x.a, key).Value.Text)
		}
	}
}

func invalidateMany(x *tier) {
	keys := make([]string, 500)
	for i := range keys {
		keys[i] = string(rune('0'+i)) + "/k"
		x.load(x.a, keys[i], valueOf("v"))
	}
	require.NoError(x, x.a.Invalidate(x.Context(), keys...))
	for i, r := range x.b.GetMany(x.Context(), keys) {
		require.NoError(x, r.Err)
		require.Equal(x, store.Missing, r.Kind, i)
	}
}

func invalidateEndsCooling(x *tier) {
	l := x.grant(x.a, "k", 0, long)
	require.NoError(x, x.a.Fail(x.Context(), l, long))
	require.NoError(x, x.b.Invalidate(x.Context(), "k"))
	x.grant(x.a, "k", 0, long)
}

func invalidateAllForgets(x *tier) {
	require.NoError(x, x.a.InvalidateAll(x.Context()), "of nothing")
	for _, key := range []string{"one", "two", "three"} {
		x.load(x.a, key, valueOf("v"))
	}
	for range 2 {
		old := x.get(x.a, "one").Generation
		require.NoError(x, x.a.InvalidateAll(x.Context()))
		for _, key := range []string{"one", "two", "three"} {
			r := x.get(x.b, key)
			require.Equal(x, store.Missing, r.Kind)
			require.Greater(x, r.Generation, old)
			require.Equal(x, store.Granted, x.acquire(x.b, key, 0, 1).Outcome)
		}
		x.load(x.b, "new", valueOf("v"))
		require.Equal(x, "v", x.get(x.a, "new").Value.Text)
	}
}

func invalidateAllFencesLoads(x *tier) {
	l := x.grant(x.a, "k", 0, long)
	require.NoError(x, x.b.InvalidateAll(x.Context()))
	require.ErrorIs(x, x.a.Publish(x.Context(), l, valueOf("old")), store.ErrLost)
	require.Equal(x, store.Missing, x.get(x.a, "k").Kind)
	x.load(x.b, "k", valueOf("new"))
}

func setReplaces(x *tier) {
	g, err := x.a.Set(x.Context(), "k", valueOf("one"))
	require.NoError(x, err)
	r := x.get(x.b, "k")
	require.Equal(x, g, r.Generation)
	require.Equal(x, "one", r.Value.Text)
	require.Equal(x, long, r.Life)

	_, err = x.b.Set(x.Context(), "k", store.Record[*Item]{Kind: store.Absent, Life: long})
	require.NoError(x, err)
	require.Equal(x, store.Absent, x.get(x.a, "k").Kind)
}

func setFencesLoads(x *tier) {
	l := x.grant(x.a, "k", 0, long)
	_, err := x.b.Set(x.Context(), "k", valueOf("set"))
	require.NoError(x, err)
	require.ErrorIs(x, x.a.Publish(x.Context(), l, valueOf("loaded")), store.ErrLost)
	require.Equal(x, "set", x.get(x.a, "k").Value.Text)
	require.Equal(x, store.Found, x.acquire(x.a, "k", 0, long).Outcome)
}

// A load whose lease has run out comes after the next one.
func lateLoad(x *tier) {
	late := x.grant(x.a, "k", 0, short)
	var next store.Claim[*Item]
	x.eventually(func() bool {
		next = x.acquire(x.b, "k", 0, long)
		return next.Outcome == store.Granted
	}, "the lease must end")
	require.Greater(x, next.Lease.Generation, late.Generation)
	require.NoError(x, x.b.Publish(x.Context(), next.Lease, valueOf("new")))
	require.ErrorIs(x, x.a.Publish(context.Background(), late, valueOf("old")), store.ErrLost)
	require.Equal(x, "new", x.get(x.a, "k").Value.Text)
}
