package redisstore_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird/internal/redistest"
	"github.com/earlybird-cache/earlybird/redisstore"
	"github.com/earlybird-cache/earlybird/store"
)

// brisk are options for a server that will fail.
func brisk(addrs ...string) redisstore.Options[string] {
	return redisstore.Options[string]{Addrs: addrs, Timeout: 200 * time.Millisecond, WriteTimeout: 200 * time.Millisecond, ConnectTimeout: time.Second}
}

// soon is far above every budget and far below what the client library would
// take if it were left to itself.
const soon = 2500 * time.Millisecond

const long = time.Minute

func value(s string) store.Record[string] {
	return store.Record[string]{Kind: store.Value, Value: s, Life: long}
}

// eventually waits until f succeeds.
func eventually(t *testing.T, f func() error) {
	t.Helper()
	var err error
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if err = f(); err == nil {
			return
		}
	}
	require.NoError(t, err)
}

func set(t *testing.T, s store.Store[string], key, v string) {
	t.Helper()
	eventually(t, func() error { _, err := s.Set(t.Context(), key, value(v)); return err })
}

// finds is nil once s finds v under key.
func finds(t *testing.T, s store.Store[string], key, v string) error {
	r, err := s.Get(t.Context(), key)
	if err == nil && r.Value != v {
		err = fmt.Errorf("found %v %q, not %q", r.Kind, r.Value, v)
	}
	return err
}

// outage makes calls until the store leaves the server alone, and sees that each
// came back in time with the right error.
func outage(t *testing.T, s store.Store[string]) {
	t.Helper()
	for began := time.Now(); s.Stats().Gets.Skipped == 0; {
		require.Less(t, time.Since(began), 30*time.Second, "it must be left alone")
		call := time.Now()
		_, err := s.Get(context.Background(), "key")
		require.Less(t, time.Since(call), soon)
		if err == nil { // not noticed yet
			continue
		}
		require.ErrorIs(t, err, store.ErrUnavailable)
	}
	require.Positive(t, s.Stats().Open)
	require.Positive(t, s.Stats().Gets.Failed)
	require.NotEmpty(t, s.Stats().LastError)
}

