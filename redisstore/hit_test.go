package redisstore_test

import (
	"context"
	"fmt"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird/internal/redistest"
	"github.com/earlybird-cache/earlybird/redisstore"
	"github.com/earlybird-cache/earlybird/store"
)

// wire keeps what is written to the server, write by write.
type wire struct {
	net.Conn
	log *writes
}

type writes struct {
	mu  sync.Mutex
	all []string
}

func (w wire) Write(p []byte) (int, error) {
	w.log.mu.Lock()
	w.log.all = append(w.log.all, string(p))
	w.log.mu.Unlock()
	return w.Conn.Write(p)
}

func (w *writes) take() (all []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range w.all {
		s = strings.ReplaceAll(s, "*1\r\n$4\r\nPING\r\n", "") // to a connection that was idle, perhaps with what ends that
		if s != "" && !strings.Contains(s, "HELLO") {         // to a new one
			all = append(all, s)
		}
	}
	w.all = nil
	return all
}

func (w *writes) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, addr)
	return wire{conn, w}, err
}

// A hit is one write with two commands, in the order that never makes a value
// look fresher than it is, and no script.
func TestGet_isOneRoundTrip(t *testing.T) {
	server := redistest.Start(t)
	log := &writes{}
	opts := patient[string](server.Addr)
	opts.Dial = log.dial
	s := open(t, opts)
	set(t, s, "key", "v")
	require.NoError(t, finds(t, s, "key", "v"))

	server.Do("CONFIG", "RESETSTAT")
	const n = 100
	for range n {
		log.take()
		require.NoError(t, finds(t, s, "key", "v"))
		sent := log.take()
		require.Len(t, sent, 1)
		life, read := strings.Index(sent[0], "PTTL"), strings.Index(sent[0], "MGET")
		require.GreaterOrEqual(t, life, 0)
		require.Greater(t, read, life)
	}
	calls := server.Calls()
	delete(calls, "ping")
	delete(calls, "config|resetstat")
	for name := range calls {
		if name == "hello" || name == "info" || name == "select" || strings.HasPrefix(name, "client") {
			delete(calls, name)
		}
	}
	require.Equal(t, map[string]int{"pttl": n, "mget": n}, calls)
}

