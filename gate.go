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
	pace  *pace

	mu      sync.Mutex
	running [priorities]int
	queues  [priorities]list.List // of *ticket
	waiting int
	alarm   *time.Timer // of wake
	waited  uint64      // how many ever queued
	shed    uint64      // how many were refused
}

// priority is how urgently a load is wanted.
type priority uint8

const (
	urgent     priority = iota // somebody waits for it
	background                 // the value it refreshes is still served
	warming                    // nobody has asked for it yet
	priorities
)

// ticket is a load's place before the gate. Its fields are the gate's once
// it has entered.
type ticket struct {
	priority priority
	holder   holder
	place    *list.Element // in its queue, while it is there
	slot     *slot         // what it runs in, its own or another's
	own      slot
	host     *slot // of a load that waits for it, to run in
}

// slot is one of limit. The load it was given to shares it with the loads that
// this one waits for, and the last to leave gives it back.
type slot struct {
	priority priority
	users    int
}

// holder is a load with a ticket. The gate calls it, at most once, when its
// wait in the queue is over.
type holder interface{ board(admission) }

// admission is what the gate says to a load.
type admission uint8

const (
	refused  admission = iota // the queue is full, or a more urgent load took its place
	queued                    // it will be called
	admitted                  // it has a slot, which it must leave
)

// newGate returns a gate for limit calls at once and perSecond calls a second,
// each none if negative, which is narrowed for ramp after it is made.
func newGate(limit int, perSecond float64, ramp time.Duration) *gate {
	const boundless = 1 << 24 // goroutines; ten times that still fits an int
	if limit < 0 || limit > boundless {
		limit = boundless
	}
	g := &gate{limit: limit, pace: newPace(perSecond, ramp)}
	g.pace.ramp(time.Now())
	return g
}

// ramp narrows the gate for a while: what is behind it starts cold.
func (g *gate) ramp() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.pace.ramp(time.Now())
}

// report tells the gate how a call ended. The first that succeeds after an
// outage narrows it, for the origin is not what it was.
func (g *gate) report(ok bool) {
	if ok && g.pace.failures.Load() == 0 {
		return // nearly always, and not worth the lock
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.pace.report(ok)
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
	now := g.pace.now()
	switch {
	case t.host != nil && t.host.users > 0:
		t.enterSlot(t.host)
		return admitted, nil
	case !g.yieldsLocked(t.priority) && g.takeLocked(t.priority, now):
		g.admitLocked(t)
		return admitted, nil
	case g.waiting >= 8*g.limit && !g.pace.ramping(now):
		if bumped = g.bumpLocked(t.priority); bumped == nil {
			g.shed++
			return refused, nil
		}
	}
	g.waited++
	g.waiting++
	t.place = g.queues[t.priority].PushBack(t)
	g.wakeLocked(now)
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
	var next []*ticket
	if t.slot.users--; t.slot.users == 0 {
		g.running[t.slot.priority]--
		next = g.advanceLocked()
	}
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

// lift lets t run in the slot of the load by, which waits for it and would
// otherwise wait for a slot that may be its own. If by runs no more, t keeps its
// place.
func (g *gate) lift(t, by *ticket) {
	g.mu.Lock()
	lifted := false
	if by.slot != nil && by.slot.users > 0 {
		t.host = by.slot
		if lifted = t.place != nil; lifted {
			g.unqueueLocked(t)
			t.enterSlot(t.host)
		}
	}
	g.mu.Unlock()
	if lifted {
		t.holder.board(admitted)
	}
}

func (t *ticket) enterSlot(s *slot) {
	t.slot = s
	s.users++
}

func callAll(ts []*ticket) {
	for _, t := range ts {
		t.holder.board(admitted)
	}
}

// takeLocked reports whether one more load of priority p may run now, and
// takes its share of the pace. Refreshes leave seven slots in ten to those who
// wait, a warm-up nine.
func (g *gate) takeLocked(p priority, now time.Time) bool {
	limit := g.pace.narrow(g.limit, now)
	total := 0
	for _, n := range g.running {
		total += n
	}
	shares := [priorities]int{urgent: 10, background: 3, warming: 1}
	share := max(1, limit*shares[p]/10)
	return total < limit && g.running[p] < share && g.pace.take(now)
}

// yieldsLocked reports whether others that are no less urgent than p wait. There
// may be room although they do: the pace has allowed more, and their alarm is
// about to go off.
func (g *gate) yieldsLocked(p priority) bool {
	for q := range p + 1 {
		if g.queues[q].Len() > 0 {
			return true
		}
	}
	return false
}

// advanceLocked admits whom there is room for, and returns them to be called.
func (g *gate) advanceLocked() (next []*ticket) {
	if g.waiting == 0 {
		return nil
	}
	now := g.pace.now()
	for p := range priorities {
		for g.queues[p].Len() > 0 && g.takeLocked(p, now) {
			t := g.queues[p].Front().Value.(*ticket)
			g.unqueueLocked(t)
			g.admitLocked(t)
			next = append(next, t)
		}
	}
	g.wakeLocked(now)
	return next
}

// wakeLocked sees to it that the queue advances when the pace allows more,
// which no call's end may tell.
func (g *gate) wakeLocked(now time.Time) {
	if g.waiting == 0 || g.alarm != nil {
		return
	}
	if d := g.pace.next(now); d > 0 {
		g.alarm = time.AfterFunc(d, g.wake)
	}
}

func (g *gate) wake() {
	g.mu.Lock()
	g.alarm = nil
	next := g.advanceLocked()
	g.mu.Unlock()
	callAll(next)
}

func (g *gate) admitLocked(t *ticket) {
	t.own.priority = t.priority
	t.enterSlot(&t.own)
	g.running[t.priority]++
}

// bumpLocked makes room in a full queue by taking out the youngest of the
// loads less urgent than p, if there is one, to be called refused.
func (g *gate) bumpLocked(p priority) *ticket {
	for q := priorities - 1; q > p; q-- {
		if last := g.queues[q].Back(); last != nil {
			t := last.Value.(*ticket)
			g.unqueueLocked(t)
			g.shed++
			return t
		}
	}
	return nil
}

func (g *gate) unqueueLocked(t *ticket) {
	g.queues[t.priority].Remove(t.place)
	t.place = nil
	if g.waiting--; g.waiting == 0 && g.alarm != nil {
		g.alarm.Stop()
		g.alarm = nil
	}
}

func (g *gate) addTo(s *Stats) {
	g.mu.Lock()
	defer g.mu.Unlock()
	s.GateQueue, s.GateWaits, s.GateSheds = g.waiting, g.waited, g.shed
}
