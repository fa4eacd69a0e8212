package earlybird_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird"
	"github.com/earlybird-cache/earlybird/internal/redistest"
	"github.com/earlybird-cache/earlybird/redisstore"
)

// The tests in fleet_*_test.go are of the whole: caches over redisstore over
// servers that they start.

// instances are several caches over one origin and one tier, each with a store of
// its own, as so many processes have.
type instances[V any] struct {
	*origin[V]
	namespace string
	caches    []*earlybird.Cache[V]
	stores    []*redisstore.Store[V]

	mu     sync.Mutex
	events []earlybird.Event
}

// origin is what all instances load from, and counts how it is asked.
type origin[V any] struct {
	value func(key string) (V, error) // read when a load begins
	delay time.Duration               // and returned that much later

	loads, running, most atomic.Int64
	mu                   sync.Mutex
	asked                map[string]int
}

func (o *origin[V]) load(_ context.Context, key string) (V, error) {
	o.loads.Add(1)
	now := o.running.Add(1)
	defer o.running.Add(-1)
	for most := o.most.Load(); now > most && !o.most.CompareAndSwap(most, now); most = o.most.Load() {
	}
	o.mu.Lock()
	o.asked[key]++
	o.mu.Unlock()
	v, err := o.value(key)
	time.Sleep(o.delay)
	return v, err
}

// loadsOf returns how often a key was loaded.
func (o *origin[V]) loadsOf(key string) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.asked[key]
}

// rows is an origin's content. What is not in it is absent.
type rows struct{ sync.Map }

func (r *rows) value(key string) (string, error) {
	v, ok := r.Load(key)
	if !ok {
		return "", earlybird.ErrNotFound
	}
	return v.(string), nil
}

// named is an origin that knows every key by its own name.
func named(key string) (string, error) { return "value of " + key, nil }

var fleets atomic.Int64

// start makes n instances over a tier in a namespace of its own.
func start[V any](t testing.TB, n int, value func(string) (V, error), opts earlybird.Options[V], tier redisstore.Options[V]) *instances[V] {
	t.Helper()
	f := &instances[V]{
		origin:    &origin[V]{value: value, delay: 5 * time.Millisecond, asked: make(map[string]int)},
		namespace: fmt.Sprint("fleet", fleets.Add(1)),
	}
	for range n {
		f.join(t, opts, tier)
	}
	return f
}

// join adds an instance.
func (f *instances[V]) join(t testing.TB, opts earlybird.Options[V], tier redisstore.Options[V]) *earlybird.Cache[V] {
	t.Helper()
	tier.Namespace = f.namespace
	s, err := redisstore.New(tier)
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	opts.Store = s
	opts.OnError = func(e earlybird.Event) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.events = append(f.events, e)
	}
	if opts.TTL == 0 {
		opts.TTL = time.Minute
	}
	c, err := earlybird.New(f.load, opts)
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	f.caches, f.stores = append(f.caches, c), append(f.stores, s)
	return c
}

// told returns what OnError heard of the tier.
func (f *instances[V]) told() (events []earlybird.Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, e := range f.events {
		if e.Tier {
			events = append(events, e)
		}
	}
	return events
}

// stats returns the sum of what matters of all instances.
func (f *instances[V]) stats() (sum earlybird.Stats) {
	for _, c := range f.caches {
		s := c.Stats()
		sum.Hits += s.Hits + s.Early
		sum.Shared += s.Shared
		sum.Loads += s.Loads
		sum.Episodes += s.Episodes
		sum.Unleased += s.Unleased
		sum.Lost += s.Lost
		sum.TierErrors += s.TierErrors
		sum.Waited += s.Waited
		sum.Denied += s.Denied
		sum.Adopted += s.Adopted
		sum.LoadTime += s.LoadTime
		sum.Store.Publishes.Done += s.Store.Publishes.Done
	}
	return sum
}

// patient are options for a machine that is busy with other things: what is
// judged is what happens, not how soon.
func patient[V any](addrs ...string) redisstore.Options[V] {
	return redisstore.Options[V]{Addrs: addrs, Timeout: 10 * time.Second, WriteTimeout: 10 * time.Second, ConnectTimeout: 10 * time.Second}
}

