package l1

import (
	"sync"
	"sync/atomic"
)

// place is where the value of one key is kept. Ristretto holds places: it
// admits an empty one, and may drop it at any time, which ends it.
type place[V any] struct {
	key  string
	hash uint64
	cell atomic.Pointer[cell[V]] // nil: empty

	mu    sync.Mutex // held to change cell
	ended bool       // not held by ristretto any more, or not for long
}

// cell is a value and what is known of it. It is never written to.
type cell[V any] struct {
	value   V
	version uint64
	expiry  int64
	all     uint64 // void if the fence's is another
}

// put stores c, unless the place has ended, something newer is there, something
// has happened since, or the condition does not hold.
func (p *place[V]) put(c *cell[V], f *fence, since *mark, holds func() bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return false
	}
	now := f.now(p.hash)
	if since != nil && *since != now {
		return false
	}
	if old := p.cell.Load(); old != nil && old.all == now.all && old.version > c.version {
		return false
	}
	if holds != nil && !holds() {
		return false
	}
	c.all = now.all
	p.cell.Store(c)
	return true
}

// empty takes the value away.
func (p *place[V]) empty() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cell.Store(nil)
}

// end empties the place for good. Whoever still has a pointer to it neither
// finds anything here nor leaves anything.
func (p *place[V]) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
	p.cell.Store(nil)
}
