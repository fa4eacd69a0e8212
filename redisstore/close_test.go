package redisstore_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird/internal/redistest"
	"github.com/earlybird-cache/earlybird/redisstore"
	"github.com/earlybird-cache/earlybird/store"
)

func TestClose_leavesNothingBehind(t *testing.T) {
	server := redistest.Start(t)
	dead := redistest.Start(t)
	dead.Kill()
	cycle := func() {
		for _, addr := range []string{server.Addr, dead.Addr} {
			s, err := redisstore.New(brisk(addr))
			require.NoError(t, err)
			s.Get(t.Context(), "key")
			s.Invalidate(t.Context(), "key")
			require.NoError(t, s.Close())
			require.NoError(t, s.Close())
		}
	}
	cycle()
	before := runtime.NumGoroutine()
	for range 50 {
		cycle()
	}
	eventually(t, func() error {
		if n := runtime.NumGoroutine(); n > before+5 {
			return fmt.Errorf("%d goroutines, %d before", n, before)
		}
		return nil
	})
}

// Closing while everything is in use, by several at once, ends everything, and
// nothing is sent any more once it has returned.
func TestClose_whileInUse(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	s, err := redisstore.New(patient[string](server.Addr))
	require.NoError(t, err)
	var users, closers sync.WaitGroup
	used := make(map[string]*atomic.Int64)
	for name, call := range methods(s) {
		calls := new(atomic.Int64)
		used[name] = calls
		for range 4 {
			users.Go(func() {
				for {
					err := call(context.Background())
					calls.Add(1)
					if errors.Is(err, store.ErrClosed) {
						return
					}
					var pending *store.PendingError
					if errors.As(err, &pending) && errors.Is(pending.Err, store.ErrClosed) {
						continue // the next call will be refused
					}
					if err != nil && !errors.Is(err, store.ErrLost) {
						t.Errorf("%s: %v", name, err)
						return
					}
				}
			})
		}
	}
	eventually(t, func() error {
		for name, calls := range used {
			if calls.Load() == 0 {
				return fmt.Errorf("%s has not come back yet", name)
			}
		}
		return nil
	})
	for range 3 {
		closers.Go(func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	closers.Wait()
	eventually(t, func() error { // what was sent before is done
		if clients := server.Do("CLIENT", "LIST"); strings.Contains(clients, "name=earlybird") {
			return errors.New(clients)
		}
		return nil
	})
	before := ours(server)
	users.Wait()
	require.Equal(t, before, ours(server))
	require.NotZero(t, before["evalsha"])
}

// ours are the calls of commands that stores use.
func ours(server *redistest.Server) map[string]int {
	calls := server.Calls()
	for name := range calls {
		switch name {
		case "pttl", "mget", "evalsha", "eval", "get", "set", "del", "pexpire", "time", "getrange", "exists":
		default:
			delete(calls, name)
		}
	}
	return calls
}

func TestClose_returnsWhateverTheServerDoes(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	s, err := redisstore.New(brisk(server.Addr))
	require.NoError(t, err)
	set(t, s, "key", "v")
	server.Stop()
	defer server.Continue()
	waiting := make(chan error, 10)
	for range cap(waiting) {
		go func() { _, err := s.Get(context.Background(), "key"); waiting <- err }()
	}
	require.Error(t, s.Invalidate(t.Context(), "key"))
	inTime(t, soon, func() { require.NoError(t, s.Close()) })
	for range cap(waiting) {
		require.Error(t, <-waiting)
	}
	require.EqualValues(t, 1, s.Stats().GivenUp)
}
