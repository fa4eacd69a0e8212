package earlybird

import (
	"container/list"
	"sync"
	"time"
)

// gate stands before the origin. It lets limit calls run at once and makes
// others queue, those that somebody waits for before the rest. A call keeps
// its slot until the loader has returned, however late that is.
type gate struct {
	limit int

	mu      sync.Mutex
	running [priorities]int
	queues  [priorities]list.List // of *ticket
	waiting int
	waited  uint64 // how many ever queued
	shed    uint64 // how many were refused
}

// priority is how urgently a load is wanted.
type priority uint8

const (
	urgent     priority = iota // somebody waits for it
	background                 // the value it refreshes is still served
	priorities
)

// ticket is a load's place before the gate. Its fields are the gate's.
type ticket struct {
	priority priority
	over     bool          // needs no slot
	slot     priority      // what its slot, once it has one, counts as
	ready    chan struct{} // closed when its wait is over
	place    *list.Element // in its queue, while it is there
	bumped   bool          // lost its place to a more urgent load
}

// admission is how a load got past the gate.
type admission uint8

const (
	refused    admission = iota // not at all: the queue is full or did not move
	admitted                    // with a slot, to be given back by leave
	overlooked                  // without one: in the slot of a load that waits for it
)

// newGate returns a gate for limit calls at once; a negative limit is none.
func newGate(limit int) *gate {
	if limit < 0 {
		limit = 1 << 24 // beyond any number of goroutines, and 8 times it fits an int
	}
	return &gate{limit: limit}
}

// enter waits until t may go, at most for patience and until closing closes.
func (g *gate) enter(t *ticket, patience time.Duration, closing <-chan struct{}) admission {
	ready, a := g.arrive(t)
	if ready == nil {
		return a
	}
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-ready:
	case <-timer.C:
	case <-closing:
	}
	return g.settle(t)
}

// arrive admits t, refuses it, or gives it a place in the queue and returns
// the channel that ends its wait.
func (g *gate) arrive(t *ticket) (<-chan struct{}, admission) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case t.over:
		return nil, overlooked
	case g.roomLocked(t.priority) && g.queues[t.priority].Len() == 0:
		g.admitLocked(t)
		return nil, admitted
	case g.waiting >= 8*g.limit && !g.bumpLocked(t.priority):
		g.shed++
		return nil, refused
	}
	g.waited++
	g.waiting++
	t.ready = make(chan struct{})
	t.place = g.queues[t.priority].PushBack(t)
	return t.ready, refused
}

// settle says how the wait of t ended.
func (g *gate) settle(t *ticket) admission {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case t.place != nil: // it is still in the queue: its patience ended
		g.unqueueLocked(t)
		g.shed++
		return refused
	case t.bumped:
		g.shed++
		return refused
	case t.over:
		return overlooked
	}
	return admitted
}

// leave gives back the slot of t and lets the next ones go.
func (g *gate) leave(t *ticket) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.running[t.slot]--
	g.advanceLocked()
}

// hurry makes a load urgent: somebody now waits for it.
func (g *gate) hurry(t *ticket) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if t.priority == urgent {
		return
	}
	if t.place != nil {
		g.queues[t.priority].Remove(t.place)
		t.place = g.queues[urgent].PushBack(t)
	}
	t.priority = urgent
	g.advanceLocked()
}

// lift lets t go over the gate: a load that runs waits for it, and would
// otherwise wait for a slot that may be its own.
func (g *gate) lift(t *ticket) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if t.place != nil {
		g.unqueueLocked(t)
	} else if t.ready != nil {
		return // it has gone already, with a slot
	}
	t.over = true
}

// roomLocked reports whether one more load of priority p may run. Refreshes
// leave seven slots in ten to those who wait.
func (g *gate) roomLocked(p priority) bool {
	if g.running[urgent]+g.running[background] >= g.limit {
		return false
	}
	return p == urgent || g.running[background] < max(1, g.limit*3/10)
}

// advanceLocked admits whom there is room for.
func (g *gate) advanceLocked() {
	for p := range priorities {
		for g.roomLocked(p) && g.queues[p].Len() > 0 {
			t := g.queues[p].Front().Value.(*ticket)
			g.admitLocked(t)
			g.unqueueLocked(t)
		}
	}
}

func (g *gate) admitLocked(t *ticket) {
	t.slot = t.priority
	g.running[t.slot]++
}

// bumpLocked makes room in a full queue by refusing the youngest load less
// urgent than p, if there is one.
func (g *gate) bumpLocked(p priority) bool {
	if p == background {
		return false
	}
	last := g.queues[background].Back()
	if last == nil {
		return false
	}
	t := last.Value.(*ticket)
	t.bumped = true
	g.unqueueLocked(t)
	return true
}

// unqueueLocked takes t out of its queue and ends its wait.
func (g *gate) unqueueLocked(t *ticket) {
	g.queues[t.priority].Remove(t.place)
	t.place = nil
	g.waiting--
	close(t.ready)
}

func (g *gate) addTo(s *Stats) {
	g.mu.Lock()
	defer g.mu.Unlock()
	s.GateQueue, s.GateWaits, s.GateSheds = g.waiting, g.waited, g.shed
}
