package main

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync/atomic"
	"testing"
)

// trial is a cache made ready: full and warm, and the keys at hand that it will
// be asked for.
type trial struct {
	keys stream
	per  int // keys in one operation; 0: one

	// crowd is how many goroutines there are for each processor; 0: one.
	crowd int

	// do is one operation; it reports whether it ended as it should.
	do func(key string) (value string, ok bool)

	// count grows by each with every operation that took the path that is
	// measured, mostly because it counts the keys that the origin was asked
	// for. nil: there is only one path.
	count func() int64
	each  int

	counts map[string]func() int64 // figures that are counted: what grows, by name

	close func() // nil: nothing to do

	done, astray atomic.Int64 // in keys
}

// The figures of an operation.
const (
	perOp       = "ns/op"     // of the wall clock
	cpuPerOp    = "cpu-ns/op" // processor time, all processors together; none where it is not known
	allocsPerOp = "allocs/op"
	bytesPerOp  = "B/op"
	keysPerOp   = "keys/op"
	callsOp     = "calls/op" // of the origin
	changesOp   = "changes/op"
)

// sample measures a new trial, with no garbage of the last one about.
func (open opener) sample(w *workload) (sample, error) {
	t, err := open(w)
	if err != nil {
		return nil, err
	}
	defer t.end()
	runtime.GC()
	r := testing.Benchmark(t.run)
	if r.N == 0 {
		return nil, errors.New("it did not run")
	}
	s := sample{
		perOp:       float64(r.T.Nanoseconds()) / float64(r.N),
		allocsPerOp: float64(r.MemAllocs) / float64(r.N),
		bytesPerOp:  float64(r.MemBytes) / float64(r.N),
	}
	for figure, x := range r.Extra {
		s[figure] = x
	}
	return s, t.check()
}

// run is a benchmark of the trial.
func (t *trial) run(b *testing.B) {
	counted, figures := counter(t.count), make(map[string]func() int64)
	for figure, count := range t.counts {
		figures[figure] = counter(count)
	}
	b.ReportAllocs()
	b.SetParallelism(max(t.crowd, 1))
	start := cpuTime()
	b.ResetTimer()
	b.RunParallel(t.work)
	b.StopTimer()
	n := float64(b.N)
	if used := cpuTime() - start; used > 0 {
		b.ReportMetric(float64(used)/n, cpuPerOp)
	}
	b.ReportMetric(float64(t.width()), keysPerOp)
	for figure, counted := range figures {
		b.ReportMetric(float64(counted())/n, figure)
	}
	t.done.Add(int64(b.N) * t.width())
	t.astray.Add(int64(math.Abs(float64(counted() - int64(b.N*t.each)))))
}

// work is one goroutine's part of a benchmark.
func (t *trial) work(pb *testing.PB) {
	keys, wrong := t.keys.reader(), int64(0)
	for pb.Next() {
		if _, ok := t.do(keys.next()); !ok {
			wrong++
		}
	}
	t.astray.Add(wrong * t.width())
}

// counter returns a function that tells by how much count has grown.
func counter(count func() int64) func() int64 {
	if count == nil {
		return func() int64 { return 0 }
	}
	before := count()
	return func() int64 { return count() - before }
}

func (t *trial) width() int64 { return int64(max(t.per, 1)) }

// strayError says that a subject did something else than its row is about.
type strayError struct{ astray, done int64 }

func (e *strayError) Error() string {
	return fmt.Sprintf("%.0f %% of operations did not do what is measured", 100*float64(e.astray)/float64(e.done))
}

// check returns a *strayError if more than one in a hundred operations of all
// runs were something else than the row is about.
func (t *trial) check() error {
	if done, astray := t.done.Load(), t.astray.Load(); 100*astray > done {
		return &strayError{astray, done}
	}
	return nil
}

func (t *trial) end() {
	if t.close != nil {
		t.close()
	}
}
