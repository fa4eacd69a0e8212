package redisstore_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird/internal/redistest"
	"github.com/earlybird-cache/earlybird/internal/standstill"
	"github.com/earlybird-cache/earlybird/store"
)

// A server that is out of memory stores nothing and still forgets.
func TestStore_fullServerForgets(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	s := open(t, patient[string](server.Addr))
	set(t, s, "key", "v")
	set(t, s, "another", "v")
	claim, err := s.Acquire(t.Context(), "loading", 0, long)
	require.NoError(t, err)
	server.Do("CONFIG", "SET", "maxmemory-policy", "noeviction")
	server.Do("CONFIG", "SET", "maxmemory", "1")
	_, err = s.Set(t.Context(), "new", value("v"))
	require.ErrorIs(t, err, store.ErrUnavailable)
	require.ErrorContains(t, err, "OOM")
	require.NoError(t, finds(t, s, "key", "v"))
	require.NoError(t, s.Invalidate(t.Context(), "key", "loading"))
	require.NoError(t, finds(t, s, "key", ""))
	require.NoError(t, finds(t, s, "another", "v"))
	require.NoError(t, s.InvalidateAll(t.Context()))
	require.NoError(t, finds(t, s, "another", ""))
	server.Do("CONFIG", "SET", "maxmemory", "0")
	require.ErrorIs(t, s.Publish(t.Context(), claim.Lease, value("old")), store.ErrLost)
	set(t, s, "key", "w")
	require.NoError(t, finds(t, s, "key", "w"))
	require.Zero(t, s.Stats().Opened, "a server that says no is there")
}

func TestStore_readOnlyServerIsRead(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	s := open(t, patient[string](server.Addr))
	set(t, s, "key", "v")
	master := redistest.Start(t)
	host, port, _ := net.SplitHostPort(master.Addr)
	server.Do("REPLICAOF", host, port)
	_, err := s.Set(t.Context(), "key", value("w"))
	require.ErrorIs(t, err, store.ErrUnavailable)
	require.ErrorContains(t, err, "READONLY")
	var pending *store.PendingError
	require.ErrorAs(t, s.Invalidate(t.Context(), "key"), &pending)
	require.NoError(t, finds(t, s, "key", ""), "not by those who know")
	time.Sleep(7 * time.Second) // it would be tried again after a minute now
	server.Do("REPLICAOF", "NO", "ONE")
	eventually(t, func() error {
		if s.Stats().Pending > 0 {
			return errors.New("pending")
		}
		return nil
	})
	set(t, s, "key", "w")
	require.NoError(t, finds(t, s, "key", "w"))
}

func TestStore_errorRepliesAreErrorsNotMisses(t *testing.T) {
	t.Parallel()
	for _, reply := range []string{
		"LOADING Redis is loading the dataset in memory", "MASTERDOWN Link with MASTER is down", "NOPERM no",
		"BUSY Redis is busy running a script", "CLUSTERDOWN The cluster is down", "ERR whatever", "",
	} {
		fake := redistest.NewFake(t, func([]string) string { return "-" + reply + "\r\n" })
		s := open(t, patient[string](fake.Addr))
		_, err := s.Get(t.Context(), "key")
		require.ErrorIs(t, err, store.ErrUnavailable, reply)
		require.ErrorIs(t, s.GetMany(t.Context(), []string{"key"})[0].Err, store.ErrUnavailable, reply)
		_, err = s.Acquire(t.Context(), "key", 0, long)
		require.ErrorIs(t, err, store.ErrUnavailable, reply)
		_, err = s.Set(t.Context(), "key", value("v"))
		require.ErrorIs(t, err, store.ErrUnavailable, reply)
		require.ErrorIs(t, s.Publish(t.Context(), store.Lease{Key: "key", Token: "t"}, value("v")), store.ErrUnavailable, reply)
		require.ErrorIs(t, s.Invalidate(t.Context(), "key"), store.ErrUnavailable, reply)
		require.ErrorIs(t, s.InvalidateAll(t.Context()), store.ErrUnavailable, reply)
		require.ErrorIs(t, s.Wait(t.Context(), "key", 0), store.ErrUnavailable, reply)
		st := s.Stats()
		require.Zero(t, st.Missing+st.Found+st.Opened, reply)
		for _, c := range []store.Calls{st.Gets, st.Acquires, st.Sets, st.Publishes, st.Waits, st.Invalidations} {
			require.NotZero(t, c.Failed, "%s: %+v", reply, st)
		}
	}
}

// While a server reads its data from disk it is there and knows nothing yet. What
// it has read it serves, but for what it is made to forget then.
func TestStore_loadingServer(t *testing.T) {
	t.Parallel()
	standstill.Rounds(t, 5*brief, func(t testing.TB) {
		server := redistest.Start(t, "--key-load-delay", "50000", "--loading-process-events-interval-bytes", "1024")
		s := open(t, brisk(server.Addr))
		incompressible := func(i int) string { // or events would be seldom
			return strings.Repeat(fmt.Sprintf("%x", sha256.Sum256([]byte{byte(i)})), 40)
		}
		for i := range 60 {
			server.Do("SET", fmt.Sprint("ballast", i), incompressible(i))
		}
		set(t, s, "key", "before")
		set(t, s, "doomed", "doomed")
		server.Do("SAVE")
		server.Kill()
		server.Restart()
		missing := s.Stats().Missing
		eventually(t, func() error {
			_, err := s.Get(t.Context(), "key")
			if err != nil && strings.Contains(err.Error(), "LOADING") {
				return nil
			}
			require.Error(t, err, "it has loaded everything already")
			return fmt.Errorf("not seen to load: %w", err)
		})
		var pending *store.PendingError
		require.ErrorAs(t, s.Invalidate(t.Context(), "doomed"), &pending)
		eventually(t, func() error { return finds(t, s, "key", "before") })
		require.Equal(t, missing, s.Stats().Missing, "that it is loading is no miss")
		eventually(t, func() error { // what is overdue does not wait until it is tried again
			_, err := s.Acquire(t.Context(), "doomed", 0, long)
			return err
		})
		recovers(t, s, open(t, brisk(server.Addr)))
	})
}

func TestStore_wrongPassword(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, "--requirepass", "right")
	opts := brisk(server.Addr)
	opts.Password = "s3cret"
	s := open(t, opts)
	for range 10 {
		inTime(t, soon, func() {
			_, err := s.Get(t.Context(), "key")
			require.ErrorIs(t, err, store.ErrUnavailable)
		})
	}
	eventually(t, func() error { return says(s, "WRONGPASS") })
	require.NotContains(t, s.Stats().LastError, "s3cret")

	opts.Password, opts.URL, opts.Addrs = "", "redis://:right@"+server.Addr+"/3", nil
	good := open(t, opts)
	set(t, good, "key", "v")
	eventually(t, func() error { return finds(t, good, "key", "v") })

	opts.URL, opts.Addrs = "", []string{server.Addr}
	var asked atomic.Int32
	opts.Credentials = func() (string, string, error) { asked.Add(1); return "default", "right", nil }
	rotating := open(t, opts)
	set(t, rotating, "key", "v")
	require.Positive(t, asked.Load())
}
