package storetest

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird/store"
)

var leases = []promise{
	{"OneLoadsTheOthersAreBusy", oneLoads, exclusive},
	{"SharedLeaseIsGrantedToAll", sharedLease, shared},
	{"SharedLeaseIsFirmerTheLaterItIsGranted", sharedLeaseIsProlonged, shared},
	{"NewerRecordIsFound", newerRecordIsFound, anyLease},
	{"LeaseEndsByItself", leaseEnds, anyLease},
	{"LeaseIsUsedUp", leaseIsUsedUp, anyLease},
	{"UnknownLeaseIsRefused", unknownLease, anyLease},
	{"LeasesOfKeysAreApart", leasesAreApart, exclusive},
	{"GenerationsRise", generationsRise, anyLease},
	{"FailCoolsDown", failCoolsDown, anyLease},
	{"FailLetsTheNextTry", failLetsTheNextTry, exclusive},
	{"FailOfALostLeaseDoesNothing", failOfALostLease, exclusive},
	{"FailKeepsTheRecord", failKeepsTheRecord, anyLease},
	{"RefreshKeepsTheRecordUntilPublished", refreshKeepsTheRecord, anyLease},
}

func oneLoads(x *tier) {
	var granted atomic.Int32
	var wg sync.WaitGroup
	clients := []store.Store[*Item]{x.a, x.b, x.client(), x.client()}
	for i := range 32 {
		wg.Go(func() {
			c, err := clients[i%len(clients)].Acquire(x.Context(), "k", 0, long)
			switch {
			case err != nil:
				x.Error(err)
			case c.Outcome == store.Granted:
				granted.Add(1)
			case c.Outcome != store.Busy, c.Cooling, c.Left <= 0, c.Left > long:
				x.Errorf("%+v", c)
			}
		})
	}
	wg.Wait()
	require.EqualValues(x, 1, granted.Load())
}

func sharedLease(x *tier) {
	one, two := x.grant(x.a, "k", 0, long), x.grant(x.b, "k", 0, long)
	require.NoError(x, x.b.Publish(x.Context(), two, valueOf("two")))
	require.ErrorIs(x, x.a.Publish(x.Context(), one, valueOf("one")), store.ErrLost)
	require.Equal(x, "two", x.get(x.a, "k").Value.Text)
}

// Whoever joins late has the whole life before him.
func sharedLeaseIsProlonged(x *tier) {
	one := x.grant(x.a, "k", 0, short)
	x.grant(x.b, "k", 0, long)
	x.grant(x.b, "k", 0, short)
	never := x.grant(x.b, "other", 0, short)
	x.eventually(func() bool {
		return x.a.Publish(x.Context(), never, valueOf("late")) != nil || x.a.Invalidate(x.Context(), "other") != nil
	}, "the shorter life must end")
	require.NoError(x, x.a.Publish(x.Context(), one, valueOf("one")))
}

func newerRecordIsFound(x *tier) {
	l := x.load(x.a, "k", valueOf("v"))
	for _, have := range []store.Generation{0, l.Generation - 1} {
		c := x.acquire(x.b, "k", have, long)
		require.Equal(x, store.Found, c.Outcome)
		require.Equal(x, "v", c.Record.Value.Text)
		require.Equal(x, l.Generation, c.Record.Generation)
		require.Positive(x, c.Record.Left)
		require.Equal(x, long, c.Record.Life)
	}
	x.grant(x.b, "k", l.Generation, long)
}

func leaseEnds(x *tier) {
	for _, life := range []time.Duration{short, 1} {
		late := x.grant(x.a, "k", 0, life)
		x.eventually(func() bool {
			time.Sleep(2 * short) // asking for a shared lease prolongs it
			c := x.acquire(x.b, "k", 0, life)
			return c.Outcome == store.Granted && c.Lease.Token != late.Token
		}, "the lease must end")
		require.ErrorIs(x, x.a.Publish(x.Context(), late, valueOf("late")), store.ErrLost)
		require.Equal(x, store.Missing, x.get(x.b, "k").Kind)
		require.NoError(x, x.a.Invalidate(x.Context(), "k"))
	}
}

func leaseIsUsedUp(x *tier) {
	l := x.load(x.a, "k", valueOf("once"))
	require.ErrorIs(x, x.a.Publish(x.Context(), l, valueOf("twice")), store.ErrLost)
	require.Equal(x, "once", x.get(x.b, "k").Value.Text)
}

