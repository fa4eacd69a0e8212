package scenarios

import (
	"context"
	"sync"
	"time"

	"github.com/earlybird-cache/earlybird"
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
