package storetest_test

import (
	"context"
	"errors"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird/store"
	"github.com/earlybird-cache/earlybird/storetest"
)

const (
	long   = time.Minute
	budget = 50 * time.Millisecond
)

func value(s string) store.Record[string] {
	return store.Record[string]{Kind: store.Value, Value: s, Life: long}
}

// bubble runs f in virtual time, with a tier whose next call meets the fault.
func bubble(t *testing.T, f func(t *testing.T, m *storetest.Memory[string], next *atomic.Pointer[storetest.Fault])) {
	synctest.Test(t, func(t *testing.T) {
		next := new(atomic.Pointer[storetest.Fault])
		f(t, storetest.NewMemory(storetest.Options[string]{
			Latency: time.Millisecond,
			Fault: func(storetest.Call) storetest.Fault {
				if fault := next.Swap(nil); fault != nil {
					return *fault
				}
				return storetest.Fault{}
			},
		}), next)
	})
}

func TestMemory_latencyIsARoundTrip(t *testing.T) {
	bubble(t, func(t *testing.T, m *storetest.Memory[string], _ *atomic.Pointer[storetest.Fault]) {
		c := m.Client()
		defer c.Close()
		began := time.Now()
		_, err := c.Get(t.Context(), "k")
		require.NoError(t, err)
		require.Equal(t, 2*time.Millisecond, time.Since(began))
	})
}

func TestMemory_lostMessagesCostTheBudget(t *testing.T) {
	for _, fault := range []storetest.Fault{{LoseRequest: true}, {LoseReply: true}, {Delay: time.Second}} {
		bubble(t, func(t *testing.T, m *storetest.Memory[string], next *atomic.Pointer[storetest.Fault]) {
			c := m.Client()
			defer c.Close()
			began := time.Now()
			next.Store(&fault)
			_, err := c.Set(t.Context(), "k", value("v"))
			require.ErrorIs(t, err, store.ErrUnavailable)
			require.Equal(t, budget, time.Since(began))
			s := c.Stats()
			require.EqualValues(t, 1, s.Sets.TimedOut)
			require.EqualValues(t, 1, s.Sets.Failed)
			require.Contains(t, s.LastError, "Set")

			r, err := c.Get(t.Context(), "k")
			require.NoError(t, err)
			require.Equal(t, fault.LoseReply, r.Kind == store.Value, "it was done only if the request arrived")
			time.Sleep(time.Second)
			r, err = c.Get(t.Context(), "k")
			require.NoError(t, err)
			require.Equal(t, !fault.LoseRequest, r.Kind == store.Value, "late is not never")
		})
	}
}

func TestMemory_callersDeadlineComesFirst(t *testing.T) {
	bubble(t, func(t *testing.T, m *storetest.Memory[string], next *atomic.Pointer[storetest.Fault]) {
		c := m.Client()
		defer c.Close()
		next.Store(&storetest.Fault{LoseRequest: true})
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
		defer cancel()
		began := time.Now()
		_, err := c.Get(ctx, "k")
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.NotErrorIs(t, err, store.ErrUnavailable)
		require.Equal(t, 5*time.Millisecond, time.Since(began))
		require.Zero(t, c.Stats().Gets.Errors())
	})
}

func TestMemory_errorsAreTheTiers(t *testing.T) {
	bubble(t, func(t *testing.T, m *storetest.Memory[string], next *atomic.Pointer[storetest.Fault]) {
		c := m.Client()
		defer c.Close()
		oom := errors.New("out of memory")
		next.Store(&storetest.Fault{Err: oom})
		_, err := c.Set(t.Context(), "k", value("v"))
		require.ErrorIs(t, err, store.ErrUnavailable)
		require.ErrorIs(t, err, oom)
		require.Zero(t, c.Stats().Sets.TimedOut)
	})
}

