package main

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"
)

// subject is something whose speed is measured.
type subject struct {
	name string
	open func(w *workload) (*trial, error) // keys is how many products there are
}

// trial is a subject made ready: its cache full and warm, and the keys at hand
// that it will be asked for.
type trial struct {
	keys stream

	// do is one operation; it reports whether it ended as it should.
	do func(key string) (value string, ok bool)

	// strays is how many operations so far took another path than the one
	// measured, although they ended well. nil: there is no other.
	strays func() int64

	close func() // nil: nothing to do

	cpu          time.Duration // processor time of the last run
	done, astray atomic.Int64
}

// run is a benchmark of the trial.
func (t *trial) run(b *testing.B) {
	before := t.strayed()
	b.ReportAllocs()
	start := cpuTime()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		keys, wrong := t.keys.reader(), int64(0)
		for pb.Next() {
			if _, ok := t.do(keys.next()); !ok {
				wrong++
			}
		}
		t.astray.Add(wrong)
	})
	b.StopTimer()
	t.cpu = cpuTime() - start
	t.done.Add(int64(b.N))
	t.astray.Add(t.strayed() - before)
}

// check returns an error if more than one in a hundred operations of all runs
// were something else than the row is about.
func (t *trial) check() error {
	if done, astray := t.done.Load(), t.astray.Load(); 100*astray > done {
		return fmt.Errorf("%d of %d operations did not do what is measured", astray, done)
	}
	return nil
}

func (t *trial) strayed() int64 {
	if t.strays == nil {
		return 0
	}
	return t.strays()
}

func (t *trial) end() {
	if t.close != nil {
		t.close()
	}
}

// warm reads all products until a pass over them loads nothing, so that the
// cache holds them all, or as many as it ever will.
func (t *trial) warm(products int) error {
	const passes = 5
	for range passes {
		before := t.strayed()
		for i := range products {
			if key := keyOf(i); !t.holds(key) {
				return fmt.Errorf("no value for %q", key)
			}
		}
		if t.strayed() == before {
			break
		}
	}
	return nil
}

func (t *trial) holds(key string) bool {
	v, ok := t.do(key)
	return ok && v == key[valueAt:]
}
