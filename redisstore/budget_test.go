package redisstore_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird/internal/redistest"
	"github.com/earlybird-cache/earlybird/redisstore"
	"github.com/earlybird-cache/earlybird/store"
)

// methods are all that ask a server. What has no budget of its own gives up when
// the first step of it fails.
func methods(s *redisstore.Store[string]) map[string]func(context.Context) error {
	keys := make([]string, 300)
	for i := range keys {
		keys[i] = fmt.Sprint("key", i)
	}
	lease := store.Lease{Key: "key", Token: "token"}
	return map[string]func(context.Context) error{
		"Get":           func(ctx context.Context) error { _, err := s.Get(ctx, "key"); return err },
		"GetMany":       func(ctx context.Context) error { return s.GetMany(ctx, keys)[299].Err },
		"Acquire":       func(ctx context.Context) error { _, err := s.Acquire(ctx, "key", 0, long); return err },
		"Wait":          func(ctx context.Context) error { return s.Wait(ctx, "key", 0) },
		"Publish":       func(ctx context.Context) error { return s.Publish(ctx, lease, value("v")) },
		"Set":           func(ctx context.Context) error { _, err := s.Set(ctx, "key", value("v")); return err },
		"Fail":          func(ctx context.Context) error { return s.Fail(ctx, lease, long) },
		"Invalidate":    func(ctx context.Context) error { return s.Invalidate(ctx, keys...) },
		"InvalidateAll": s.InvalidateAll,
		"Watch":         func(ctx context.Context) error { _, _, err := s.Watch(ctx, "key"); return err },
		"GetCopy":       func(ctx context.Context) error { _, err := s.GetCopy(ctx, "key", 1, 3); return err },
		"Spread":        func(ctx context.Context) error { return s.Spread(ctx, "key", 3) },
	}
}

// requireBounded calls all methods at once, some times each, of a store whose
// server does not answer. More often, and a busy machine would take longer to make
// the calls than they may take.
func requireBounded(t *testing.T, s *redisstore.Store[string]) {
	t.Helper()
	inTime(t, soon, func() {
		var all sync.WaitGroup
		defer all.Wait()
		for name, call := range methods(s) {
			for range 4 {
				all.Go(func() {
					err := call(context.Background())
					var pending *store.PendingError
					if !errors.Is(err, store.ErrUnavailable) && !errors.As(err, &pending) {
						t.Errorf("%s: %v", name, err)
					}
				})
			}
		}
	})
}

// However a server is gone, no method of any caller takes longer than its budget,
// and once the server is left alone all of them together take next to nothing.
func TestStore_everyMethodKeepsItsBudget(t *testing.T) {
	t.Parallel()
	for name, strike := range map[string]func(*redistest.Server, *redistest.Proxy){
		"killed":     func(s *redistest.Server, _ *redistest.Proxy) { s.Kill() },
		"stopped":    func(s *redistest.Server, _ *redistest.Proxy) { s.Stop() },
		"paused":     func(s *redistest.Server, _ *redistest.Proxy) { s.Do("CLIENT", "PAUSE", "3600000", "ALL") },
		"black hole": func(_ *redistest.Server, p *redistest.Proxy) { p.BlackHole(true) },
		"deaf":       func(_ *redistest.Server, p *redistest.Proxy) { p.Deafen(true) },
		"cut":        func(s *redistest.Server, p *redistest.Proxy) { s.Stop(); p.Break() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := redistest.Start(t)
			proxy := redistest.NewProxy(t, server.Addr)
			s := open(t, brisk(proxy.Addr))
			set(t, s, "key", "v")
			strike(server, proxy)
			requireBounded(t, s)
			outage(t, s)
			inTime(t, soon, func() {
				for i := range 1000 {
					s.Get(t.Context(), fmt.Sprint(i%100))
				}
			})
			require.Less(t, s.Stats().Gets.Failed, uint64(500), "most were not made: %+v", s.Stats())
		})
	}
}

// late is a context whose deadline has passed and whose timer has not run yet, as
// on a busy machine.
type late struct{ context.Context }

func (late) Deadline() (time.Time, bool) { return time.Now().Add(-time.Millisecond), true }

// A caller whose deadline passes is not the server's fault, whether his context or
// the connection, which has the same deadline, notices first.
func TestStore_callersDeadlineBlamesNobody(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	server.Do("ACL", "SETUSER", "default", "-client|tracking") // then a lone call waits on the connection itself
	s := open(t, patient[string](server.Addr))
	set(t, s, "key", "v")
	claim, err := s.Acquire(t.Context(), "held", 0, long)
	require.NoError(t, err)
	before := s.Stats()
	for range 10 {
		require.NoError(t, finds(t, s, "key", "v"))
		for name, call := range map[string]func(context.Context) error{
			"Get":     func(ctx context.Context) error { _, err := s.Get(ctx, "key"); return err },
			"GetMany": func(ctx context.Context) error { return s.GetMany(ctx, []string{"key"})[0].Err },
			"Set":     func(ctx context.Context) error { _, err := s.Set(ctx, "key", value("v")); return err },
			"Wait":    func(ctx context.Context) error { return s.Wait(ctx, claim.Lease.Key, 0) },
		} {
			require.ErrorIs(t, call(late{t.Context()}), context.DeadlineExceeded, name)
		}
	}
	after := s.Stats()
	require.Equal(t, before.Gets.Errors()+before.Sets.Errors()+before.Waits.Errors(), after.Gets.Errors()+after.Sets.Errors()+after.Waits.Errors())
	require.Zero(t, after.Opened)
}

// Who asks while another call makes a new connection waits no longer than he may,
// however long that other may take.
func TestStore_nobodyWaitsForAConnection(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	proxy := redistest.NewProxy(t, server.Addr)
	opts := brisk(proxy.Addr)
	opts.WriteTimeout, opts.ConnectTimeout = 10*soon, 10*soon
	s := open(t, opts)
	set(t, s, "key", "v")
	server.Stop()
	proxy.Break()
	time.Sleep(100 * time.Millisecond) // the store finds out while nobody asks
	ctx, cancel := context.WithCancel(t.Context())
	written := make(chan error)
	go func() { _, err := s.Set(ctx, "key", value("v")); written <- err }()
	time.Sleep(100 * time.Millisecond)
	inTime(t, soon, func() {
		_, err := s.Get(t.Context(), "key")
		require.ErrorIs(t, err, store.ErrUnavailable)
	})
	server.Continue()
	cancel()
	<-written
}

// A port where somebody accepts and says nothing is no reason for New to hang,
// nor for Close.
func TestNew_beforeASilentServer(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	var s *redisstore.Store[string]
	inTime(t, soon, func() { s = open(t, brisk(l.Addr().String())) })
	requireBounded(t, s)
	require.NotZero(t, s.Stats().Gets.Skipped)
	inTime(t, soon, func() { require.NoError(t, s.Close()) })
}
