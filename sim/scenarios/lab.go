package scenarios

import (
	"context"
	"math"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/earlybird-cache/earlybird"
	"github.com/earlybird-cache/earlybird/sim/estimate"
)

// The exercises of every course on caches, on the real one in virtual time.
var lab = []Scenario{
	{"lab-expired-key", "20 clients, one expired key",
		"All ask at once for a key that has just expired, before an origin that takes 100 ms: looking into the cache and asking the origin oneself, and reading through the cache.",
		playExpired},
	{"lab-jitter", "20 keys of 60 ± 10 s",
		"Warmed at one moment and then read all the time: without jitter all are loaded at once again, with lives of 50 to 70 s they are spread.",
		playLives},
	{"lab-missing-key", "10 requests for a key that does not exist",
		"One after the other, with absences remembered and without.",
		playMissing},
	{"lab-replicas", "100 requests on 4 replicas",
		"Each replica has a cache of its own, and requests fall on them at random. Nothing is shared between them yet, so that each loads the key once; a shared tier with a lease would make that one load.",
		playReplicas},
	{"lab-generations", "A writer of generation 7 after 8",
		"A load reads version 7 and is slow; meanwhile version 8 is written and set. What the load brings answers who waits for it and is not stored. (In one process; between processes it takes a shared tier that carries generations.)",
		playGenerations},
}

// labOrigin counts loads, the most at once, and when they began.
type labOrigin struct {
	takes time.Duration

	mu     sync.Mutex
	now    int
	most   int
	starts []time.Time
}

func (o *labOrigin) load(_ context.Context, key string) (string, error) {
	o.mu.Lock()
	o.now++
	o.most = max(o.most, o.now)
	o.starts = append(o.starts, time.Now())
	o.mu.Unlock()
	time.Sleep(o.takes)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.now--
	return key, nil
}

// inLab runs f with a cache over load in a bubble.
func (st *stage) inLab(load earlybird.Loader[string], opts earlybird.Options[string], f func(*earlybird.Cache[string]) error) (err error) {
	broken := st.Runner.Run(func() {
		opts.Now, opts.Ramp = time.Now, earlybird.Off
		var cache *earlybird.Cache[string]
		if cache, err = earlybird.New(load, opts); err == nil {
			err = f(cache)
			cache.Close()
		}
	})
	if broken != nil {
		return broken
	}
	return err
}

func playExpired(st *stage) ([]Row, error) {
	const clients = 20
	ctx := context.Background()
	var rows []Row
	for _, c := range []struct {
		how   string
		loads int
		read  func(*earlybird.Cache[string], earlybird.Loader[string])
	}{
		{"looking and loading oneself", clients, func(cache *earlybird.Cache[string], load earlybird.Loader[string]) {
			if _, ok := cache.Peek("key"); !ok {
				if v, err := load(ctx, "key"); err == nil {
					cache.Set(ctx, "key", v)
				}
			}
		}},
		{"reading through", 1, func(cache *earlybird.Cache[string], _ earlybird.Loader[string]) { cache.Get(ctx, "key") }},
	} {
		origin := &labOrigin{takes: 100 * time.Millisecond}
		err := st.inLab(origin.load, earlybird.Options[string]{TTL: minute}, func(cache *earlybird.Cache[string]) error {
			if err := cache.Set(ctx, "key", "old"); err != nil {
				return err
			}
			time.Sleep(minute)
			crowd(clients, func(int) { c.read(cache, origin.load) })
			return nil
		})
		if err != nil {
			return nil, err
		}
		rows = append(rows,
			counted("loads, "+c.how, c.loads, len(origin.starts)),
			counted("most at once, "+c.how, c.loads, origin.most))
	}
	return rows, nil
}

// crowd lets n readers act at one moment and waits for them.
func crowd(n int, act func(i int)) {
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() { act(i) })
	}
	all.Wait()
}

func playLives(st *stage) ([]Row, error) {
	const keys = 20
	var rows []Row
	for _, c := range []struct {
		how    string
		ttl    time.Duration
		jitter float64
	}{
		{"no jitter", minute, earlybird.Off},
		{"60 ± 10 s", 70 * second, 20.0 / 70},
	} {
		lives, most, err := st.lives(keys, c.ttl, c.jitter)
		if err != nil {
			return nil, err
		}
		if c.jitter < 0 {
			rows = append(rows, counted("loads in the worst second, "+c.how, keys, most))
			continue
		}
		spread := 20 / math.Sqrt(12)
		e := estimate.Estimate{Observed: mean(lives), StdErr: spread / math.Sqrt(float64(len(lives)))}
		rows = append(rows,
			// Twenty in twenty seconds: eight in one has a chance of some 1e-4.
			bounded("loads in the worst second, "+c.how, AtMost, 8, float64(most)),
			bounded("shortest life, "+c.how, AtLeast, 50, slices.Min(lives)),
			bounded("longest life, "+c.how, AtMost, 70.01, slices.Max(lives)),
			closedBy("mean life, "+c.how, e, 60))
	}
	return rows, nil
}

