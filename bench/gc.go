package main

import (
	"errors"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// The figures of the garbage collector.
const (
	gcShare   = "gc share" // of the processor time used
	gcCPU     = "gc cpu"   // seconds a collection
	gcReads   = "gc reads/s"
	gcBytes   = "gc B/read"
	gcMissing = 20 // one read in so many is of a key never seen before
)

var gcRow = row{
	name: "gc", base: "earlybird", once: true, variants: plan.heaps,
	columns: []column{
		{head: "gc % of cpu", decimals: 1, quartiles: true, of: func(it, _ sample) float64 { return 100 * it[gcShare] }},
		times("earlybird", func(s sample) float64 { return s[gcShare] }),
		{head: "cpu ms/collection", decimals: 1, of: func(it, _ sample) float64 { return 1e3 * it[gcCPU] }},
		of("bytes/read", gcBytes, 1),
		of("reads/s", gcReads, 0),
	},
	subjects: []subject{
		apart("gc", "earlybird", collected(newEarlybird)),
		apart("gc", "otter", collected(newOtter)),
		apart("gc", "theine", collected(newTheine)),
		apart("gc", "ristretto", collected(newRistretto)),
	},
}

// collected returns the measurement of what the collector takes while a full
// cache is read on all processors and some of the reads load. With GOGC at 100 the
// heap is collected whenever as much was allocated as is alive. That can take a
// minute, so that the share is put together: of how much is allocated while
// everybody reads, and of what a collection costs when nobody does, since only
// then is the collector's processor time told apart from that of others.
func collected(make kind) func(job) (sample, error) {
	return func(j job) (sample, error) {
		o := newOrigin()
		c, err := make(setup{room: j.Entries, origin: o})
		if err != nil {
			return nil, err
		}
		defer c.end()
		if err := c.stock(j.Entries, o.value); err != nil {
			return nil, err
		}
		alive := liveHeap()
		var (
			stop    atomic.Bool
			readers sync.WaitGroup
			reads   atomic.Int64
		)
		for n := range j.Procs {
			readers.Go(func() { c.readSteadily(j.Entries, n, &stop, &reads) })
		}
		debug.SetGCPercent(-1)
		mutator := mutate(j.Benchtime, alive, &reads)
		stop.Store(true)
		readers.Wait()
		return mutator.with(collection(), alive)
	}
}

// mutation is what programs do between collections.
type mutation struct{ seconds, cpu, allocated, reads float64 }

// mutate watches for a while, or until a collection would be due, but not before
// the readers have begun.
func mutate(atMost time.Duration, alive float64, reads *atomic.Int64) mutation {
	const step = 10 * time.Millisecond
	for reads.Load() == 0 {
		time.Sleep(step)
	}
	began, used, allocated, done := time.Now(), cpuTime(), everAllocated(), reads.Load()
	for {
		time.Sleep(step)
		m := mutation{
			seconds:   time.Since(began).Seconds(),
			cpu:       (cpuTime() - used).Seconds(),
			allocated: everAllocated() - allocated,
			reads:     float64(reads.Load() - done),
		}
		if m.reads > 0 && (m.seconds >= atMost.Seconds() || m.allocated >= alive) {
			return m
		}
	}
}

// with returns the figures when each collection takes so many seconds of
// processor time.
func (m mutation) with(collection, alive float64) (sample, error) {
	if m.cpu <= 0 {
		return nil, errors.New("processor time is not known here")
	}
	perCycle := m.cpu * alive / m.allocated // of the program's own
	return sample{
		gcShare: collection / (collection + perCycle),
		gcCPU:   collection,
		gcReads: m.reads / m.seconds,
		gcBytes: m.allocated / m.reads,
	}, nil
}

// readSteadily reads products at random, and strangers now and then. Its random
// numbers are those of Weyl's sequence, which cost nothing and come everywhere.
func (c *cache) readSteadily(products, n int, stop *atomic.Bool, reads *atomic.Int64) {
	const golden, often = 0x9e3779b97f4a7c15, 64
	known := knownKeys(products)
	x, unknown := uint64(n)*golden, n<<40
	for !stop.Load() {
		for range often {
			x += golden
			if x>>32%gcMissing == 0 {
				unknown++
				c.get(strangerOf(unknown))
				continue
			}
			c.get(known[x%uint64(len(known))])
		}
		reads.Add(often)
	}
}

// knownKeys returns some of the keys of n products, cut out of one string: little
// for the collector to look at.
func knownKeys(n int) []string {
	const most = 1 << 16
	var text strings.Builder
	count := min(n, most)
	for i := range count {
		text.WriteString(keyOf(i * (n / count)))
	}
	keys := make([]string, count)
	cut(keys, text.String(), keyLen)
	return keys
}

// collection returns the processor time, in seconds, that a collection takes.
func collection() float64 {
	before := cpuTime()
	runtime.GC()
	return (cpuTime() - before).Seconds()
}

func everAllocated() float64 {
	s := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(s)
	return float64(s[0].Value.Uint64())
}
