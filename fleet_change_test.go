package earlybird_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird"
	"github.com/earlybird-cache/earlybird/internal/redistest"
	"github.com/earlybird-cache/earlybird/internal/standstill"
)

// Changes race with slow loads: 64 readers on four instances, and each load has
// read its row some milliseconds before it returns it. The instance that makes the
// changes never sees an old value again, the others not for longer than NearTTL
// after the change has returned.
func TestFleet_changesAgainstSlowLoads(t *testing.T) {
	t.Run("cluster", func(t *testing.T) {
		t.Parallel()
		servers := sharedCluster(t)
		newRace(t, servers).run(t, 500, func() bool { return true })
	})
	// Leases that disappear cost loads, and bring nothing back.
	evictLeases := func(t *testing.T, servers []*redistest.Server) {
		r := newRace(t, servers)
		stop := make(chan struct{})
		var evictor sync.WaitGroup
		var evicted atomic.Int64
		evictor.Go(func() {
			for {
				select {
				case <-stop:
					return
				case <-time.After(5 * time.Millisecond):
				}
				for _, s := range servers {
					for _, name := range leases(r.f.namespace, s) {
						if n, _ := s.Try("DEL", name); n == "1" { // a replica would say MOVED
							evicted.Add(1)
						}
					}
				}
			}
		})
		r.run(t, 200, func() bool { return evicted.Load() > 0 })
		close(stop)
		evictor.Wait()
		t.Logf("%d leases evicted", evicted.Load())
	}
	t.Run("leases evicted", func(t *testing.T) { t.Parallel(); evictLeases(t, oneServer(t)) })
	t.Run("leases evicted in a cluster", func(t *testing.T) { t.Parallel(); evictLeases(t, sharedCluster(t)) })
}

// leases returns the names of the leases that a server knows of.
func leases(namespace string, s *redistest.Server) (names []string) {
	all, _ := s.Try("KEYS", namespace+":l:*")
	return strings.Fields(all)
}

const raceNear = 250 * time.Millisecond

// race is what the readers and the one who changes know of each other.
type race struct {
	f        *instances[string]
	versions [4]atomic.Int64 // of each key, at the origin
	changed  [4]atomic.Int64 // the version that a change has returned for
	history  [4]*sync.Map    // when that was, by version
	began    time.Time
}

func raceKey(i int) string { return fmt.Sprint("raced", i) }

func newRace(t *testing.T, servers []*redistest.Server) *race {
	r := &race{began: time.Now()}
	for i := range r.history {
		r.history[i] = new(sync.Map)
	}
	r.f = start(t, 4, func(key string) (string, error) {
		i, err := strconv.Atoi(key[len("raced"):])
		return strconv.FormatInt(r.versions[i].Load(), 10), err
	}, earlybird.Options[string]{NearTTL: raceNear}, patient[string](addrs(servers)...))
	return r
}

