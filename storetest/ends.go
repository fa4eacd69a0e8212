package storetest

import (
	"context"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird/store"
)

var ends = []promise{
	{"DoneContextIsNoticed", doneContext, anyLease},
	{"CloseReleasesAndRefuses", closeReleases, anyLease},
	{"StatsCount", statsCount, anyLease},
}

func doneContext(x *tier) {
	x.load(x.a, "k", valueOf("v"))
	l := x.grant(x.a, "other", 0, long)
	ctx, cancel := context.WithCancel(x.Context())
	cancel()
	_, err := x.a.Get(ctx, "k")
	require.ErrorIs(x, err, context.Canceled)
	require.ErrorIs(x, x.a.GetMany(ctx, []string{"k"})[0].Err, context.Canceled)
	_, err = x.a.Acquire(ctx, "new", 0, long)
	require.ErrorIs(x, err, context.Canceled)
	require.ErrorIs(x, x.a.Publish(ctx, l, valueOf("v")), context.Canceled)
	_, err = x.a.Set(ctx, "k", valueOf("v"))
	require.ErrorIs(x, err, context.Canceled)
	require.ErrorIs(x, x.a.Fail(ctx, l, 0), context.Canceled)
	require.ErrorIs(x, x.a.Wait(ctx, "other", 0), context.Canceled)
	require.ErrorIs(x, x.a.InvalidateAll(ctx), context.Canceled)
	require.Zero(x, x.a.Stats().Gets.Errors(), "a caller that leaves is not the tier's fault")

	require.NoError(x, x.a.Publish(x.Context(), l, valueOf("v")), "nothing came of all that")
	require.NoError(x, x.a.Invalidate(ctx, "k"), "an invalidation is not called off")
	require.Equal(x, store.Missing, x.get(x.b, "k").Kind)
}

func closeReleases(x *tier) {
	x.load(x.a, "k", valueOf("v"))
	l := x.grant(x.a, "held", 0, long)
	released := make(chan error)
	go func() {
		var err error
		for err == nil { // it may return for nothing
			err = x.b.Wait(context.Background(), "held", 0)
		}
		released <- err
	}()
	x.eventually(func() bool { return x.b.Stats().Waits.Done > 0 }, "it must be waiting")
	require.NoError(x, x.b.Close())
	require.ErrorIs(x, <-released, store.ErrClosed)
	require.NoError(x, x.b.Close())

	ctx := x.Context()
	_, err := x.b.Get(ctx, "k")
	require.ErrorIs(x, err, store.ErrClosed)
	require.ErrorIs(x, x.b.GetMany(ctx, []string{"k"})[0].Err, store.ErrClosed)
	_, err = x.b.Acquire(ctx, "k", 0, long)
	require.ErrorIs(x, err, store.ErrClosed)
	require.ErrorIs(x, x.b.Publish(ctx, l, valueOf("v")), store.ErrClosed)
	_, err = x.b.Set(ctx, "k", valueOf("v"))
	require.ErrorIs(x, err, store.ErrClosed)
	require.ErrorIs(x, x.b.Fail(ctx, l, 0), store.ErrClosed)
	require.ErrorIs(x, x.b.Wait(ctx, "k", 0), store.ErrClosed)
	require.ErrorIs(x, x.b.Invalidate(ctx, "k"), store.ErrClosed)
	require.ErrorIs(x, x.b.InvalidateAll(ctx), store.ErrClosed)
	x.b.Stats()
	require.Equal(x, store.Value, x.get(x.a, "k").Kind, "the tier lives on")
}

func statsCount(x *tier) {
	x.get(x.a, "k")
	l := x.load(x.a, "k", valueOf("v"))
	x.get(x.a, "k")
	x.a.GetMany(x.Context(), []string{"k", "l"})
	require.ErrorIs(x, x.a.Publish(x.Context(), l, valueOf("v")), store.ErrLost)
	require.NoError(x, x.a.Invalidate(x.Context(), "k", "l"))
	s := x.a.Stats()
	require.EqualValues(x, 3, s.Gets.Done)
	require.EqualValues(x, 2, s.Found)
	require.EqualValues(x, 2, s.Missing)
	require.EqualValues(x, 1, s.Granted)
	require.EqualValues(x, 1, s.Lost)
	require.EqualValues(x, 2, s.Publishes.Done)
	require.EqualValues(x, 1, s.Invalidations.Done)
	require.Zero(x, s.Gets.Errors()+s.Publishes.Errors()+s.Damaged+uint64(s.Pending)+uint64(s.Open))
	require.Positive(x, s.Parts)
}