// Calls at the same time share writes, also on one processor, where nothing but
// the callers' turn to run brings them together.
func TestGet_sharesWrites(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	server := redistest.Start(t)
	log := &writes{}
	opts := patient[string](server.Addr)
	opts.Dial = log.dial
	s := open(t, opts)
	set(t, s, "key", "v")
	log.take()
	const callers, each = 64, 50
	var all sync.WaitGroup
	for range callers {
		all.Go(func() {
			for range each {
				if err := finds(t, s, "key", "v"); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	require.Less(t, len(log.take()), callers*each/4)
}

// A load is two scripts, and each change is one.
func TestStore_changesAreOneScriptEach(t *testing.T) {
	server := redistest.Start(t)
	s := open(t, patient[string](server.Addr))
	step := map[string]func(){
		"load": func() {
			require.NoError(t, s.Invalidate(t.Context(), "key"))
			claim, err := s.Acquire(t.Context(), "key", 0, long)
			require.NoError(t, err)
			require.NoError(t, s.Publish(t.Context(), claim.Lease, value("v")))
		},
		"set":  func() { set(t, s, "key", "v") },
		"fail": func() { require.NoError(t, s.Fail(t.Context(), store.Lease{Key: "key", Token: "x"}, long)) },
	}
	for range 2 { // the first time the server does not know the scripts
		server.Do("CONFIG", "RESETSTAT")
		for _, do := range step {
			do()
		}
	}
	calls := server.Calls()
	require.Equal(t, 5, calls["evalsha"])
	require.Zero(t, calls["eval"])
}

func TestGetMany_isOneRoundTripForEachBatch(t *testing.T) {
	server := redistest.Start(t)
	log := &writes{}
	opts := patient[string](server.Addr)
	opts.Dial = log.dial
	s := open(t, opts)
	keys := make([]string, 100)
	for i := range keys {
		keys[i] = fmt.Sprint("key", i)
	}
	s.GetMany(t.Context(), keys)
	log.take()
	s.GetMany(t.Context(), keys)
	require.Len(t, log.take(), 1)
}

func TestStore_rawNamesAreInTheNamespace(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	opts := patient[string](server.Addr)
	opts.Namespace = "shop-7.v2"
	s := open(t, opts)
	for _, key := range []string{"", "{a}", "}", "shop-7.v2:v:{0}x"} {
		set(t, s, key, "v")
	}
	_, err := s.Acquire(t.Context(), "other", 0, long)
	require.NoError(t, err)
	for name := range strings.SplitSeq(server.Do("KEYS", "*"), "\n") {
		require.True(t, strings.HasPrefix(name, "shop-7.v2:"), name)
		require.NotEqual(t, "-1", server.Do("PTTL", name), "everything ends by itself: %s", name)
	}
	stranger := open(t, patient[string](server.Addr))
	require.NoError(t, finds(t, stranger, "", ""))
	require.NoError(t, stranger.InvalidateAll(t.Context()))
	require.NoError(t, finds(t, s, "", "v"))
}

// What is damaged is a miss, for a single key and among many; it is counted, and
// the next load overwrites it.
func TestStore_damagedFramesReloadAndAreOverwritten(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	s := open(t, patient[string](server.Addr))
	set(t, s, "key", "intact")
	set(t, s, "fine", "fine")
	name := "eb:v:{" + tagOf(t, server, "key") + "}key"
	whole := server.Do("GET", name)
	var damages []string
	for n := range len(whole) {
		flipped := []byte(whole)
		flipped[n] ^= byte(1 << (n % 8))
		damages = append(damages, whole[:n], string(flipped))
	}
	damages = append(damages, whole+"x", "random bytes", strings.Repeat("\xff", 200))
	for _, damage := range damages {
		server.Do("SET", name, damage, "PX", "60000")
		before := s.Stats()
		requireReload(t, s)
		require.Greater(t, s.Stats().Damaged, before.Damaged, "%q", damage)
	}
	for _, spoil := range [][]string{{"LPUSH", name, "x"}, {"HSET", name, "a", "b"}} {
		server.Do("DEL", name)
		server.Do(spoil...)
		requireReload(t, s)
	}
	server.Do("PERSIST", name)
	requireReload(t, s)
	server.Do("SET", "eb:e:{"+tagOf(t, server, "key")+"}", "nonsense")
	requireReload(t, s)
	server.Do("SET", "eb:l:{"+tagOf(t, server, "key")+"}key", "nonsense")
	require.NoError(t, s.Invalidate(t.Context(), "key"))
	requireReload(t, s)
	server.Do("HSET", "eb:l:{"+tagOf(t, server, "key")+"}key", "a", "b")
	require.NoError(t, s.Invalidate(t.Context(), "key"))
	requireReload(t, s)
}

// panicky is a codec that panics over what it does not expect.
type panicky struct{ redisstore.Codec[string] }

func (panicky) ID() byte { return 77 }

func (panicky) Append(b []byte, v string) ([]byte, error) { return append(b, v...), nil }

func (panicky) Decode(data []byte) (string, error) {
	if string(data) == "bad" {
		panic("bad")
	}
	return string(data), nil
}

// A value over which the codec panics is damaged, and costs those that are read
// with it nothing.
func TestStore_codecThatPanicsHasFoundDamage(t *testing.T) {
	t.Parallel()
	opts := patient[string](redistest.Start(t).Addr)
	opts.Codec = panicky{}
	s := open(t, opts)
	set(t, s, "key", "bad")
	set(t, s, "fine", "fine")
	many := s.GetMany(t.Context(), []string{"key", "fine"})
	require.Equal(t, "fine", many[1].Value)
	requireReload(t, s)
	require.Positive(t, s.Stats().Damaged)
}

// requireReload finds nothing under key, loads it and finds it, while another
// key stays what it is.
func requireReload(t *testing.T, s store.Store[string]) {
	t.Helper()
	many := s.GetMany(t.Context(), []string{"key", "fine"})
	require.NoError(t, many[0].Err)
	require.Equal(t, store.Missing, many[0].Kind)
	require.NoError(t, finds(t, s, "key", ""))
	claim, err := s.Acquire(t.Context(), "key", 0, long)
	require.NoError(t, err)
	require.Equal(t, store.Granted, claim.Outcome)
	require.NoError(t, s.Publish(t.Context(), claim.Lease, value("intact")))
	require.NoError(t, finds(t, s, "key", "intact"))
}

// Evicted epochs never come back, so what they made void stays void.
func TestStore_lostEpochVoidsItsSlot(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	s := open(t, patient[string](server.Addr))
	set(t, s, "key", "old")
	require.NoError(t, s.InvalidateAll(t.Context()))
	epoch := "eb:e:{" + tagOf(t, server, "key") + "}"
	server.Do("DEL", epoch)
	require.NoError(t, finds(t, s, "key", ""))
	claim, err := s.Acquire(t.Context(), "key", 0, long)
	require.NoError(t, err)
	require.Equal(t, store.Granted, claim.Outcome)
	server.Do("DEL", epoch)
	require.ErrorIs(t, s.Publish(t.Context(), claim.Lease, value("v")), store.ErrLost)
	require.NoError(t, finds(t, s, "key", ""))
}

// One server's clock that is set back makes no generation go back.
func TestStore_generationsOutliveTheClock(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	s := open(t, patient[string](server.Addr))
	const future = 1 << 52
	claim, err := s.Acquire(t.Context(), "key", future, long)
	require.NoError(t, err)
	require.Greater(t, claim.Lease.Generation, store.Generation(future))
	require.NoError(t, s.Publish(t.Context(), claim.Lease, value("v")))
	g, err := s.Set(t.Context(), "key", value("w"))
	require.NoError(t, err)
	require.Greater(t, g, claim.Lease.Generation)
	require.NoError(t, s.Invalidate(t.Context(), "key"))
	r, err := s.Get(t.Context(), "key")
	require.NoError(t, err)
	require.Greater(t, r.Generation, g)
	next, err := s.Acquire(t.Context(), "key", 0, long)
	require.NoError(t, err)
	require.Greater(t, next.Lease.Generation, r.Generation)
}

func TestWait_isWokenByTheServer(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	a, b := open(t, patient[string](server.Addr)), open(t, patient[string](server.Addr))
	server.Do("CONFIG", "RESETSTAT")
	began := time.Now()
	for i := range 20 {
		claim, err := a.Acquire(t.Context(), fmt.Sprint(i), 0, long)
		require.NoError(t, err)
		woken := make(chan error)
		go func() { woken <- b.Wait(t.Context(), fmt.Sprint(i), 0) }()
		time.Sleep(time.Millisecond)
		require.NoError(t, a.Publish(t.Context(), claim.Lease, value("v")))
		require.NoError(t, <-woken)
	}
	looks := server.Calls()["client|caching"]
	require.GreaterOrEqual(t, looks, 20)
	now := int(time.Since(began) / (100 * time.Millisecond)) // and then, on a slow machine
	require.Less(t, looks, 40+now, "it does not poll")
}

// A server that will not tell what changes is asked instead.
func TestStore_withoutTracking(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	server.Do("ACL", "SETUSER", "plain", "on", ">pw", "~*", "+@all", "-client|tracking")
	opts := patient[*item](server.Addr)
	opts.Username, opts.Password = "plain", "pw"
	s := open(t, opts)
	eventually(t, func() error { _, err := s.Get(t.Context(), "k"); return err })
	suiteOf(opts, true).Run(t)
}
