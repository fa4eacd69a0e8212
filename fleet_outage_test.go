package earlybird_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird"
	"github.com/earlybird-cache/earlybird/internal/redistest"
	"github.com/earlybird-cache/earlybird/redisstore"
	"github.com/earlybird-cache/earlybird/store"
)

// detour is the way of a store to its server, which can be made to lead to another
// one.
type detour struct {
	mu    sync.Mutex
	to    string
	conns []net.Conn
}

func (d *detour) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	d.mu.Lock()
	to := d.to
	d.mu.Unlock()
	if to == "" {
		to = addr
	}
	conn, err := new(net.Dialer).DialContext(ctx, network, to)
	if err == nil {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.conns = append(d.conns, conn)
	}
	return conn, err
}

// lead has all connections lead to a server; to where they should with "".
func (d *detour) lead(to string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.to = to
	for _, c := range d.conns {
		c.Close()
	}
	d.conns = nil
}

// outage is a way in which a tier fails one of two instances or both.
type outage struct {
	server *redistest.Server
	proxy  *redistest.Proxy // in front of it
	detour *detour          // to the proxy, or elsewhere
}

// outages are by what begins them. What it returns ends them.
var outages = map[string]func(t *testing.T, o outage) (end func()){
	"killed": func(_ *testing.T, o outage) func() {
		o.server.Kill()
		return o.server.Restart
	},
	"stopped": func(_ *testing.T, o outage) func() {
		o.server.Stop()
		return o.server.Continue
	},
	"paused": func(_ *testing.T, o outage) func() {
		o.server.Do("CLIENT", "PAUSE", "1500", "ALL")
		return func() {}
	},
	"black hole": func(_ *testing.T, o outage) func() {
		o.proxy.BlackHole(true)
		return func() { o.proxy.BlackHole(false); o.proxy.Break() }
	},
	"slow network": func(_ *testing.T, o outage) func() {
		o.proxy.Delay(3 * budget)
		return func() { o.proxy.Delay(0) }
	},
	"read only": func(t *testing.T, o outage) func() {
		nowhere := redistest.Start(t)
		nowhere.Kill()
		host, port, _ := net.SplitHostPort(nowhere.Addr)
		o.server.Do("REPLICAOF", host, port)
		return func() { o.server.Do("REPLICAOF", "NO", "ONE") }
	},
	"out of memory": func(_ *testing.T, o outage) func() {
		o.server.Do("CONFIG", "SET", "maxmemory", "1")
		return func() { o.server.Do("CONFIG", "SET", "maxmemory", "0") }
	},
	"loading": func(t *testing.T, o outage) func() {
		return o.replaced(t, "-LOADING Redis is loading the dataset in memory\r\n")
	},
	"garbage": func(t *testing.T, o outage) func() {
		return o.replaced(t, "HTTP/1.1 400 Bad Request\r\n\r\n")
	},
	"wrong password": func(_ *testing.T, o outage) func() {
		o.server.Do("CONFIG", "SET", "requirepass", "changed")
		o.detour.lead("") // existing connections would stay what they are
		return func() {
			o.server.Kill()
			o.server.Restart()
		}
	},
}

// replaced leads the way to something that always says the same.
func (o outage) replaced(t *testing.T, reply string) (end func()) {
	fake := redistest.NewFake(t, func([]string) string { return reply })
	o.detour.lead(fake.Addr)
	return func() { o.detour.lead("") }
}

// saysNo are those of the outages in which the server is there, and only refuses.
var saysNo = map[string]bool{"read only": true, "out of memory": true, "loading": true}

// However the tier fails, reads go on: what is near is served, what is not comes
// from the origin within the gate, nobody waits for longer than the budget, nothing
// that is wrong is served, and in the end everything is as it was.
func TestFleet_outageIsASlowDay(t *testing.T) {
	for name, begin := range outages {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := redistest.Start(t)
			o := outage{server, redistest.NewProxy(t, server.Addr), &detour{}}
			tier := brisk[string](o.proxy.Addr)
			tier.Dial = o.detour.dial
			var db rows
			f := start(t, 1, db.value, earlybird.Options[string]{MaxLoads: 4, NearTTL: 300 * time.Millisecond, Ramp: earlybird.Off}, tier)
			d := &slowDay{f: f, db: &db, cache: f.caches[0]}
			d.warm(t)
			end := begin(t, o)
			d.live(t)
			d.change(t)
			if !saysNo[name] {
				d.isLeftAlone(t)
			}
			d.isTold(t)
			end()
			d.isWellAgain(t, server)
		})
	}
}

