package siege

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/earlybird-cache/earlybird"
)

const (
	readers        = 64 // at once
	hostilePerGood = 4
	portion        = 8 // good keys that a reader takes at a time
)

// A tally is what readers noted down.
type tally struct {
	waits  []time.Duration // of good reads
	reads  atomic.Int64    // good ones
	hits   atomic.Int64    // of them, served from memory
	failed atomic.Int64    // reads of what exists that did not get it

	rejects atomic.Int64 // hostile reads that ended as they should
	leaks   atomic.Int64 // that were given something
	sheds   atomic.Int64
	strange atomic.Int64 // that ended in any other way

	mu      sync.Mutex
	refused []string // a few of the hostile keys that were refused
}

// newTally returns a tally with room for that many good reads. With none it notes
// nothing.
func newTally(good int) *tally {
	return &tally{waits: make([]time.Duration, good), refused: make([]string, 0, samples)}
}

// samples is how many refused keys a tally keeps: the first, and later every thousandth
// in their place.
const samples = 256

// admit lets readers read the rations, mixed, until both are used up.
func (w *world) admit(good, hostile *ration, t *tally) {
	var all sync.WaitGroup
	for range readers {
		all.Go(func() { w.visit(good, hostile, t) })
	}
	all.Wait()
}

// visit is one reader.
func (w *world) visit(good, hostile *ration, t *tally) {
	var someGood [portion]string
	var someBad [portion * hostilePerGood]string
	for {
		g, b := good.take(someGood[:]), hostile.take(someBad[:])
		if len(g)+len(b) == 0 {
			return
		}
		for len(g)+len(b) > 0 {
			n := min(hostilePerGood, len(b))
			for _, key := range b[:n] {
				w.intrude(key, t)
			}
			b = b[n:]
			if len(g) > 0 {
				w.read(g[0], t)
				g = g[1:]
			}
		}
	}
}

// read is a good read: the record is there, so nothing but it will do.
func (w *world) read(key string, t *tally) {
	began := time.Now()
	r, err := w.get(context.Background(), key)
	t.good(time.Since(began), r.State, err == nil && r.Value.key == key)
}

func (t *tally) good(took time.Duration, from earlybird.State, right bool) {
	i := t.reads.Add(1) - 1
	if i < int64(len(t.waits)) {
		t.waits[i] = took
	}
	switch {
	case !right:
		t.failed.Add(1)
	case from == earlybird.Fresh || from == earlybird.Early:
		t.hits.Add(1)
	}
}

// intrude is a hostile read.
func (w *world) intrude(key string, t *tally) {
	r, err := w.get(hostileContext, key)
	exists := w.archive.Exists(key)
	switch {
	case err == nil && exists && r.Value.key == key:
	case exists: // anybody may read it
		t.failed.Add(1)
	case err == nil:
		t.leaks.Add(1)
	case errors.Is(err, earlybird.ErrNotFound), errors.Is(err, earlybird.ErrMalformedKey):
		t.reject(key)
	case errors.Is(err, earlybird.ErrOverloaded):
		t.sheds.Add(1)
	default:
		t.strange.Add(1)
	}
}

func (t *tally) reject(key string) {
	if n := t.rejects.Add(1); n > samples && n%1000 != 0 {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.refused) == samples {
		t.refused = slices.Delete(t.refused, 0, 1)
	}
	t.refused = append(t.refused, key)
}

func (t *tally) hitRatio() float64 { return float64(t.hits.Load()) / float64(max(1, t.reads.Load())) }

// p99 returns how long all but one in a hundred good reads took at most.
func (t *tally) p99() time.Duration {
	waits := slices.Clone(t.waits)
	slices.Sort(waits)
	return waits[(len(waits)-1)*99/100]
}
