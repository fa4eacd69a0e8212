package main

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// A storm is brief lives: one product in ten lives no longer than a second, ten
// thousand of the usual hundred thousand, and the origin takes a while for each.
// Those that are read are loaded once a second or so.
const (
	brief       = time.Second
	briefOneIn  = 10
	originDelay = 5 * time.Millisecond
	mostReaders = 64 // for each processor: many wait for loads
)

// The figures of a storm, of both its phases. Latencies are in ns.
const (
	p50, p99, p999 = "p50", "p99", "p99.9"
	inStorm        = " in storm"
	readsPerSecond = "reads/s"
	loadsPerSecond = "loads/s"
)

var stormRow = row{
	name: "storm", base: "earlybird", columns: stormColumns(),
	subjects: []subject{
		{name: "earlybird", sample: weathered(newEarlybird)},
		{name: "otter", sample: weathered(newOtter)},
		{name: "otter-coarse", sample: weathered(newOtterCoarse)},
	},
}

func stormColumns() (columns []column) {
	for _, p := range []string{p50, p99, p999} {
		columns = append(columns, of(p+" calm", p, 0), of(p+" storm", p+inStorm, 0))
	}
	worse := func(it, _ sample) float64 { return it[p999+inStorm] / it[p999] }
	return append(columns,
		column{head: "p99.9 storm ÷ calm", decimals: 2, quartiles: true, of: worse},
		of("reads/s calm", readsPerSecond, 0), of("reads/s storm", readsPerSecond+inStorm, 0),
		of("loads/s storm", loadsPerSecond+inStorm, 0),
	)
}

// weathered returns the measurement of hits while it is calm and in a storm.
func weathered(make kind) func(context.Context, *workload) (sample, error) {
	return func(ctx context.Context, w *workload) (sample, error) {
		o, stormy := &origin{value: stamped(w.valueLen)}, new(atomic.Bool)
		c, err := make(setup{room: w.products, origin: o, life: func(key string) time.Duration {
			if stormy.Load() && isBrief(key) {
				return brief
			}
			return ttl
		}})
		if err != nil {
			return nil, err
		}
		defer c.end()
		if err := c.stock(w.products, o.value); err != nil {
			return nil, err
		}
		s, figures := storm{cache: c, origin: o, workload: w}, sample{}
		runtime.GC()
		o.delay.Store(int64(originDelay))
		s.phase(ctx, 0, figures, "")
		stormy.Store(true)
		s.rise()
		s.phase(ctx, max(w.products/briefOneIn/20, 1), figures, inStorm)
		return figures, ctx.Err()
	}
}

func isBrief(key string) bool { return productOf(key)%briefOneIn == 0 }

// storm is a cache in changing weather.
type storm struct {
	cache    *cache
	origin   *origin
	workload *workload
}

// rise stores the products of brief lives anew, spread over one such life.
func (s storm) rise() {
	start := time.Now()
	for i := 0; i < s.workload.products; i += briefOneIn {
		due := time.Duration(float64(brief) * float64(i) / float64(s.workload.products))
		time.Sleep(due - time.Since(start))
		s.cache.set(keyOf(i), s.origin.value(keyOf(i)))
	}
}

// phase reads for the workload's time, longer if there were not yet as many
// loads as given, and adds what was seen to figures.
func (s storm) phase(ctx context.Context, least int, figures sample, suffix string) {
	loads, start := counter(s.origin.keys.Load), time.Now()
	all := s.read(func() bool {
		return ctx.Err() != nil || time.Since(start) >= s.workload.benchtime && loads() >= int64(least)
	})
	took := time.Since(start).Seconds()
	figures[p50+suffix], figures[p99+suffix], figures[p999+suffix] = all.at(50), all.at(99), all.at(99.9)
	figures[readsPerSecond+suffix] = float64(all.TotalCount()) / took
	figures[loadsPerSecond+suffix] = float64(loads()) / took
}

// read has all readers read until done.
func (s storm) read(done func() bool) latencies {
	var (
		all     = newLatencies()
		stop    atomic.Bool
		mu      sync.Mutex
		readers sync.WaitGroup
		keys    = s.workload.popular()
	)
	for range mostReaders * runtime.GOMAXPROCS(0) {
		readers.Go(func() {
			own := s.hits(keys.reader(), &stop)
			mu.Lock()
			defer mu.Unlock()
			all.Merge(own.Histogram)
		})
	}
	for !done() {
		time.Sleep(time.Millisecond)
	}
	stop.Store(true)
	readers.Wait()
	return all
}

// hits reads until told to stop and returns the latencies of the hits: of values
// that were loaded before the read began. One look at the clock ends a read and
// begins the next.
func (s storm) hits(keys *reader, stop *atomic.Bool) latencies {
	own := newLatencies()
	began := sinceStart()
	for !stop.Load() {
		v, ok := s.cache.get(keys.next())
		ended := sinceStart()
		if ok && stampOf(v) <= began {
			own.add(ended - began)
		}
		began = ended
	}
	return own
}