// slowDay is one cache whose tier has an outage.
type slowDay struct {
	f     *instances[string]
	db    *rows
	cache *earlybird.Cache[string]
	cold  atomic.Int64
	tries atomic.Int64
}

func (d *slowDay) warm(t *testing.T) {
	for i := range 20 {
		d.db.Store(fmt.Sprint("near", i), "near")
		eventually(t, func() error { _, err := d.cache.Get(t.Context(), fmt.Sprint("near", i)); return err })
	}
	d.db.Store("changed", "before")
	eventually(t, func() error { return wellAgain(t, d.cache, &d.tries) })
	eventually(t, func() error { // it may have been loaded while the connection was being made
		require.NoError(t, d.cache.Invalidate(t.Context(), "changed"))
		get(t, d.cache, "changed")
		if s := d.f.stats(); s.Store.Publishes.Done == 0 {
			return errors.New("nothing is published")
		}
		return nil
	})
}

// coldKey is one that nobody has read yet.
func (d *slowDay) coldKey() string {
	key := fmt.Sprint("cold", d.cold.Add(1))
	d.db.Store(key, "value of "+key)
	return key
}

// live reads what is near, over and over for longer than NearTTL, and what is not.
func (d *slowDay) live(t *testing.T) {
	d.f.most.Store(0)
	var readers sync.WaitGroup
	var slowest atomic.Int64
	end := time.Now().Add(700 * time.Millisecond)
	for i := range 16 {
		readers.Go(func() {
			for n := i; time.Now().Before(end); n++ {
				key, want := fmt.Sprint("near", n%20), "near"
				if i < 8 {
					key = d.coldKey()
					want = "value of " + key
				}
				began := time.Now()
				require.Equal(t, want, get(t, d.cache, key))
				took := time.Since(began)
				require.Less(t, took, soon)
				for most := slowest.Load(); int64(took) > most && !slowest.CompareAndSwap(most, int64(took)); most = slowest.Load() {
				}
				time.Sleep(5 * time.Millisecond)
			}
		})
	}
	readers.Wait()
	s := d.cache.Stats()
	t.Logf("slowest read %v, %d loads, %d at once, %d tier errors, %d unleased", time.Duration(slowest.Load()), s.Loads, d.f.most.Load(), s.TierErrors, s.Unleased)
	require.LessOrEqual(t, d.f.most.Load(), int64(4))
	require.Positive(t, s.TierErrors)
	for i := range 20 {
		require.Equal(t, 1, d.f.loadsOf(fmt.Sprint("near", i)), "what is near needs no tier")
	}
	key := d.coldKey()
	get(t, d.cache, key)
	require.Equal(t, "value of "+key, get(t, d.cache, key))
	require.Equal(t, 1, d.f.loadsOf(key), "what is loaded meanwhile is kept near")
}

// change makes a change during the outage: it holds here at once.
func (d *slowDay) change(t *testing.T) {
	d.db.Store("changed", "after")
	began := time.Now()
	err := d.cache.Invalidate(t.Context(), "changed")
	require.Less(t, time.Since(began), soon)
	if err != nil {
		var pending *store.PendingError
		require.ErrorAs(t, err, &pending)
		require.Equal(t, []string{"changed"}, pending.Keys)
	}
	require.Equal(t, "after", get(t, d.cache, "changed"))
}

// isLeftAlone sees that reads do not wait once the tier is known to be away.
func (d *slowDay) isLeftAlone(t *testing.T) {
	eventually(t, func() error {
		get(t, d.cache, d.coldKey())
		if s := d.cache.Stats().Store; s.Open == 0 && s.Gets.Skipped == 0 {
			return errors.New("it is still asked")
		}
		return nil
	})
	var took []time.Duration
	for range 21 {
		began := time.Now()
		get(t, d.cache, d.coldKey())
		took = append(took, time.Since(began))
	}
	t.Logf("half of the cold reads take less than %v", median(took))
	require.Less(t, median(took), budget)
}

