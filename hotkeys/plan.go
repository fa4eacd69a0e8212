package hotkeys

import (
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// State is what is done about a key.
type State uint8

const (
	Cold     State = iota // nothing
	Promoted              // each process keeps a copy for a short time
	Split                 // and the shared tier keeps several
)

func (s State) String() string {
	switch s {
	case Cold:
		return "cold"
	case Promoted:
		return "promoted"
	case Split:
		return "split"
	}
	return "unknown state"
}

// Hot is a key that is not cold, for showing.
type Hot struct {
	HotKey // as it was listed last; nothing but Key if it was not

	State  State
	Copies int           // in the shared tier, the base included; 1 unless Split
	For    time.Duration // in this state and this number of copies, at the last Update
}

// Plan decides, from what a [Tracker] lists, which keys are promoted and which
// are split. Each process has its own and need agree with no other.
//
// A key is promoted when it is hot. Then each process asks the shared tier for it
// once in Life, however many readers it has; a fleet of M processes that each read
// it r times a second asks
//
//	M / (Life + 1/r)  <=  M/Life
//
// times a second. Only if that is more than a server is to bear the key is split,
// into as many copies as bear it. To be sure that they are needed, r is the lower
// bound.
//
// A key becomes hotter at once, and cooler only after Cool and Dwell.
//
// It has neither clock nor chance of its own: the same calls give the same
// decisions. The nil Plan is one that is off.
type Plan struct {
	rule Rule
	now  atomic.Pointer[map[string]*plannedKey] // replaced, never written to

	mu     sync.Mutex // held by Update
	latest time.Duration
}

// plannedKey is a key that is not cold. It is never written to.
type plannedKey struct {
	listed HotKey
	rate   float64 // listed.Lower, 0 if it is not listed any more
	hot    Standing
	copies int
	since  time.Duration // that it has been so

	fewer      bool // copies would do, at every Update since fewerSince
	fewerSince time.Duration
}

func (k *plannedKey) state() State {
	if k.copies > 1 {
		return Split
	}
	return Promoted
}

// NewPlan makes a plan by which every key is cold. The error, if any, is an
// *[OptionError].
func NewPlan(rule Rule) (*Plan, error) {
	rule, err := rule.filled()
	if err != nil {
		return nil, err
	}
	p := &Plan{rule: rule}
	p.now.Store(&map[string]*plannedKey{})
	return p, nil
}

// Floor is the least rate that matters: give Update what [Tracker.Above] lists
// for it.
func (p *Plan) Floor() float64 {
	if p == nil || p.rule.Threshold < 0 {
		return math.Inf(1)
	}
	return p.rule.Threshold / 3
}

// Update decides anew. listed are the keys read at least Floor times a second in
// this process, instances is the number of processes that read about as much and
// share the tier (at least 1), now is the reading of any clock that does not go
// back. Call it a few times in a window of the tracker: a key is promoted at the
// first Update after its rate has passed the limit.
//
// It returns the keys that have come into another state or another number of
// copies, those that are cold now among them.
func (p *Plan) Update(now time.Duration, listed []HotKey, instances int) (changed []Hot) {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.latest = max(p.latest, now)
	before := *p.now.Load()
	after := p.judge(before, listed, max(instances, 1))
	p.now.Store(&after)
	for key, k := range after {
		if old := before[key]; old == nil || old.copies != k.copies {
			changed = append(changed, p.show(k))
		}
	}
	for key, k := range before {
		if after[key] == nil {
			changed = append(changed, Hot{HotKey: k.listed, State: Cold, Copies: 1})
		}
	}
	sortHot(changed)
	return changed
}

// judge returns what is not cold now.
func (p *Plan) judge(before map[string]*plannedKey, listed []HotKey, instances int) map[string]*plannedKey {
	after := make(map[string]*plannedKey, len(before)+1)
	byKey := make(map[string]HotKey, len(listed))
	for _, h := range listed {
		byKey[h.Key] = h
	}
	for key, k := range before {
		if next := p.next(*k, byKey[key], instances); next != nil {
			after[key] = next
		}
	}
	for _, h := range listed {
		if h.Truncated || before[h.Key] != nil {
			continue
		}
		next := p.next(plannedKey{copies: 1}, h, instances)
		if next != nil && p.makeRoom(after, h.Lower) {
			after[h.Key] = next
		}
	}
	return after
}

// next returns what becomes of a key, nil if it is cold. h is the zero HotKey if
// it is not listed.
func (p *Plan) next(k plannedKey, h HotKey, instances int) *plannedKey {
	was := k.hot.Hot
	k.rate, k.hot = h.Lower, p.rule.Next(k.hot, h.Lower, p.latest)
	if !k.hot.Hot {
		return nil
	}
	if h.Key != "" || h.Lower > 0 {
		k.listed = h
	}
	copies := p.copies(&k, instances)
	if !was || copies != k.copies {
		k.copies, k.since = copies, p.latest
	}
	return &k
}

// makeRoom reports whether there is room for one more key, of the given rate, or
// takes the least read out of hot if that is read far less.
func (p *Plan) makeRoom(hot map[string]*plannedKey, rate float64) bool {
	if len(hot) < p.rule.MaxHot {
		return true
	}
	var least *plannedKey
	for _, k := range hot {
		if least == nil || k.rate < least.rate || k.rate == least.rate && k.listed.Key > least.listed.Key {
			least = k
		}
	}
	if least == nil || rate < displaces*least.rate {
		return false
	}
	delete(hot, least.listed.Key)
	return true
}

// State returns what is done about key and in how many copies the shared tier has
// it. It may be called from any goroutine, takes no lock and does not allocate.
func (p *Plan) State(key string) (s State, copies int) {
	if p == nil {
		return Cold, 1
	}
	if k := (*p.now.Load())[key]; k != nil {
		return k.state(), k.copies
	}
	return Cold, 1
}

// Hot lists the keys that are not cold, the most read first, unredacted: see
// [Tracker.Shown].
func (p *Plan) Hot() []Hot {
	if p == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := *p.now.Load()
	list := make([]Hot, 0, len(now))
	for _, k := range now {
		list = append(list, p.show(k))
	}
	sortHot(list)
	return list
}

func (p *Plan) show(k *plannedKey) Hot {
	h := Hot{HotKey: k.listed, State: k.state(), Copies: k.copies, For: p.latest - k.since}
	if k.rate == 0 {
		h.Lower, h.Upper, h.Rate = 0, 0, 0
	}
	return h
}

func sortHot(list []Hot) {
	slices.SortFunc(list, func(a, b Hot) int { return byRate(a.HotKey, b.HotKey) })
}
