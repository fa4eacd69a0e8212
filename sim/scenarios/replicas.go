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
)

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
