package storetest

import (
	"context"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird/store"
)

var waiting = []promise{
	{"WaiterIsWokenByPublish", func(x *tier) {
		x.wakes(func(l store.Lease) error { return x.a.Publish(x.Context(), l, valueOf("v")) })
	}, exclusive},
	{"WaiterIsWokenByFail", func(x *tier) {
		x.wakes(func(l store.Lease) error { return x.a.Fail(x.Context(), l, 0) })
	}, exclusive},
	{"WaiterIsWokenByCooling", func(x *tier) {
		x.wakes(func(l store.Lease) error { return x.a.Fail(x.Context(), l, long) })
	}, exclusive},
	{"WaiterIsWokenByInvalidate", func(x *tier) {
		x.wakes(func(l store.Lease) error { return x.a.Invalidate(x.Context(), l.Key) })
	}, exclusive},
	{"WaiterIsWokenByInvalidateAll", func(x *tier) {
		x.wakes(func(store.Lease) error { return x.a.InvalidateAll(x.Context()) })
	}, exclusive},
	{"WaiterIsWokenBySet", func(x *tier) {
		x.wakes(func(l store.Lease) error { _, err := x.b.Set(x.Context(), l.Key, valueOf("v")); return err })
	}, exclusive},
	{"WaiterIsWokenWhenTheLeaseEnds", waiterOutlastsLease, exclusive},
	{"WaiterLeavesWithItsContext", waiterLeaves, exclusive},
	{"NothingToWaitFor", nothingToWaitFor, anyLease},
	{"WaitMissesNothing", waitMissesNothing, exclusive},
}

// wakes lets somebody wait for a lease, ends it, and sees whether he wakes. How
// soon is not judged here, only that it is not the lease's own end that does it.
func (x *tier) wakes(end func(store.Lease) error) {
	x.Helper()
	l := x.grant(x.a, "k", 0, long)
	for _, s := range []store.Store[*Item]{x.b, x.b, x.a} {
		require.Equal(x, store.Busy, x.acquire(s, "k", 0, long).Outcome)
	}
	woken := make(chan error, 3)
	for _, s := range []store.Store[*Item]{x.b, x.b, x.a} {
		go func() { woken <- s.Wait(x.Context(), "k", 0) }()
	}
	x.eventually(func() bool { return x.a.Stats().Waits.Done+x.b.Stats().Waits.Done == 3 }, "they must be waiting")
	require.NoError(x, end(l))
	for range 3 {
		select {
		case err := <-woken:
			require.NoError(x, err)
		case <-time.After(patient):
			require.Fail(x, "not woken")
		}
	}
}

func waiterOutlastsLease(x *tier) {
	x.grant(x.a, "k", 0, short)
	if c := x.acquire(x.b, "k", 0, long); c.Outcome == store.Granted { // a slow machine
		return
	}
	x.eventually(func() bool {
		require.NoError(x, x.b.Wait(x.Context(), "k", 0))
		return x.acquire(x.b, "k", 0, long).Outcome == store.Granted
	}, "the lease must end")
}

func waiterLeaves(x *tier) {
	x.grant(x.a, "k", 0, long)
	ctx, cancel := context.WithTimeout(x.Context(), short)
	defer cancel()
	for ctx.Err() == nil {
		if err := x.b.Wait(ctx, "k", 0); err != nil {
			require.ErrorIs(x, err, context.DeadlineExceeded)
		}
	}
	ctx, cancel = context.WithCancel(x.Context())
	left := make(chan error)
	before := x.b.Stats().Waits.Done
	go func() { left <- x.b.Wait(ctx, "k", 0) }()
	x.eventually(func() bool { return x.b.Stats().Waits.Done > before }, "it must be waiting")
	cancel()
	if err := <-left; err != nil { // or woken for nothing
		require.ErrorIs(x, err, context.Canceled)
	}
}

func nothingToWaitFor(x *tier) {
	require.NoError(x, x.a.Wait(x.Context(), "nobody is at it", 0))
	l := x.load(x.a, "k", valueOf("v"))
	require.NoError(x, x.b.Wait(x.Context(), "k", 0))
	x.grant(x.a, "k", l.Generation, long)
	require.NoError(x, x.b.Wait(x.Context(), "k", 0), "there is something newer")
	l = x.grant(x.a, "cooling", 0, long)
	require.NoError(x, x.a.Fail(x.Context(), l, long))
	require.NoError(x, x.b.Wait(x.Context(), "cooling", 0), "nobody is loading")
}

// What happens between Acquire and Wait is not missed: no waiter sleeps on.
func waitMissesNothing(x *tier) {
	for i := range 100 {
		var have store.Generation
		if r := x.get(x.a, "k"); r.Kind == store.Value {
			have = r.Generation
		}
		l := x.grant(x.a, "k", have, long)
		woken := make(chan error)
		go func() { woken <- x.b.Wait(x.Context(), "k", have) }()
		if i%2 == 0 {
			require.NoError(x, x.a.Publish(x.Context(), l, valueOf("v")))
		} else {
			require.NoError(x, x.a.Fail(x.Context(), l, 0))
		}
		select {
		case err := <-woken:
			require.NoError(x, err)
		case <-time.After(patient):
			require.Fail(x, "slept on", "round %d", i)
		}
	}
}