// isTold sees that the outage shows.
func (d *slowDay) isTold(t *testing.T) {
	require.NotEmpty(t, d.f.told())
	require.Less(t, len(d.f.told()), 10, "it is told once, and not with every question")
	for _, e := range d.f.told() {
		require.ErrorIs(t, e.Err, store.ErrUnavailable)
	}
	require.NotEmpty(t, d.cache.Stats().Store.LastError)
	t.Logf("OnError heard %d times of the tier", len(d.f.told()))
}

// isWellAgain sees that the tier is used again, by itself, and has forgotten what
// it was to forget.
func (d *slowDay) isWellAgain(t *testing.T, server *redistest.Server) {
	eventually(t, func() error { return wellAgain(t, d.cache, &d.tries) })
	other := d.f.join(t, earlybird.Options[string]{}, patient[string](server.Addr))
	require.Equal(t, "after", get(t, other, "changed"))
	require.Equal(t, "after", get(t, d.cache, "changed"))
	eventually(t, func() error {
		key := d.coldKey()
		get(t, other, key)
		if r := lookup(t, d.cache, key); r.State != earlybird.Shared {
			return fmt.Errorf("state %d", r.State)
		}
		return nil
	})
	eventually(t, func() error {
		key := d.coldKey()
		get(t, d.cache, key)
		if r := lookup(t, other, key); r.State != earlybird.Shared {
			return fmt.Errorf("state %d", r.State)
		}
		return nil
	})
}

// What becomes of reads that find nothing near is Options.Outage's to say.
func TestFleet_outagePolicies(t *testing.T) {
	for _, p := range []earlybird.Outage{earlybird.Origin, earlybird.StaleOnly, earlybird.Fail} {
		t.Run(p.String(), func(t *testing.T) {
			t.Parallel()
			server := redistest.Start(t)
			var db rows
			db.Store("k", "v1")
			f := start(t, 1, db.value, earlybird.Options[string]{
				TTL: time.Second, NearTTL: 100 * time.Millisecond, Outage: p, StaleIfError: time.Minute, Beta: earlybird.Off,
			}, brisk[string](server.Addr))
			c := f.caches[0]
			eventually(t, func() error {
				if c.Invalidate(t.Context(), "k") != nil {
					return errors.New("not connected")
				}
				_, err := c.Get(t.Context(), "k")
				return err
			})
			server.Kill()
			before := f.loads.Load()
			require.Equal(t, "v1", get(t, c, "k"), "it is near")
			time.Sleep(200 * time.Millisecond)
			require.Equal(t, "v1", get(t, c, "k"), "near, and nobody says that it has changed")
			require.Equal(t, before, f.loads.Load())
			time.Sleep(time.Second)
			db.Store("k", "v2")
			r, err := c.Lookup(t.Context(), "k")
			_, missed := c.Get(t.Context(), "cold")
			many, _ := c.GetMany(t.Context(), []string{"k", "cold"})
			switch p {
			case earlybird.Origin:
				require.NoError(t, err)
				require.Equal(t, "v2", r.Value)
				require.ErrorIs(t, missed, earlybird.ErrNotFound)
				require.Equal(t, map[string]string{"k": "v2"}, many)
			case earlybird.StaleOnly:
				require.NoError(t, err)
				require.Equal(t, "v1", r.Value)
				require.Equal(t, earlybird.Stale, r.State)
				require.ErrorIs(t, missed, store.ErrUnavailable)
				require.Equal(t, map[string]string{"k": "v1"}, many)
			default:
				require.ErrorIs(t, err, store.ErrUnavailable)
				require.ErrorIs(t, missed, store.ErrUnavailable)
				require.Empty(t, many)
			}
			if p != earlybird.Origin {
				require.Equal(t, before, f.loads.Load(), "the origin hears nothing")
			}
			server.Restart()
			eventually(t, func() error {
				v, err := c.Get(t.Context(), "k")
				if err == nil && v != "v2" {
					err = errors.New(v)
				}
				return err
			})
		})
	}
}