// brisk are options for a server that will fail.
func brisk[V any](addrs ...string) redisstore.Options[V] {
	return redisstore.Options[V]{Addrs: addrs, Timeout: budget, WriteTimeout: budget, ConnectTimeout: time.Second}
}

const budget = 200 * time.Millisecond

// soon is far above every budget, and far below what a read would take that
// waited for the server to come back.
const soon = 2500 * time.Millisecond

func get[V any](t testing.TB, c *earlybird.Cache[V], key string) V {
	t.Helper()
	v, err := c.Get(t.Context(), key)
	require.NoError(t, err)
	return v
}

func lookup[V any](t testing.TB, c *earlybird.Cache[V], key string) earlybird.Result[V] {
	t.Helper()
	r, err := c.Lookup(t.Context(), key)
	require.NoError(t, err)
	return r
}

// eventually waits until f succeeds. How soon it does is not what it judges.
func eventually(t testing.TB, f func() error) {
	t.Helper()
	var err error
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if err = f(); err == nil {
			return
		}
	}
	require.NoError(t, err)
}

// wellAgain is nil once c's tier is used as if nothing had been.
func wellAgain[V any](t testing.TB, c *earlybird.Cache[V], n *atomic.Int64) error {
	if _, err := c.Get(t.Context(), fmt.Sprint("well?", n.Add(1))); err != nil && !errors.Is(err, earlybird.ErrNotFound) {
		return err
	}
	switch s := c.Stats(); {
	case s.TierDown:
		return errors.New("the tier is down")
	case s.Store.Open > 0 || s.Store.Pending > 0:
		return fmt.Errorf("%d parts open, %d invalidations pending", s.Store.Open, s.Store.Pending)
	}
	return nil
}

// median returns the middle one of ds.
func median(ds []time.Duration) time.Duration {
	if len(ds) == 0 {
		return 0
	}
	ds = slices.Sorted(slices.Values(ds))
	return ds[len(ds)/2]
}

// rawNames returns the servers' names for a key's value, or with "l" for its lease.
func rawNames(kind, namespace, key string, servers ...*redistest.Server) (names []string) {
	for _, s := range servers {
		all, err := s.Try("KEYS", namespace+":"+kind+":*")
		if err != nil {
			continue
		}
		for name := range strings.SplitSeq(all, "\n") {
			if strings.HasSuffix(name, "}"+key) {
				names = append(names, name)
			}
		}
	}
	return names
}

// place is where a tier is.
type place struct {
	name    string
	servers func(t testing.TB) []*redistest.Server
}

// onEach runs a test over one server and over a Cluster, at the same time.
func onEach(t *testing.T, test func(t *testing.T, servers []*redistest.Server)) {
	for _, p := range []place{{"one server", oneServer}, {"cluster", sharedCluster}} {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			test(t, p.servers(t))
		})
	}
}

func oneServer(t testing.TB) []*redistest.Server { return []*redistest.Server{redistest.Start(t)} }

// sharedCluster is one of three masters with a replica each, for tests that do it
// no harm. It starts when it is first asked for and ends with the test binary.
func sharedCluster(testing.TB) []*redistest.Server { return startSharedCluster().Masters }

var startSharedCluster = sync.OnceValue(func() *redistest.Cluster {
	return redistest.StartCluster(whole, 3, true)
})

func addrs(servers []*redistest.Server) (all []string) {
	for _, s := range servers {
		all = append(all, s.Addr)
	}
	return all
}

// whole is the testing.TB of what lives as long as the test binary.
var whole = &wholeRun{}

type wholeRun struct {
	testing.TB // nil: what is not below is not for such things
	ends       []func()
}

func (w *wholeRun) Helper()                      {}
func (w *wholeRun) Cleanup(f func())             { w.ends = append(w.ends, f) }
func (w *wholeRun) Fatal(args ...any)            { panic(fmt.Sprint(args...)) }
func (w *wholeRun) Fatalf(s string, args ...any) { panic(fmt.Sprintf(s, args...)) }
func (w *wholeRun) Errorf(s string, args ...any) { panic(fmt.Sprintf(s, args...)) }
func (w *wholeRun) TempDir() string {
	dir, err := os.MkdirTemp("", "earlybird")
	require.NoError(w, err)
	w.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func (w *wholeRun) FailNow() { panic("a server that tests share could not be started") }

func (w *wholeRun) end() {
	for _, f := range slices.Backward(w.ends) {
		f()
	}
}