// The variant of a slow load against an invalidation where the two are on
// different instances and the publish is under way when the change comes.
func TestMemory_publishOvertakenByAnInvalidation(t *testing.T) {
	bubble(t, func(t *testing.T, m *storetest.Memory[string], next *atomic.Pointer[storetest.Fault]) {
		a, b := m.Client(), m.Client()
		defer a.Close()
		defer b.Close()
		claim, err := a.Acquire(t.Context(), "k", 0, long)
		require.NoError(t, err)
		next.Store(&storetest.Fault{Delay: 200 * time.Millisecond})
		require.ErrorIs(t, a.Publish(t.Context(), claim.Lease, value("old")), store.ErrUnavailable)
		require.NoError(t, b.Invalidate(t.Context(), "k"))
		time.Sleep(time.Second)
		r, err := b.Get(t.Context(), "k")
		require.NoError(t, err)
		require.Equal(t, store.Missing, r.Kind)
	})
}

func TestMemory_partitionedClientIsAlone(t *testing.T) {
	bubble(t, func(t *testing.T, m *storetest.Memory[string], _ *atomic.Pointer[storetest.Fault]) {
		a, b := m.Client(), m.Client()
		defer a.Close()
		defer b.Close()
		_, err := a.Set(t.Context(), "k", value("old"))
		require.NoError(t, err)
		m.Cut(a.ID())
		_, err = a.Get(t.Context(), "k")
		require.ErrorIs(t, err, store.ErrUnavailable)
		_, err = b.Get(t.Context(), "k")
		require.NoError(t, err)

		var pending *store.PendingError
		require.ErrorAs(t, a.Invalidate(t.Context(), "k"), &pending)
		require.Equal(t, []string{"k"}, pending.Keys)
		require.Equal(t, 1, a.Stats().Pending)
		time.Sleep(10 * time.Second)
		r, err := b.Get(t.Context(), "k")
		require.NoError(t, err)
		require.Equal(t, "old", r.Value)

		m.Heal()
		r, err = a.Get(t.Context(), "k")
		require.NoError(t, err)
		require.Equal(t, store.Missing, r.Kind, "what is to be forgotten is not found by those who said so")
		time.Sleep(time.Minute)
		r, err = b.Get(t.Context(), "k")
		require.NoError(t, err)
		require.Equal(t, store.Missing, r.Kind)
		require.Zero(t, a.Stats().Pending)
		require.EqualValues(t, 1, a.Stats().Retried)
	})
}

func TestMemory_acquireMakesUpForAnOverdueInvalidation(t *testing.T) {
	bubble(t, func(t *testing.T, m *storetest.Memory[string], _ *atomic.Pointer[storetest.Fault]) {
		a := m.Client()
		defer a.Close()
		_, err := a.Set(t.Context(), "k", value("old"))
		require.NoError(t, err)
		m.Cut(a.ID())
		require.Error(t, a.Invalidate(t.Context(), "k"))
		_, err = a.Acquire(t.Context(), "k", 0, long)
		require.ErrorIs(t, err, store.ErrUnavailable)
		m.Heal()
		claim, err := a.Acquire(t.Context(), "k", 0, long)
		require.NoError(t, err)
		require.Equal(t, store.Granted, claim.Outcome)
		require.NoError(t, a.Publish(t.Context(), claim.Lease, value("new")))
		r, err := a.Get(t.Context(), "k")
		require.NoError(t, err)
		require.Equal(t, "new", r.Value)
		time.Sleep(time.Hour)
		r, err = a.Get(t.Context(), "j")
		require.NoError(t, err)
		require.Zero(t, a.Stats().Pending, "%v", r)
	})
}

func TestMemory_evictedLeasePublishesNothing(t *testing.T) {
	bubble(t, func(t *testing.T, m *storetest.Memory[string], _ *atomic.Pointer[storetest.Fault]) {
		c := m.Client()
		defer c.Close()
		for i, evict := range []func(string){m.EvictLease, m.Evict, func(string) { m.Lose() }} {
			key := strconv.Itoa(i)
			claim, err := c.Acquire(t.Context(), key, 0, long)
			require.NoError(t, err)
			evict(key)
			require.ErrorIs(t, c.Publish(t.Context(), claim.Lease, value("v")), store.ErrLost)
			require.Zero(t, m.Len())
			claim, err = c.Acquire(t.Context(), key, 0, long)
			require.NoError(t, err)
			require.Equal(t, store.Granted, claim.Outcome)
		}
	})
}

