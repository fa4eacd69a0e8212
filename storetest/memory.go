package storetest

import (
	"sync"
	"time"

	"github.com/earlybird-cache/earlybird/store"
)

// Options are what a Memory is made of. The zero value is a tier without
// latency or faults.
type Options[V any] struct {
	// Clone copies values in and out. nil assigns them, which is a copy unless V
	// has pointers in it.
	Clone func(V) V

	// Latency is how long a message travels, one way; Jitter is what chance adds
	// to that at most.
	Latency, Jitter time.Duration

	// Budget is how long a client waits for a reply. Default 50ms.
	Budget time.Duration

	// Heartbeat is how long a client takes to notice that it is cut off. Default
	// 1s.
	Heartbeat time.Duration

	// MaxWatched bounds the keys that a client watches. Default 10,000.
	MaxWatched int

	// MaxFacts is how many facts the server remembers, for those who were cut
	// off. Default 65,536.
	MaxFacts int

	// Fault says what becomes of a call's messages. nil lets all pass. It must
	// be safe for concurrent use.
	Fault func(Call) Fault

	// SharedLeases lets Acquire hand out the same lease to everybody.
	SharedLeases bool

	// Rand returns a random number in [0, 1) for Jitter. Default that of
	// math/rand/v2. It must be safe for concurrent use.
	Rand func() float64
}

// Memory is the server: a tier in the memory of this process. Make one with
// NewMemory, and a store.Store for each cache with Client. Nothing is thrown
// away for lack of room; what has expired goes when its key is next touched.
type Memory[V any] struct {
	opts Options[V]
	net  network

	mu      sync.Mutex
	cells   map[string]*cell[V]
	copies  map[copyName]duplicate[V]
	latest  store.Generation // of all keys
	floor   store.Generation // of the latest InvalidateAll
	tokens  uint64
	clients []*Client[V]
	facts   facts
	blobs   map[string]blob
}

// cell is what the server has of a key.
type cell[V any] struct {
	key      string
	record   store.Record[V] // Missing if there is none
	stale    time.Time       // when its Life ends
	gone     time.Time       // and its Grace
	floor    store.Generation
	token    string // of the lease; "" while cooling down
	leased   store.Generation
	leaseEnd time.Time // zero if there is no lease
	changed  chan struct{}
	watchers map[*Client[V]]int // by the number of the connection
	spread   store.Generation   // the latest of which copies were made
	splits   map[int]time.Time  // by number of copies, until when some may live
}

// NewMemory returns an empty tier.
func NewMemory[V any](opts Options[V]) *Memory[V] {
	if opts.Budget <= 0 {
		opts.Budget = 50 * time.Millisecond
	}
	if opts.Heartbeat <= 0 {
		opts.Heartbeat = defaultHeartbeat
	}
	if opts.MaxWatched <= 0 {
		opts.MaxWatched = defaultMaxWatched
	}
	if opts.MaxFacts <= 0 {
		opts.MaxFacts = 1 << 16
	}
	if opts.Clone == nil {
		opts.Clone = func(v V) V { return v }
	}
	return &Memory[V]{opts: opts, cells: make(map[string]*cell[V]), copies: make(map[copyName]duplicate[V])}
}

// Evict throws away what is held of key, the lease and all memory of it
// included, as a server does that is short of room. Copies lie elsewhere.
func (m *Memory[V]) Evict(key string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if c := m.cells[key]; c != nil {
		c.wake()
		c.changedLocked()
		delete(m.cells, key)
	}
}

// EvictLease throws away the lease of key alone.
func (m *Memory[V]) EvictLease(key string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.cellLocked(key).release()
}

// Lose throws away everything, as a restart of the server does.
func (m *Memory[V]) Lose() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range m.cells {
		c.wake()
	}
	clear(m.cells)
	m.facts.loseLocked()
	clear(m.blobs)
	for _, c := range m.clients {
		c.breakLocked()
	}
	clear(m.copies)
}

// Replicate notes what is held now, leases included. failOver goes back to it, as a
// failover does to a replica that has fallen behind: what came between is
// forgotten, changes too. Only generations still go up.
func (m *Memory[V]) Replicate() (failOver func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	replica := make(map[string]cell[V])
	for key, c := range m.cells {
		replica[key] = *c
	}
	floor := m.floor
	return func() {
		m.Lose()
		m.mu.Lock()
		defer m.mu.Unlock()
		m.floor = floor
		for key, c := range replica {
			c.changed, c.watchers, c.splits = nil, nil, nil
			m.cells[key] = &c
		}
	}
}

// Len returns how many keys have a record, expired ones included.
func (m *Memory[V]) Len() (n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range m.cells {
		if c.record.Kind != store.Missing {
			n++
		}
	}
	return n
}

// cellLocked returns key's cell with what is over taken away.
func (m *Memory[V]) cellLocked(key string) *cell[V] {
	c := m.cells[key]
	if c == nil {
		c = &cell[V]{key: key}
		m.cells[key] = c
	}
	now := time.Now()
	if c.record.Kind != store.Missing && !now.Before(c.gone) {
		c.record = store.Record[V]{}
	}
	if !c.leaseEnd.IsZero() && !now.Before(c.leaseEnd) {
		c.release()
	}
	return c
}

// nextLocked returns a generation above all before.
func (m *Memory[V]) nextLocked() store.Generation {
	m.latest++
	return m.latest
}

// readLocked returns a copy of what c holds.
func (m *Memory[V]) readLocked(c *cell[V]) store.Record[V] {
	r := c.record
	if r.Kind == store.Missing {
		r.Generation = max(c.floor, m.floor)
		return r
	}
	if r.Kind == store.Value {
		r.Value = m.opts.Clone(r.Value)
	}
	r.Left = time.Until(c.stale)
	return r
}

// storeLocked puts r into c with generation g.
func (m *Memory[V]) storeLocked(c *cell[V], r store.Record[V], g store.Generation) {
	if r.Kind == store.Value {
		r.Value = m.opts.Clone(r.Value)
	}
	r.Generation, r.Left = g, 0
	c.record = r
	c.stale = time.Now().Add(r.Life)
	c.gone = c.stale.Add(r.Grace)
	c.release()
	c.changedLocked()
}

// forgetLocked makes everything that was ever known of c's key void.
func (m *Memory[V]) forgetLocked(c *cell[V]) {
	c.record = store.Record[V]{}
	c.floor = m.nextLocked()
	c.release()
	c.changedLocked()
}

// release ends the lease and wakes those who wait for that.
func (c *cell[V]) release() {
	c.token, c.leased, c.leaseEnd = "", 0, time.Time{}
	c.wake()
}

func (c *cell[V]) wake() {
	if c.changed != nil {
		close(c.changed)
		c.changed = nil
	}
}
