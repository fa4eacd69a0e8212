package earlybird

import (
	"container/list"
	"sync"
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

// ticket is a load's place before the gate. Its fields are the gate's once
// it has entered.
type ticket struct {
	priority priority
	holder   holder
	slot     priority // what its slot, once it has one, counts as
	over     bool     // needs no slot
	entered  bool
	place    *list.Element // in its queue, while it is there
}

// holder is a load with a ticket. The gate calls it, at most once, when its
// wait in the queue is over.
type holder interface{ board(admission) }

// admission is what the gate says to a load.
type admission uint8

const (
	refused    admission = iota // the queue is full, or a more urgent load took its place
	queued                      // it will be called
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

// enter says whether the holder of t may go. If it is queued, it will be called
// unless it withdraws.
func (g *gate) enter(t *ticket) admission {
	g.mu.Lock()
	a, bumped := g.enterLocked(t)
	g.mu.Unlock()
	if bumped != nil {
		bumped.holder.board(refused)
	}
	return a
}

func (g *gate) enterLocked(t *ticket) (a admission, bumped *ticket) {
	t.entered = true
	switch {
	case t.over:
		return overlooked, nil
	case g.roomLocked(t.priority) && g.queues[t.priority].Len() == 0:
		g.admitLocked(t)
		return admitted, nil
	case g.waiting >= 8*g.limit:
		if bumped = g.bumpLocked(t.priority); bumped == nil {
			g.shed++
			return refused, nil
		}
	}
	g.waited++
	g.waiting++
	t.place = g.queues[t.priority].PushBack(t)
	return queued, bumped
}

// withdraw takes t out of the queue. It reports false if t was not there: it
// has been called, or is about to be.
func (g *gate) withdraw(t *ticket) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if t.place == nil {
		return false
	}
	g.unqueueLocked(t)
	g.shed++
	return true
}

// leave gives back the slot of t and lets the next ones go.
func (g *gate) leave(t *ticket) {
	g.mu.Lock()
	g.running[t.slot]--
	next := g.advanceLocked()
	g.mu.Unlock()
	callAll(next)
}

// hurry makes a load urgent: somebody now waits for it.
func (g *gate) hurry(t *ticket) {
	g.mu.Lock()
	var next []*ticket
	if t.priority != urgent {
		if t.place != nil {
			g.queues[t.priority].Remove(t.place)
			t.place = g.queues[urgent].PushBack(t)
		}
		t.priority = urgent
		next = g.advanceLocked()
	}
	g.mu.Unlock()
	callAll(next)
}

// lift lets t go over the gate: a load that runs waits for it, and would
// otherwise wait for a slot that may be its own.
func (g *gate) lift(t *ticket) {
	g.mu.Lock()
	lifted := t.place != nil
	if lifted {
		g.unqueueLocked(t)
	}
	if !t.entered {
		t.over = true
	}
	g.mu.Unlock()
	if lifted {
		t.holder.board(overlooked)
	}
}

func callAll(ts []*ticket) {
	for _, t := range ts {
		t.holder.board(admitted)
	}
}

// roomLocked reports whether one more load of priority p may run. Refreshes
// leave seven slots in ten to those who wait.
func (g *gate) roomLocked(p priority) bool {
	if g.running[urgent]+g.running[background] >= g.limit {
		return false
	}
	return p == urgent || g.running[background] < max(1, g.limit*3/10)
}

// advanceLocked admits whom there is room for, and returns them to be called.
func (g *gate) advanceLocked() (next []*ticket) {
	for p := range priorities {
		for g.roomLocked(p) && g.queues[p].Len() > 0 {
			t := g.queues[p].Front().Value.(*ticket)
			g.unqueueLocked(t)
			g.admitLocked(t)
			next = append(next, t)
		}
	}
	return next
}

func (g *gate) admitLocked(t *ticket) {
	t.slot = t.priority
	g.running[t.slot]++
}

// bumpLocked makes room in a full queue by taking out the youngest load less
// urgent than p, if there is one, to be called refused.
func (g *gate) bumpLocked(p priority) *ticket {
	last := g.queues[background].Back()
	if p == background || last == nil {
		return nil
	}
	t := last.Value.(*ticket)
	g.unqueueLocked(t)
	g.shed++
	return t
}

func (g *gate) unqueueLocked(t *ticket) {
	g.queues[t.priority].Remove(t.place)
	t.place = nil
	g.waiting--
}

func (g *gate) addTo(s *Stats) {
	g.mu.Lock()
	defer g.mu.Unlock()
	s.GateQueue, s.GateWaits, s.GateSheds = g.waiting, g.waited, g.shed
}