func TestMemory_waiterBehindAPartitionWakesWhenTheLeaseEnds(t *testing.T) {
	bubble(t, func(t *testing.T, m *storetest.Memory[string], _ *atomic.Pointer[storetest.Fault]) {
		a, b := m.Client(), m.Client()
		defer a.Close()
		defer b.Close()
		claim, err := a.Acquire(t.Context(), "k", 0, long)
		require.NoError(t, err)
		woken := make(chan error)
		began := time.Now()
		go func() { woken <- b.Wait(t.Context(), "k", 0) }()
		time.Sleep(10 * time.Millisecond)
		m.Cut(b.ID())
		require.NoError(t, a.Publish(t.Context(), claim.Lease, value("v")))
		require.NoError(t, <-woken)
		require.InDelta(t, long, time.Since(began), float64(10*time.Millisecond))
	})
}

// A watcher that is cut off does not hear, and knows it after a while.
func TestMemory_partitionedWatcherLosesItsWatches(t *testing.T) {
	bubble(t, func(t *testing.T, m *storetest.Memory[string], _ *atomic.Pointer[storetest.Fault]) {
		a, b := m.Client(), m.Client()
		defer a.Close()
		defer b.Close()
		var told, lost atomic.Int32
		a.Notify(func(string) { told.Add(1) }, func() { lost.Add(1) })
		_, err := b.Set(t.Context(), "k", value("old"))
		require.NoError(t, err)
		watch := func() bool {
			_, watched, err := a.Watch(t.Context(), "k")
			require.NoError(t, err)
			return watched
		}
		require.True(t, watch())
		m.Cut(a.ID())
		_, err = b.Set(t.Context(), "k", value("new"))
		require.NoError(t, err)
		time.Sleep(900 * time.Millisecond)
		require.Zero(t, told.Load()+lost.Load())
		time.Sleep(200 * time.Millisecond)
		require.EqualValues(t, 1, lost.Load())
		_, watched, err := a.Watch(t.Context(), "k")
		require.ErrorIs(t, err, store.ErrUnavailable)
		require.False(t, watched)
		m.Heal()
		require.True(t, watch())
		_, err = b.Set(t.Context(), "k", value("newer"))
		require.NoError(t, err)
		time.Sleep(10 * time.Millisecond)
		require.EqualValues(t, 1, told.Load())
		require.True(t, watch())
		m.Evict("k")
		time.Sleep(10 * time.Millisecond)
		require.EqualValues(t, 2, told.Load())
		m.Lose()
		time.Sleep(10 * time.Millisecond)
		require.EqualValues(t, 2, lost.Load())
		require.Zero(t, a.Stats().Watched)
	})
}

func TestMemory_lostNotificationIsALostConnection(t *testing.T) {
	for _, fault := range []storetest.Fault{{LoseRequest: true}, {LoseReply: true}, {Err: errors.New("broken")}, {Delay: 5 * time.Second}} {
		synctest.Test(t, func(t *testing.T) {
			m := storetest.NewMemory(storetest.Options[string]{Heartbeat: 3 * time.Second, Fault: func(c storetest.Call) storetest.Fault {
				if c.Method == "Notify" {
					return fault
				}
				return storetest.Fault{}
			}})
			a := m.Client()
			defer a.Close()
			began := time.Now()
			var told, lost atomic.Int64
			a.Notify(func(string) { told.Store(int64(time.Since(began))) }, func() { lost.Store(int64(time.Since(began))) })
			_, err := a.Set(t.Context(), "k", value("old"))
			require.NoError(t, err)
			_, watched, err := a.Watch(t.Context(), "k")
			require.NoError(t, err)
			require.True(t, watched)
			require.NoError(t, a.Invalidate(t.Context(), "k"))
			time.Sleep(10 * time.Second)
			if fault.Delay > 0 {
				require.EqualValues(t, fault.Delay, told.Load())
				return
			}
			require.Zero(t, told.Load())
			require.EqualValues(t, 3*time.Second, lost.Load())
		})
	}
}