// Others may have changed what was kept near during an outage: as soon as the tier
// answers, it is asked.
func TestFleet_suspectsAreAskedAbout(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	proxy := redistest.NewProxy(t, server.Addr)
	var db rows
	for i := range 10 {
		db.Store(fmt.Sprint(i), "old")
	}
	opts := earlybird.Options[string]{TTL: time.Hour, NearTTL: earlybird.Off}
	f := start(t, 1, db.value, opts, brisk[string](proxy.Addr))
	cut, other := f.caches[0], f.join(t, opts, patient[string](server.Addr))
	var n atomic.Int64
	eventually(t, func() error { return wellAgain(t, cut, &n) })
	proxy.BlackHole(true)
	for i := range 10 {
		require.Equal(t, "old", get(t, cut, fmt.Sprint(i)))
	}
	require.True(t, cut.Stats().TierDown)
	for i := range 10 {
		db.Store(fmt.Sprint(i), "new")
		require.NoError(t, other.Invalidate(t.Context(), fmt.Sprint(i)))
	}
	require.Equal(t, "old", get(t, cut, "0"), "it can not know")
	proxy.BlackHole(false)
	proxy.Break()
	eventually(t, func() error { return wellAgain(t, cut, &n) })
	for i := range 10 {
		eventually(t, func() error { // a part of the calls is let through at first
			if v := get(t, cut, fmt.Sprint(i)); v != "new" {
				return errors.New(v)
			}
			return nil
		})
	}
}

// A server without its scripts gets them again, in the middle of everything.
func TestFleet_flushedScripts(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	f := start(t, 2, named, earlybird.Options[string]{}, patient[string](server.Addr))
	for i := range 30 {
		key := fmt.Sprint(i)
		server.Do("SCRIPT", "FLUSH")
		require.Equal(t, "value of "+key, get(t, f.caches[i%2], key))
		server.Do("SCRIPT", "FLUSH")
		require.NoError(t, f.caches[i%2].Invalidate(t.Context(), key))
		require.NoError(t, f.caches[i%2].Set(t.Context(), key, "value of "+key))
		require.Equal(t, earlybird.Shared, lookup(t, f.caches[1-i%2], key).State)
	}
	s := f.stats()
	require.Zero(t, s.TierErrors+s.Unleased)
}

// A server that is short of room throws away what it likes: values, leases, and
// what it was to forget. That costs loads. Who makes a change sees it at once all the
// same; others, if even the word of it was thrown away, when their copies expire.
func TestFleet_evictionCostsLoads(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, "--maxmemory", "2mb", "--maxmemory-policy", "allkeys-lru")
	const ttl = 2 * time.Second
	var db rows
	tier := patient[string](server.Addr)
	tier.CompressAbove = -1
	f := start(t, 3, db.value, earlybird.Options[string]{TTL: ttl, NearTTL: 50 * time.Millisecond}, tier)
	f.delay = time.Millisecond
	for i := range 300 {
		key := fmt.Sprint("k", i%20)
		db.Store(key, fmt.Sprint(i))
		require.NoError(t, f.caches[i%3].Invalidate(t.Context(), key))
		require.Equal(t, fmt.Sprint(i), get(t, f.caches[i%3], key))
		get(t, f.caches[(i+1)%3], key)
		require.NoError(t, f.caches[i%3].Set(t.Context(), fmt.Sprint("filler", i), noise(20_000+i*37)))
		require.Equal(t, fmt.Sprint(i), get(t, f.caches[i%3], key))
	}
	require.NotContains(t, server.Do("INFO", "stats"), "evicted_keys:0\r")
	time.Sleep(ttl)
	for i := 280; i < 300; i++ {
		for _, c := range f.caches {
			require.Equal(t, fmt.Sprint(i), get(t, c, fmt.Sprint("k", i%20)))
		}
	}
}

// noise is a value that does not compress.
func noise(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rand.Uint32())
	}
	return string(b)
}