// run makes so many changes while all read, and more until there was enough of what
// it is about.
func (r *race) run(t *testing.T, rounds int, enough func() bool) {
	stop, watch := make(chan struct{}), standstill.Begin()
	var readers sync.WaitGroup
	var reads, late atomic.Int64 // reads, and the longest time anybody was behind
	for n := range 64 {
		readers.Go(func() {
			for {
				select {
				case <-stop:
					return
				case <-time.After(time.Duration(rand.IntN(4)) * time.Millisecond):
				}
				reads.Add(1)
				if n%4 == 0 {
					r.readOwn(t, rand.IntN(len(r.versions)))
				} else {
					r.readOther(t, n%4, rand.IntN(len(r.versions)), &late)
				}
			}
		})
	}
	deadline := time.Now().Add(time.Minute)
	for n := 0; n < rounds || r.f.stats().Lost == 0 || !enough(); n++ {
		require.True(t, time.Now().Before(deadline), "no load was ever overtaken by a change, or no lease evicted")
		i := rand.IntN(len(r.versions))
		v := r.versions[i].Add(1)
		if rand.IntN(4) == 0 {
			require.NoError(t, r.f.caches[0].Set(t.Context(), raceKey(i), strconv.FormatInt(v, 10)))
		} else {
			require.NoError(t, r.f.caches[0].Invalidate(t.Context(), raceKey(i)))
		}
		r.history[i].Store(v, time.Now())
		r.changed[i].Store(v)
		time.Sleep(time.Duration(rand.IntN(8)) * time.Millisecond)
	}
	close(stop)
	readers.Wait()
	paused := watch.Longest()
	s := r.f.stats()
	t.Logf("%d reads, %d loads, %d refused, %d waited; others saw a change at most %v after it had returned, standstill %v",
		reads.Load(), s.Loads, s.Lost, s.Waited, time.Duration(late.Load()), paused)
	require.Zero(t, s.TierErrors)
	if paused > raceNear/10 { // then others stood still too, and perhaps for longer
		t.Log("the machine stood still for too long to see how soon others know")
		return
	}
	require.LessOrEqual(t, time.Duration(late.Load()), raceNear+paused, "who stood still may have been given his answer before")
}

// readOwn reads where changes are made: what a change has returned for is seen.
func (r *race) readOwn(t *testing.T, i int) {
	least := r.changed[i].Load()
	v, err := strconv.ParseInt(get(t, r.f.caches[0], raceKey(i)), 10, 64)
	require.NoError(t, err)
	require.GreaterOrEqual(t, v, least)
}

// readOther reads elsewhere: what is missing must have been changed within
// NearTTL before the read began.
func (r *race) readOther(t *testing.T, cache, i int, late *atomic.Int64) {
	began := time.Now()
	v, err := strconv.ParseInt(get(t, r.f.caches[cache], raceKey(i)), 10, 64)
	require.NoError(t, err)
	at, ok := r.history[i].Load(v + 1) // the first change that was not seen
	if !ok {
		return
	}
	behind := began.Sub(at.(time.Time))
	for most := late.Load(); int64(behind) > most && !late.CompareAndSwap(most, int64(behind)); most = late.Load() {
	}
}

// What one instance sets, creates or forgets, alone or with everything, the others
// find.
func TestFleet_changesReachEveryInstance(t *testing.T) {
	onEach(t, func(t *testing.T, servers []*redistest.Server) {
		var db rows
		f := start(t, 2, db.value, earlybird.Options[string]{NearTTL: 100 * time.Millisecond}, patient[string](addrs(servers)...))
		a, b := f.caches[0], f.caches[1]
		sees := func(c *earlybird.Cache[string], key, want string) error {
			v, err := c.Get(t.Context(), key)
			if v != want || (err != nil) != (want == "") {
				return fmt.Errorf("%q has value %q, %v", key, v, err)
			}
			return nil
		}
		bothSee := func(key, want string) {
			t.Helper()
			require.NoError(t, sees(a, key, want))
			eventually(t, func() error { return sees(b, key, want) })
		}
		bothSee("new", "")
		require.NoError(t, a.Creating(t.Context(), []string{"new"}, func() error {
			db.Store("new", "created")
			return nil
		}))
		bothSee("new", "created")

		before := f.loads.Load()
		db.Store("new", "set")
		require.NoError(t, a.Set(t.Context(), "new", "set"))
		bothSee("new", "set")
		require.Equal(t, before, f.loads.Load(), "who sets a value spares everybody the load")

		for i := range 20 {
			db.Store(fmt.Sprint(i), "old")
			bothSee(fmt.Sprint(i), "old")
			db.Store(fmt.Sprint(i), "new")
		}
		require.NoError(t, a.InvalidateAll(t.Context()))
		for i := range 20 {
			bothSee(fmt.Sprint(i), "new")
		}

		db.Delete("0")
		require.NoError(t, a.Invalidate(t.Context(), "0"))
		bothSee("0", "")
	})
}

