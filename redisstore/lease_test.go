package redisstore_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird/internal/redistest"
	"github.com/earlybird-cache/earlybird/internal/standstill"
	"github.com/earlybird-cache/earlybird/store"
)

// A lease that was granted after its caller had given up would keep the whole
// fleet waiting; it is given back.
func TestAcquire_lostLeaseIsGivenBack(t *testing.T) {
	t.Parallel()
	standstill.Rounds(t, brief, func(t testing.TB) {
		server := redistest.Start(t)
		proxy := redistest.NewProxy(t, server.Addr)
		s, other := open(t, brisk(proxy.Addr)), open(t, patient[string](server.Addr))
		set(t, s, "warm", "v")
		proxy.Delay(300 * time.Millisecond)
		_, err := s.Acquire(t.Context(), "key", 0, time.Hour)
		require.ErrorIs(t, err, store.ErrUnavailable)
		grant(t, other, "key")
	})
}

// Who waits behind a connection that has gone silent does not wait for ever.
func TestWait_behindABlackHole(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	proxy := redistest.NewProxy(t, server.Addr)
	opts := brisk(proxy.Addr)
	opts.Timeout = patient[string]().Timeout // the wait is to begin, however busy the machine is
	s, other := open(t, opts), open(t, patient[string](server.Addr))
	claim, err := other.Acquire(t.Context(), "key", 0, time.Hour)
	require.NoError(t, err)
	woken := make(chan error, 1)
	set(t, s, "warm", "v")
	before := s.Stats().Waits.Done
	go func() { woken <- s.Wait(context.Background(), "key", 0) }()
	eventually(t, func() error {
		if s.Stats().Waits.Done == before {
			return fmt.Errorf("not waiting")
		}
		return nil
	})
	proxy.BlackHole(true)
	require.NoError(t, other.Publish(t.Context(), claim.Lease, value("v")))
	select {
	case err := <-woken:
		if err != nil {
			require.ErrorIs(t, err, store.ErrUnavailable)
		}
	case <-time.After(20 * time.Second):
		require.Fail(t, "it waits for a server that is not there")
	}
}

// grant acquires the lease of key for an hour. One that a busy machine has lost is
// given back first.
func grant(t testing.TB, s store.Store[string], key string) (l store.Lease) {
	t.Helper()
	eventually(t, func() error {
		c, err := s.Acquire(t.Context(), key, 0, time.Hour)
		if err == nil && c.Outcome != store.Granted {
			err = fmt.Errorf("%v for %v", c.Outcome, c.Left)
		}
		l = c.Lease
		return err
	})
	return l
}

// A publish that its sender gave up may still arrive, before or after a change:
// in the end the old value is gone.
func TestPublish_lateOneIsFenced(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	s, other := open(t, brisk(server.Addr)), open(t, patient[string](server.Addr))
	for range 5 {
		set(t, s, "warm", "v")
		lease := grant(t, s, "key")
		server.Stop()
		require.ErrorIs(t, s.Publish(t.Context(), lease, value("old")), store.ErrUnavailable)
		changed := make(chan error)
		go func() { changed <- other.Invalidate(t.Context(), "key") }()
		server.Continue()
		require.NoError(t, <-changed)
		set(t, s, "warm", "w") // behind the publish, on the same connection or after it
		require.NoError(t, finds(t, other, "key", ""))
	}
}

// Two instances elected for the same refresh cost one load: the second adopts.
func TestAcquire_theSecondInstanceAdopts(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	a, b := open(t, patient[string](server.Addr)), open(t, patient[string](server.Addr))
	set(t, a, "key", "v1")
	held, err := b.Get(t.Context(), "key")
	require.NoError(t, err)
	claim, err := a.Acquire(t.Context(), "key", held.Generation, long)
	require.NoError(t, err)
	require.Equal(t, store.Granted, claim.Outcome)
	next := value("v2")
	next.Life = 30 * time.Second
	require.NoError(t, a.Publish(t.Context(), claim.Lease, next))
	second, err := b.Acquire(t.Context(), "key", held.Generation, long)
	require.NoError(t, err)
	require.Equal(t, store.Found, second.Outcome)
	require.Equal(t, "v2", second.Record.Value)
	require.LessOrEqual(t, second.Record.Left, 30*time.Second)

	cold := open(t, patient[string](server.Addr))
	require.NoError(t, finds(t, cold, "key", "v2"), "written although the old value was still there")
}

func TestStore_evictedLeasePublishesNothing(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, "--maxmemory", "3mb", "--maxmemory-policy", "allkeys-random")
	s := open(t, patient[string](server.Addr))
	claim, err := s.Acquire(t.Context(), "key", 0, long)
	require.NoError(t, err)
	for i := 0; s.Stats().Lost == 0; i++ {
		require.Less(t, i, 100_000)
		server.Do("SET", fmt.Sprint("filler", i), strings.Repeat("x", 100_000))
		if server.Do("EXISTS", "eb:l:{"+tagOf(t, server, "key")+"}key") == "0" {
			require.ErrorIs(t, s.Publish(t.Context(), claim.Lease, value("v")), store.ErrLost)
		}
	}
	require.NoError(t, finds(t, s, "key", ""))
}
