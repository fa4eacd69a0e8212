package earlybird

import (
	"hash/maphash"
	"math/rand/v2"
	"sync"
	"sync/atomic"
)

// table is a shortcut from keys to their entries, for hits: one hash, one load
// and one comparison, where the map underneath takes several dependent loads.
// Each slot holds the entry that was last served from there; keys that share a
// slot take turns. Nothing depends on what it holds: whatever leaves the map is
// retired, so that an entry in a slot is either in the map too or never served.
type table[V any] struct {
	seed  maphash.Seed
	slots atomic.Pointer[[]atomic.Pointer[entry[V]]]

	mu   sync.Mutex // held to grow
	most int
}

const (
	leastSlots = 1 << 10
	takeover   = 16 // one try in so many takes a slot that is in use
)

// newTable returns a table that grows with what is held, up to two slots for
// each of entries.
func newTable[V any](entries int) *table[V] {
	t := &table[V]{seed: maphash.MakeSeed(), most: leastSlots}
	for t.most < 2*entries && t.most < 1<<26 {
		t.most *= 2
	}
	t.use(leastSlots)
	return t
}

func (t *table[V]) use(n int) {
	slots := make([]atomic.Pointer[entry[V]], n)
	t.slots.Store(&slots)
}

func (t *table[V]) slot(key string) *atomic.Pointer[entry[V]] {
	slots := *t.slots.Load()
	return &slots[maphash.String(t.seed, key)&uint64(len(slots)-1)]
}

// get returns key's entry if its slot holds it, or nil.
func (t *table[V]) get(key string) *entry[V] {
	if e := t.slot(key).Load(); e != nil && e.key == key {
		return e
	}
	return nil
}

// put lets e be found. Where its slot is another's it seldom takes it, so that
// the one asked for more often stays, and lines are written rarely. If e is
// retired meanwhile, either put sees that or [table.drop] sees e, and it does not
// remain.
func (t *table[V]) put(e *entry[V]) {
	s := t.slot(e.key)
	if old := s.Load(); old != nil && !old.retired.Load() && rand.Uint32()%takeover != 0 {
		return
	}
	s.Store(e)
	if e.retired.Load() {
		s.CompareAndSwap(e, nil)
	}
}

// drop forgets e, which was retired.
func (t *table[V]) drop(e *entry[V]) {
	t.slot(e.key).CompareAndSwap(e, nil)
}

// fit grows the table for n entries. It begins empty and fills as it is used.
func (t *table[V]) fit(n int) {
	if size := len(*t.slots.Load()); 2*n <= size || size == t.most {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	size := len(*t.slots.Load())
	for size < 2*n && size < t.most {
		size *= 4
	}
	if size = min(size, t.most); size > len(*t.slots.Load()) {
		t.use(size)
	}
}

// clear forgets everything.
func (t *table[V]) clear() { t.use(len(*t.slots.Load())) }
