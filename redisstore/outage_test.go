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

// outage makes calls until the store leaves the server alone, and sees that each
// came back in time with the right error.
func outage(t testing.TB, s store.Store[string]) {
	t.Helper()
	for began, left := time.Now(), false; !left; {
		require.Less(t, time.Since(began), 30*time.Second, "it must be left alone")
		var err error
		inTime(t, soon, func() { _, err = s.Get(context.Background(), "key") })
		if err == nil { // not noticed yet
			continue
		}
		require.ErrorIs(t, err, store.ErrUnavailable)
		now := s.Stats() // a server that is only slow may be tried again at any time
		left = now.Gets.Skipped > 0 && now.Open > 0
	}
	require.Positive(t, s.Stats().Opened, "after failures, be they of other methods")
	require.NotEmpty(t, s.Stats().LastError)
}

// recovers sees that the store comes back by itself, does in the end what it was
// told meanwhile, and then works.
func recovers(t testing.TB, s, other store.Store[string]) {
	t.Helper()
	eventually(t, func() error { _, err := s.Get(t.Context(), "key"); return err })
	eventually(t, func() error {
		if n := s.Stats().Pending; n > 0 {
			return fmt.Errorf("%d pending", n)
		}
		return nil
	})
	eventually(t, func() error { return finds(t, other, "doomed", "") })
	set(t, s, "key", "again")
	eventually(t, func() error { return finds(t, other, "key", "again") })
	eventually(t, func() error {
		if n := s.Stats().Open; n > 0 {
			return fmt.Errorf("%d open", n)
		}
		return nil
	})
}

// through lets a store live through an outage of its server.
func through(t testing.TB, s, other store.Store[string], begin, end func()) {
	t.Helper()
	set(t, s, "key", "before")
	set(t, s, "doomed", "doomed")
	begin()
	outage(t, s)
	var pending *store.PendingError
	require.ErrorAs(t, s.Invalidate(t.Context(), "doomed"), &pending)
	require.Equal(t, []string{"doomed"}, pending.Keys)
	inTime(t, soon, func() {
		_, err := s.Acquire(t.Context(), "doomed", 0, long)
		require.ErrorIs(t, err, store.ErrUnavailable)
	})
	end()
	recovers(t, s, other)
}

func TestStore_survivesAKilledServer(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	s, other := open(t, brisk(server.Addr)), open(t, brisk(server.Addr))
	through(t, s, other, server.Kill, server.Restart)
}

func TestStore_survivesAStoppedServer(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	s, other := open(t, brisk(server.Addr)), open(t, brisk(server.Addr))
	through(t, s, other, server.Stop, server.Continue)
}

// A server that goes on after a long stop is read again soon.
func TestStore_readsAgainSoon(t *testing.T) {
	t.Parallel()
	standstill.Rounds(t, 5*brief, func(t testing.TB) {
		server := redistest.Start(t)
		s := open(t, brisk(server.Addr))
		set(t, s, "key", "v")
		server.Stop()
		outage(t, s)
		time.Sleep(4 * time.Second) // until the pauses between two questions are at their longest
		server.Continue()
		back := time.Now()
		eventually(t, func() error { _, err := s.Get(t.Context(), "key"); return err })
		t.Logf("after %v", time.Since(back))
		require.Less(t, time.Since(back), 1500*time.Millisecond)
	})
}

func TestStore_survivesAPausedServer(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	s, other := open(t, brisk(server.Addr)), open(t, brisk(server.Addr))
	through(t, s, other,
		func() { server.Do("CLIENT", "PAUSE", "3600000", "ALL") },
		func() { server.Restart() })
}

func TestStore_survivesABlackHole(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	proxy := redistest.NewProxy(t, server.Addr)
	s, other := open(t, brisk(proxy.Addr)), open(t, brisk(server.Addr))
	through(t, s, other, func() { proxy.BlackHole(true) }, func() { proxy.BlackHole(false); proxy.Break() })
}

// What is sent during a pause is done at its end.
func TestStore_survivesAPauseThatEnds(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	s, other := open(t, brisk(server.Addr)), open(t, brisk(server.Addr))
	through(t, s, other, func() { server.Do("CLIENT", "PAUSE", "10000", "ALL") }, func() {})
}

// A server that lets writes wait is used as before when it no longer does. Reads wait
// behind a write until its connection is given up.
func TestStore_survivesAPauseOfWrites(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	s, other := open(t, brisk(server.Addr)), open(t, brisk(server.Addr))
	set(t, s, "key", "before")
	set(t, s, "doomed", "doomed")
	server.Do("CLIENT", "PAUSE", "3600000", "WRITE")
	_, err := s.Set(t.Context(), "key", value("after"))
	require.ErrorIs(t, err, store.ErrUnavailable)
	var pending *store.PendingError
	require.ErrorAs(t, s.Invalidate(t.Context(), "doomed"), &pending)
	require.Equal(t, []string{"doomed"}, pending.Keys)
	server.Do("CLIENT", "UNPAUSE")
	recovers(t, s, other)
}

// Whoever is not heard may have been obeyed: a change that was made without being
// confirmed is made again, and nothing comes of a lease that nobody knows of.
func TestStore_survivesLostReplies(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	proxy := redistest.NewProxy(t, server.Addr)
	s, other := open(t, brisk(proxy.Addr)), open(t, brisk(server.Addr))
	through(t, s, other, func() { proxy.Deafen(true) }, func() { proxy.Deafen(false); proxy.Break() })
}

func TestStore_survivesASlowNetwork(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	proxy := redistest.NewProxy(t, server.Addr)
	s, other := open(t, brisk(proxy.Addr)), open(t, brisk(server.Addr))
	through(t, s, other, func() { proxy.Delay(600 * time.Millisecond) }, func() { proxy.Delay(0) })
}

// A batch that gets no answer is one failure, however many keys it has.
func TestGetMany_isOneFailure(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	proxy := redistest.NewProxy(t, server.Addr)
	s := open(t, brisk(proxy.Addr))
	set(t, s, "key", "v")
	eventually(t, func() error { return finds(t, s, "key", "v") }) // which ends a row of failures
	opened := s.Stats().Opened
	proxy.BlackHole(true)
	keys := strings.Split(strings.Repeat("key ", 100), " ")
	for _, r := range s.GetMany(t.Context(), keys) {
		require.ErrorIs(t, r.Err, store.ErrUnavailable)
	}
	require.Equal(t, opened, s.Stats().Opened)
	proxy.BlackHole(false)
	proxy.Break()
	eventually(t, func() error { return finds(t, s, "key", "v") })
}

func TestStore_survivesBrokenConnections(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	s := open(t, brisk(server.Addr))
	for i := range 5 {
		set(t, s, "key", fmt.Sprint(i))
		server.Do("CLIENT", "KILL", "TYPE", "normal")
		eventually(t, func() error { return finds(t, s, "key", fmt.Sprint(i)) })
	}
}

// A server that is down when the program starts is no reason not to start.
func TestNew_connectsLater(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	server.Kill()
	s := open(t, brisk(server.Addr))
	_, err := s.Get(t.Context(), "key")
	require.ErrorIs(t, err, store.ErrUnavailable)
	require.NotEmpty(t, s.Stats().LastError)
	require.Error(t, s.Invalidate(t.Context(), "doomed"))
	server.Restart()
	recovers(t, s, open(t, brisk(server.Addr)))
}