// The lease of an instance that dies while it loads ends by itself. Until then who
// waits for it waits for MaxWait at most.
func TestFleet_deadHoldersLeaseEnds(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	loading, release := make(chan struct{}), make(chan struct{})
	var calls atomic.Int64
	const loadTimeout = time.Second // so leases are for three
	opts := earlybird.Options[string]{LoadTimeout: loadTimeout, MaxWait: 300 * time.Millisecond, NearTTL: 100 * time.Millisecond}
	f := start(t, 1, func(string) (string, error) {
		if calls.Add(1) == 1 {
			close(loading)
			<-release
			return "late", nil
		}
		return "v", nil
	}, opts, patient[string](server.Addr))
	defer close(release)
	go f.caches[0].Get(context.Background(), "k")
	<-loading
	began := time.Now()
	require.NoError(t, f.stores[0].Close()) // as if its process were gone

	impatient := f.join(t, opts, patient[string](server.Addr))
	opts.MaxWait, opts.LoadTimeout = 20*time.Second, 20*time.Second
	heir := f.join(t, opts, patient[string](server.Addr))
	inherits := make(chan time.Duration)
	go func() {
		get(t, heir, "k")
		inherits <- time.Since(began)
	}()
	r := lookup(t, impatient, "k")
	require.Equal(t, earlybird.Loaded, r.State)
	require.EqualValues(t, 1, impatient.Stats().Unleased)
	require.GreaterOrEqual(t, time.Since(began), 300*time.Millisecond)

	took := <-inherits
	t.Logf("the lease was taken over after %v", took)
	require.Greater(t, took, loadTimeout)
	require.Less(t, took, 10*time.Second)
	require.Zero(t, heir.Stats().Unleased)
	require.EqualValues(t, 3, f.loads.Load())
	eventually(t, func() error {
		if n := impatient.Stats().Adopted; n == 0 {
			get(t, impatient, "k")
			return errors.New("what was published is not found")
		}
		return nil
	})
}

// A failover takes away a third of the keys' tier and no more, and gives it back.
func TestFleet_failover(t *testing.T) {
	t.Parallel()
	cluster := redistest.StartCluster(t, 3, true, redistest.FastFailover...)
	var db rows
	tier := redisstore.Options[string]{Addrs: cluster.Addrs(), Timeout: budget, WriteTimeout: budget, ConnectTimeout: time.Second}
	f := start(t, 2, db.value, earlybird.Options[string]{MaxLoads: 8, NearTTL: 100 * time.Millisecond, Ramp: earlybird.Off}, tier)
	d := &slowDay{f: f, db: &db, cache: f.caches[0]}
	d.warm(t)
	other := &slowDay{f: f, db: &db, cache: f.caches[1]}
	other.cold.Store(1 << 30)
	eventually(t, func() error { return wellAgain(t, f.caches[1], &other.tries) })
	for i, strike := range []func(*redistest.Server){(*redistest.Server).Kill, (*redistest.Server).Stop} {
		victim := cluster.Masters[i]
		before := len(f.told())
		strike(victim)
		began := time.Now()
		shared, lived, slowest := 0, 0, time.Duration(0)
		eventually(t, func() error { // each of these succeeds, whatever
			for range 20 {
				key, began := d.coldKey(), time.Now()
				require.Equal(t, "value of "+key, get(t, f.caches[1], key))
				r := lookup(t, f.caches[0], key)
				require.Equal(t, "value of "+key, r.Value)
				took := time.Since(began)
				require.Less(t, took, soon)
				slowest = max(slowest, took)
				if lived++; r.State == earlybird.Shared {
					shared++
				}
			}
			for n := range 20 {
				require.Equal(t, "near", get(t, f.caches[0], fmt.Sprint("near", n)))
			}
			if time.Since(began) < time.Second {
				return errors.New("not noticed yet")
			}
			return errors.Join(wellAgain(t, f.caches[0], &d.tries), wellAgain(t, f.caches[1], &other.tries))
		})
		t.Logf("well again after %v: %d of %d reads shared meanwhile, slowest %v, OnError heard %d times",
			time.Since(began), shared, lived, slowest, len(f.told())-before)
		require.Greater(t, shared, lived/10, "the other masters are used meanwhile")
		if i == 1 {
			victim.Continue()
		}
	}
	require.LessOrEqual(t, f.most.Load(), int64(16))
	eventually(t, func() error { // every key, whichever master has it
		for range 60 {
			key := d.coldKey()
			get(t, f.caches[1], key)
			if r := lookup(t, f.caches[0], key); r.State != earlybird.Shared {
				return fmt.Errorf("%s: state %d", key, r.State)
			}
		}
		return nil
	})
}