// lives warms keys at once and reads each ten times a second until all have been
// loaded again. It returns the seconds that passed, and the most in one second.
func (st *stage) lives(keys int, ttl time.Duration, jitter float64) (lives []float64, most int, err error) {
	ctx := context.Background()
	began := make(map[string]time.Time)
	var bySecond [100]int
	load := func(_ context.Context, key string) (string, error) {
		if at, again := began[key]; again {
			life := time.Since(at).Seconds()
			lives = append(lives, life)
			bySecond[min(int(life), len(bySecond)-1)]++
			most = max(most, bySecond[min(int(life), len(bySecond)-1)])
		}
		began[key] = time.Now()
		return key, nil
	}
	opts := earlybird.Options[string]{TTL: ttl, Jitter: jitter, Beta: earlybird.Off, Rand: st.rng.Float64}
	err = st.inLab(load, opts, func(cache *earlybird.Cache[string]) error {
		for end := time.Now().Add(ttl + 10*time.Millisecond); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
			for i := range keys {
				if _, err := cache.Get(ctx, strconv.Itoa(i)); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return lives, most, err
}

func mean(xs []float64) float64 {
	sum := 0.0
	for _, x := range xs {
		sum += x
	}
	return sum / float64(len(xs))
}

func playMissing(st *stage) ([]Row, error) {
	const requests = 10
	var rows []Row
	for _, c := range []struct {
		how   string
		life  time.Duration
		loads int
	}{
		{"absences forgotten", earlybird.Off, requests},
		{"absences remembered", 0, 1},
	} {
		loads := 0
		load := func(context.Context, string) (string, error) {
			loads++
			return "", earlybird.ErrNotFound
		}
		err := st.inLab(load, earlybird.Options[string]{TTL: minute, NegativeTTL: c.life}, func(cache *earlybird.Cache[string]) error {
			for range requests {
				cache.Get(context.Background(), "missing")
				time.Sleep(100 * time.Millisecond)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		rows = append(rows, counted("loads, "+c.how, c.loads, loads))
	}
	return rows, nil
}

func playReplicas(st *stage) ([]Row, error) {
	const requests, replicas = 100, 4
	origin := &labOrigin{takes: 100 * time.Millisecond}
	perReplica := make([]int, replicas)
	err := st.Runner.Run(func() {
		var caches [replicas]*earlybird.Cache[string]
		for i := range caches {
			cache, err := earlybird.New(origin.load, earlybird.Options[string]{TTL: minute, Now: time.Now, Ramp: earlybird.Off})
			if err != nil {
				panic(err) // good options
			}
			caches[i] = cache
		}
		which := make([]int, requests)
		for i := range which {
			which[i] = st.rng.IntN(replicas)
			perReplica[which[i]]++
		}
		crowd(requests, func(i int) { caches[which[i]].Get(context.Background(), "key") })
		for _, cache := range caches {
			cache.Close()
		}
	})
	// The busiest of four by chance: 25 and four standard deviations are never seen.
	even := float64(requests) / replicas
	return []Row{
		counted("loads, a cache in each replica", replicas, len(origin.starts)),
		bounded("requests on the busiest replica", AtMost, even+4*math.Sqrt(even*(1-1.0/replicas)), float64(slices.Max(perReplica))),
	}, err
}

func playGenerations(st *stage) ([]Row, error) {
	ctx := context.Background()
	version := atomic.Int64{}
	version.Store(7)
	load := func(context.Context, string) (string, error) {
		v := version.Load()
		time.Sleep(second) // read, and slow to arrive
		return strconv.FormatInt(v, 10), nil
	}
	waiter, after := 0, 0
	var stats earlybird.Stats
	err := st.inLab(load, earlybird.Options[string]{TTL: minute}, func(cache *earlybird.Cache[string]) error {
		var slow sync.WaitGroup
		slow.Go(func() {
			v, _ := cache.Get(ctx, "key")
			waiter, _ = strconv.Atoi(v)
		})
		time.Sleep(second / 2)
		version.Store(8)
		if err := cache.Set(ctx, "key", "8"); err != nil {
			return err
		}
		slow.Wait()
		v, err := cache.Get(ctx, "key")
		after, _ = strconv.Atoi(v)
		stats = cache.Stats()
		return err
	})
	return []Row{
		counted("what the waiting reader gets", 7, waiter),
		counted("what is read afterwards", 8, after),
		counted("results not stored", 1, int(stats.Fenced)),
	}, err
}

// seconds is a duration.
func seconds(s float64) time.Duration { return time.Duration(math.Round(s * float64(second))) }