// recovers sees that the store comes back by itself, does in the end what it was
// told meanwhile, and then works.
func recovers(t *testing.T, s, other store.Store[string]) {
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
func through(t *testing.T, s, other store.Store[string], begin, end func()) {
	t.Helper()
	set(t, s, "key", "before")
	set(t, s, "doomed", "doomed")
	begin()
	outage(t, s)
	var pending *store.PendingError
	require.ErrorAs(t, s.Invalidate(t.Context(), "doomed"), &pending)
	require.Equal(t, []string{"doomed"}, pending.Keys)
	call := time.Now()
	_, err := s.Acquire(t.Context(), "doomed", 0, long)
	require.ErrorIs(t, err, store.ErrUnavailable)
	require.Less(t, time.Since(call), soon)
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
	proxy.BlackHole(true)
	keys := strings.Split(strings.Repeat("key ", 100), " ")
	for _, r := range s.GetMany(t.Context(), keys) {
		require.ErrorIs(t, r.Err, store.ErrUnavailable)
	}
	require.Zero(t, s.Stats().Opened)
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

func TestStore_flushedScriptsAreSentAgain(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	s := open(t, patient[string](server.Addr))
	for i := range 3 {
		server.Do("SCRIPT", "FLUSH")
		claim, err := s.Acquire(t.Context(), "key", 0, long)
		require.NoError(t, err)
		server.Do("SCRIPT", "FLUSH")
		require.NoError(t, s.Publish(t.Context(), claim.Lease, value("v")))
		server.Do("SCRIPT", "FLUSH")
		_, err = s.Set(t.Context(), "key", value("w"))
		require.NoError(t, err)
		server.Do("SCRIPT", "FLUSH")
		require.NoError(t, s.Fail(t.Context(), claim.Lease, long))
		server.Do("SCRIPT", "FLUSH")
		require.NoError(t, s.Invalidate(t.Context(), "key", "other", fmt.Sprint(i)))
		server.Do("SCRIPT", "FLUSH")
		require.NoError(t, s.InvalidateAll(t.Context()))
	}
	require.Zero(t, s.Stats().Acquires.Errors()+s.Stats().Invalidations.Errors())
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

// tagOf finds out which tag a key has.
func tagOf(t *testing.T, server *redistest.Server, key string) string {
	t.Helper()
	for name := range strings.SplitSeq(server.Do("KEYS", "eb:*"), "\n") {
		if _, rest, ok := strings.Cut(name, "{"); ok {
			tag, k, _ := strings.Cut(rest, "}")
			if k == key {
				return tag
			}
		}
	}
	return "evicted"
}

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

// Whatever a server says, it is an error, it costs no more than a connection,
// and when the server comes to its senses it is used again.
func TestStore_survivesGarbage(t *testing.T) {
	t.Parallel()
	nothing := func(command []string) string {
		switch command[0] {
		case "PTTL":
			return ":-2\r\n"
		case "MGET":
			return "*2\r\n$-1\r\n$-1\r\n"
		}
		return ":0\r\n"
	}
	for _, garbage := range []string{
		"HTTP/1.1 400 Bad Request\r\n\r\n", "$1099511627776\r\n", "*1073741824\r\n", "$-7\r\n", "*-3\r\n", "%-9\r\n",
		"+OK\r\n+OK\r\n+OK\r\n+OK\r\n", ":1\r\n", "+text\r\n", "*0\r\n", "*1\r\n:1\r\n", "*2\r\n:1\r\n:2\r\n", "%1\r\n+a\r\n+b\r\n", "_\r\n",
		"*3\r\n$5\r\nfound\r\n$1\r\nx\r\n$1\r\nx\r\n", "*3\r\n$7\r\ngranted\r\n$2\r\n-1\r\n:1\r\n", "*3\r\n$4\r\nbusy\r\n:-5\r\n_\r\n", "*3\r\n*0\r\n*0\r\n*0\r\n",
		">3\r\n$9\r\nsubscribe\r\n$1\r\nx\r\n:1\r\n", ">2\r\n$10\r\ninvalidate\r\n:1\r\n:1\r\n", ">2\r\n$10\r\ninvalidate\r\n*1\r\n:9\r\n:1\r\n", "\x00\x00\x00",
	} {
		fake := redistest.NewFake(t, func([]string) string { return garbage })
		s := open(t, brisk(fake.Addr))
		for range 3 {
			if r, err := s.Get(t.Context(), "key"); err == nil {
				require.Equal(t, store.Missing, r.Kind, "%q", garbage)
			} else {
				require.ErrorIs(t, err, store.ErrUnavailable, "%q", garbage)
			}
			if c, err := s.Acquire(t.Context(), "key", 0, long); err == nil {
				require.Fail(t, "acquired", "%q: %+v", garbage, c)
			}
			s.GetMany(t.Context(), []string{"a", "b"})
			s.Set(t.Context(), "key", value("v"))
			s.Invalidate(t.Context(), "key")
		}
		fake.Answer(nothing)
		eventually(t, func() error { _, err := s.Get(t.Context(), "other"); return err })
	}
}

func TestStore_oneKeysReplyIsNeverAnothers(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	s := open(t, patient[string](server.Addr))
	set(t, s, "mine", "mine")
	var stolen atomic.Pointer[string]
	raw := server.Do("GET", "eb:v:{"+tagOf(t, server, "mine")+"}mine")
	epoch := server.Do("GET", "eb:e:{"+tagOf(t, server, "mine")+"}")
	stolen.Store(&raw)
	fake := redistest.NewFake(t, func(command []string) string {
		switch command[0] {
		case "PTTL":
			return ":60000\r\n"
		case "MGET":
			return fmt.Sprintf("*2\r\n$%d\r\n%s\r\n$%d\r\n%s\r\n", len(raw), raw, len(epoch), epoch)
		}
		return ":0\r\n"
	})
	f := open(t, patient[string](fake.Addr))
	require.NoError(t, finds(t, f, "mine", "mine"), "the fake is good at it")
	require.NoError(t, finds(t, f, "yours", ""))
	require.EqualValues(t, 1, f.Stats().Foreign)
}

func TestStore_wrongPassword(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, "--requirepass", "right")
	opts := brisk(server.Addr)
	opts.Password = "s3cret"
	s := open(t, opts)
	for range 10 {
		call := time.Now()
		_, err := s.Get(t.Context(), "key")
		require.ErrorIs(t, err, store.ErrUnavailable)
		require.Less(t, time.Since(call), soon)
	}
	require.Contains(t, s.Stats().LastError, "WRONGPASS")
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
	began := time.Now()
	require.NoError(t, s.Close())
	require.Less(t, time.Since(began), soon)
	for range cap(waiting) {
		require.Error(t, <-waiting)
	}
	require.EqualValues(t, 1, s.Stats().GivenUp)
}
