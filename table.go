package earlybird

import (
	"hash/maphash"
	"math/bits"
	"math/rand/v2"
	"sync"
	"sync/atomic"
)

// table is a shortcut from keys to their entries, for hits: a hit waits for
// memory twice, for the key's bucket and for the entry, where the map underneath
// takes several loads that depend on one another. Nothing depends on what the
// table holds: whatever leaves the map is retired, so that an entry found here is
// either in the map too or never served.
type table[V any] struct {
	seed    maphash.Seed
	buckets atomic.Pointer[[]bucket[V]]

	// turn goes on as entries come in, so often in the time it takes all of them
	// to be replaced that eviction, told once in a turn of each entry that was
	// hit, knows all it has use for: which are read at all, and which lately.
	turn atomic.Uint32

	mu    sync.Mutex // held to grow
	most  int
	added atomic.Uint64
}

// bucket is a line of the processor's cache: a few entries, and for each a byte
// of its key's hash, which saves looking at those of other keys. Tags and
// entries are not written at one instant, so a tag may be another entry's: then
// that is not found here.
type bucket[V any] struct {
	tags    atomic.Uint64
	entries [ways]atomic.Pointer[entry[V]]
}

const (
	ways         = 7
	filled       = 4 // entries to a bucket when the cache is full: 2 % find their buckets taken
	leastBuckets = 1 << 7
	mostBuckets  = 1 << 24
	takeover     = 16  // one try in so many takes a place that is in use
	turns        = 512 // while all entries are replaced
)

// newTable returns a table that grows with what is held, up to room for entries.
func newTable[V any](entries int) *table[V] {
	t := &table[V]{seed: maphash.MakeSeed(), most: max(leastBuckets, min(entries/filled+1, mostBuckets))}
	t.turn.Store(1) // so that a new entry was told of in none
	t.use(leastBuckets)
	return t
}

func (t *table[V]) use(n int) {
	buckets := make([]bucket[V], n)
	t.buckets.Store(&buckets)
}

// bucket returns key's bucket and its tag, in the low byte.
func (t *table[V]) bucket(key string) (b *bucket[V], tag uint64) {
	hash := maphash.String(t.seed, key)
	buckets := *t.buckets.Load()
	i, _ := bits.Mul64(hash, uint64(len(buckets)))
	return &buckets[i], hash & 0xff
}

// get returns key's entry if its bucket holds it, or nil.
func (t *table[V]) get(key string) *entry[V] {
	b, tag := t.bucket(key)
	for m := places(b.tags.Load(), tag); m != 0; m &= m - 1 {
		if e := b.entries[bits.TrailingZeros64(m)/8].Load(); e != nil && e.isOf(key) {
			return e
		}
	}
	return nil
}

// put lets e, key's entry, be found. If its bucket is full of others it seldom
// takes a place, so that those asked for more often stay, and lines are written
// rarely. If e is retired meanwhile, either put sees that or [table.drop] sees e,
// and it does not remain.
func (t *table[V]) put(key string, e *entry[V]) {
	b, tag := t.bucket(key)
	i := b.place(e)
	if i < 0 {
		return
	}
	b.entries[i].Store(e)
	b.tag(i, tag)
	if e.isRetired() {
		b.entries[i].CompareAndSwap(e, nil)
	}
}

// place returns where e is to be put, or -1.
func (b *bucket[V]) place(e *entry[V]) int {
	free := -1
	for i := range b.entries {
		switch b.entries[i].Load() {
		case e:
			return i
		case nil:
			free = i
		}
	}
	if free < 0 && rand.Uint32()%takeover == 0 {
		return rand.IntN(ways)
	}
	return free
}

// tag sets the tag of place i.
func (b *bucket[V]) tag(i int, tag uint64) {
	for {
		old := b.tags.Load()
		tags := old&^(0xff<<(8*i)) | tag<<(8*i)
		if old == tags || b.tags.CompareAndSwap(old, tags) {
			return
		}
	}
}

// places returns a word with the highest bit set of each of the first seven
// bytes where tags has tag; at times also of the byte above such a one.
func places(tags, tag uint64) uint64 {
	const ones, tops = 0x0001010101010101, 0x0080808080808080
	x := tags ^ ones*tag
	return (x - ones) &^ x & tops
}

// drop forgets e, key's entry, which was retired.
func (t *table[V]) drop(key string, e *entry[V]) {
	b, _ := t.bucket(key)
	for i := range b.entries {
		if b.entries[i].Load() == e {
			b.entries[i].CompareAndSwap(e, nil)
		}
	}
}

// add notes that an entry was added, to make n.
func (t *table[V]) add(n int) {
	if t.added.Add(1)%uint64(n/turns+1) == 0 {
		t.turn.Add(1)
	}
	t.fit(n)
}

// fit grows the table for n entries. It begins empty and fills as it is used.
func (t *table[V]) fit(n int) {
	if size := len(*t.buckets.Load()); n <= filled*size || size == t.most {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	size := len(*t.buckets.Load())
	for filled*size < n && size < t.most {
		size *= 4
	}
	if size = min(size, t.most); size > len(*t.buckets.Load()) {
		t.use(size)
	}
}

// clear forgets everything.
func (t *table[V]) clear() { t.use(len(*t.buckets.Load())) }