// A read that finds the tier's record older than its own cache's TTL allows does
// not serve it: TTL bounds the age of what a cache serves, whoever loaded it.
func TestFleet_eachCacheKeepsItsOwnTTL(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	f := start(t, 1, named, earlybird.Options[string]{TTL: time.Hour}, patient[string](server.Addr))
	long := f.caches[0]
	short := f.join(t, earlybird.Options[string]{TTL: 400 * time.Millisecond, Jitter: earlybird.Off, Beta: earlybird.Off}, patient[string](server.Addr))
	get(t, long, "k")
	began := time.Now()
	eventually(t, func() error {
		r := lookup(t, short, "k")
		require.Less(t, r.Age, 400*time.Millisecond)
		if n := f.loadsOf("k"); n < 3 {
			return fmt.Errorf("%d loads", n)
		}
		return nil
	})
	require.Greater(t, time.Since(began), 700*time.Millisecond, "it does serve what another has loaded")
	require.Equal(t, "value of k", get(t, long, "k"))
}

// Several keys at once, with a loader for several and without.
func TestFleet_manyKeysAtOnce(t *testing.T) {
	for _, together := range []bool{false, true} {
		t.Run(fmt.Sprint("LoadMany=", together), func(t *testing.T) {
			onEach(t, func(t *testing.T, servers []*redistest.Server) {
				testMany(t, servers, together)
			})
		})
	}
}

func testMany(t *testing.T, servers []*redistest.Server, together bool) {
	var db rows
	var f *instances[string]
	opts := earlybird.Options[string]{NearTTL: time.Hour, LoadTimeout: time.Minute, MaxWait: time.Minute}
	if together {
		opts.LoadMany = loadManyBy(func(key string) (string, error) { return f.load(t.Context(), key) })
	}
	f = start(t, 4, db.value, opts, patient[string](addrs(servers)...))
	var keys []string
	for i := range 60 {
		keys = append(keys, fmt.Sprint("many", i))
		if i%3 > 0 {
			db.Store(keys[i], "value of "+keys[i])
		}
	}
	get := func(c *earlybird.Cache[string]) {
		found, err := c.GetMany(t.Context(), keys)
		var many *earlybird.ManyError
		require.ErrorAs(t, err, &many)
		require.Len(t, found, 40)
		require.Len(t, many.Errors, 20)
		for i, key := range keys {
			if i%3 > 0 {
				require.Equal(t, "value of "+key, found[key])
			} else {
				require.ErrorIs(t, many.Errors[key], earlybird.ErrNotFound)
			}
		}
	}
	var crowd sync.WaitGroup
	for _, c := range f.caches[:3] {
		crowd.Go(func() { get(c) })
	}
	crowd.Wait()
	get(f.caches[3])
	for _, key := range keys {
		require.Equal(t, 1, f.loadsOf(key), key)
	}
	require.Zero(t, f.stats().Unleased)

	// Warm takes over what others have loaded.
	w := f.join(t, opts, patient[string](addrs(servers)...))
	var done earlybird.Warmed
	require.NoError(t, w.Warm(t.Context(), slices.Values(keys), func(d earlybird.Warmed) { done = d }))
	require.Equal(t, earlybird.Warmed{Seen: 60, Loaded: 40, Absent: 20}, done)
	require.EqualValues(t, 60, f.loads.Load())
	require.Equal(t, earlybird.Fresh, lookup(t, w, keys[1]).State)
}

func loadManyBy(load func(key string) (string, error)) func(context.Context, []string) (map[string]string, error) {
	return func(_ context.Context, keys []string) (map[string]string, error) {
		found := make(map[string]string)
		for _, key := range keys {
			v, err := load(key)
			switch {
			case err == nil:
				found[key] = v
			case !errors.Is(err, earlybird.ErrNotFound):
				return found, err
			}
		}
		return found, nil
	}
}