func unknownLease(x *tier) {
	for _, l := range []store.Lease{
		{Key: "k"},
		{Key: "k", Generation: 1 << 52, Token: "never granted"},
	} {
		require.ErrorIs(x, x.a.Publish(x.Context(), l, valueOf("v")), store.ErrLost)
		require.NoError(x, x.a.Fail(x.Context(), l, long))
	}
	l := x.grant(x.b, "k", 0, long)
	l.Key = "other"
	require.ErrorIs(x, x.b.Publish(x.Context(), l, valueOf("v")), store.ErrLost, "a lease is for its key")
}

func leasesAreApart(x *tier) {
	one, two := x.grant(x.a, "one", 0, long), x.grant(x.b, "two", 0, long)
	require.NoError(x, x.a.Publish(x.Context(), one, valueOf("1")))
	require.Equal(x, store.Busy, x.acquire(x.a, "two", 0, long).Outcome)
	require.NoError(x, x.b.Publish(x.Context(), two, valueOf("2")))
}

func generationsRise(x *tier) {
	var last store.Generation
	rise := func(g store.Generation, what string) {
		x.Helper()
		require.Greater(x, g, last, what)
		require.LessOrEqual(x, g, store.Generation(1<<53))
		last = g
	}
	for range 3 {
		rise(x.load(x.a, "k", valueOf("v")).Generation, "load")
		g, err := x.b.Set(x.Context(), "k", valueOf("v"))
		require.NoError(x, err)
		rise(g, "set")
		require.NoError(x, x.a.Invalidate(x.Context(), "k"))
		rise(x.get(x.b, "k").Generation, "invalidation")
		require.NoError(x, x.b.InvalidateAll(x.Context()))
		rise(x.get(x.a, "k").Generation, "invalidation of all")
		l := x.grant(x.a, "k", last, long)
		rise(l.Generation, "lease")
		require.NoError(x, x.a.Fail(x.Context(), l, 0))
	}
}

func failCoolsDown(x *tier) {
	l := x.grant(x.a, "k", 0, long)
	require.NoError(x, x.a.Fail(x.Context(), l, long))
	c := x.acquire(x.b, "k", 0, long)
	require.Equal(x, store.Busy, c.Outcome)
	require.True(x, c.Cooling)
	require.Positive(x, c.Left)
	require.LessOrEqual(x, c.Left, long)
	require.ErrorIs(x, x.a.Publish(x.Context(), l, valueOf("v")), store.ErrLost)
	_, err := x.a.Set(x.Context(), "k", valueOf("set"))
	require.NoError(x, err, "a writer need not wait")

	l = x.grant(x.a, "soon", 0, long)
	require.NoError(x, x.a.Fail(x.Context(), l, short))
	x.eventually(func() bool { return x.acquire(x.b, "soon", 0, long).Outcome == store.Granted }, "cooling down must end")
}

func failLetsTheNextTry(x *tier) {
	l := x.grant(x.a, "k", 0, long)
	require.NoError(x, x.a.Fail(x.Context(), l, 0))
	x.grant(x.b, "k", 0, long)
}

func failOfALostLease(x *tier) {
	old := x.grant(x.a, "k", 0, long)
	require.NoError(x, x.a.Invalidate(x.Context(), "k"))
	l := x.grant(x.b, "k", 0, long)
	require.NoError(x, x.a.Fail(x.Context(), old, long))
	require.NoError(x, x.b.Publish(x.Context(), l, valueOf("v")))
}

// A load that fails says nothing about the key: what was there stays, and where
// nothing was there is still nothing, not an absence.
func failKeepsTheRecord(x *tier) {
	l := x.load(x.a, "k", valueOf("good"))
	refresh := x.grant(x.b, "k", l.Generation, long)
	require.NoError(x, x.b.Fail(x.Context(), refresh, long))
	r := x.get(x.a, "k")
	require.Equal(x, "good", r.Value.Text)
	require.Equal(x, l.Generation, r.Generation)
	require.Equal(x, store.Found, x.acquire(x.a, "k", 0, long).Outcome, "for those who have nothing")
	require.True(x, x.acquire(x.a, "k", l.Generation, long).Cooling)

	require.NoError(x, x.a.Fail(x.Context(), x.grant(x.a, "nothing", 0, long), long))
	require.Equal(x, store.Missing, x.get(x.b, "nothing").Kind)
}

func refreshKeepsTheRecord(x *tier) {
	l := x.load(x.a, "k", valueOf("old"))
	next := x.grant(x.b, "k", l.Generation, long)
	require.Equal(x, "old", x.get(x.a, "k").Value.Text)
	require.Equal(x, store.Found, x.acquire(x.a, "k", 0, long).Outcome, "also for those who have nothing")
	require.NoError(x, x.b.Publish(x.Context(), next, valueOf("new")))
	require.Equal(x, "new", x.get(x.a, "k").Value.Text)
	require.Equal(x, "new", x.acquire(x.a, "k", l.Generation, long).Record.Value.Text)
}
