package model

import (
	"errors"
	"slices"
	"time"

	"github.com/earlybird-cache/earlybird"
	"github.com/earlybird-cache/earlybird/store"
)

// fleetCourt judges a run of several caches. Here messages take time, and so what
// is known of one cache says little of another: it holds each to what it is told
// itself, and the fleet to what the tier promises.
type fleetCourt struct {
	*court
	all []earlybird.Stats // of the caches

	asked     map[place][]*Question
	ended     map[int][]*Question      // by cache, in the order in which they did
	published map[int]store.Generation // what the tier has taken, by who brought it
	offered   map[int]bool             // what the tier may have taken
	closings  map[int]*Write
}

// place is a key as one cache knows it.
type place struct {
	cache int
	key   string
}

func newFleetCourt(c *court, all []earlybird.Stats) *fleetCourt {
	f := &fleetCourt{
		court: c, all: all,
		asked:     make(map[place][]*Question),
		ended:     make(map[int][]*Question),
		published: make(map[int]store.Generation),
		offered:   make(map[int]bool),
		closings:  make(map[int]*Write),
	}
	for _, q := range c.Questions {
		if q.Ended() {
			f.ended[q.Cache] = append(f.ended[q.Cache], q)
		}
		for _, key := range q.Keys {
			f.asked[place{q.Cache, key}] = append(f.asked[place{q.Cache, key}], q)
		}
		if q.Told.Kind == store.Value {
			f.offered[q.Told.Value.By] = true
		}
		if g := max(q.Generation, q.Lease.Generation); q.Told.Kind == store.Value && q.Err == nil {
			f.published[q.Told.Value.By] = g
		}
		for _, r := range q.Found {
			if r.Kind == store.Value {
				f.published[r.Value.By] = r.Generation
			}
		}
	}
	for _, ended := range f.ended {
		slices.SortFunc(ended, func(a, b *Question) int { return a.End.Seq - b.End.Seq })
	}
	for _, w := range c.Writes {
		if w.Verb == Set && w.Err != nil {
			delete(f.published, w.ID) // or taken as late as may be
		}
		if w.Verb == Close && f.closings[w.Cache] == nil {
			f.closings[w.Cache] = w
		}
	}
	return f
}

func (c *fleetCourt) checks() []func() error {
	return []func() error{c.reads, c.loads, c.overlaps, c.leases, c.writes, c.closed, c.counts}
}

// reads holds every read to what it may have been told.
func (c *fleetCourt) reads() error {
	for _, r := range c.Reads {
		if r.Verb == Warm {
			continue
		}
		for _, check := range []func(*Read) error{c.punctual, c.shaped, c.answered} {
			if err := check(r); err != nil {
				return err
			}
		}
	}
	return nil
}

// punctual: a reader may come upon a refresh that brings it nothing, and then asks
// the tier, waits for another cache, and waits for a load.
func (c *fleetCourt) punctual(r *Read) error {
	bound := 2*c.LoadTimeout + max(c.Tier.MaxWait, 0) + 6*c.Tier.Budget
	switch {
	case r.Verb == Peek || r.Ctx.Kind == Done:
		bound = 0
	case r.Verb == Many:
		bound *= 2 // it waits for the flights of others first
	case r.Ctx.After != 0:
		bound = min(bound, r.Ctx.After)
	}
	if r.Took() > bound {
		return broken(Answers, "%v took %v, more than %v", r, r.Took(), bound)
	}
	return nil
}

func (c *fleetCourt) answered(r *Read) error {
	switch v := classify(r); v {
	case value:
		return c.value(r)
	case notThere:
		return c.absence(r)
	case loadError:
		return c.failure(r)
	case shed:
		return broken(Errors, "%v: %v; there is no gate", r, r.Err)
	case over:
		if !c.closings[r.Cache].Start.Before(r.End) {
			return broken(Closed, "%v: %v, but it was not", r, r.Err)
		}
	case left:
		c.sawLeft(r)
	}
	return nil
}

// forgotten returns a change that was told to r's own cache: it began after began,
// and had returned when r began. What the tier has not confirmed binds this cache
// all the same, unless it is about all keys.
func (c *fleetCourt) forgotten(r *Read, began, done Stamp, isValue bool) *Write {
	for _, w := range c.writesOf[r.Key] {
		binds := w.Err == nil || w.Err == errCommit || w.Verb != InvalidateAll && w.Err != earlybird.ErrClosed
		if w.Cache == r.Cache && binds && c.supersedes(w, began, done, isValue) && w.End.Before(r.Start) && !c.undone(w, r) {
			return w
		}
	}
	return nil
}

// outdated returns a change that was told to another cache and confirmed, so long
// before r that r's cache should know.
func (c *fleetCourt) outdated(r *Read, began, done Stamp, isValue bool) *Write {
	near := max(c.Tier.NearTTL, 0)
	for _, w := range c.writesOf[r.Key] {
		if w.Cache != r.Cache && w.Err == nil && c.supersedes(w, began, done, isValue) &&
			w.End.Before(r.Start) && w.End.At+near <= r.Start.At && !c.undone(w, r) {
			return w
		}
	}
	return nil
}

// supersedes: see court.superseded.
func (c *fleetCourt) supersedes(w *Write, began, done Stamp, isValue bool) bool {
	return began.Before(w.Start) && !(w.Verb == Created && isValue && done.Before(w.End))
}

// undone reports whether the tier may have forgotten w before r ended.
func (c *fleetCourt) undone(w *Write, r *Read) bool {
	for _, t := range c.Troubles {
		forgets := t.Verb == Evict && t.Keys[0] == r.Key && w.Cache != r.Cache ||
			t.Verb == Lose && w.Cache != r.Cache || t.Verb == FailOver
		if forgets && w.Start.Before(t.Stamp) && t.Before(r.End) {
			return true
		}
	}
	return false
}

// source is that of court, but for a Set that failed: its message may arrive yet.
func (c *fleetCourt) source(id int) (source, bool) {
	s, ok := c.court.source(id)
	if ok && s.set != nil && s.set.Err != nil && c.Tier.Delaying > 0 {
		s.began = c.after(s.set.End.At + mostDelay)
	}
	return s, ok
}

// after returns the first stamp that is later than t.
func (c *fleetCourt) after(t time.Duration) Stamp {
	i, _ := slices.BinarySearch(c.times, t+1)
	return Stamp{Seq: i + 1, At: t}
}

// isUnreached reports whether from then until r began the tier has not answered r's
// cache, but for answers that came while others were still lost.
func (c *fleetCourt) isUnreached(r *Read, since time.Duration) bool {
	failed := time.Duration(-calm)
	for _, q := range c.ended[r.Cache] {
		switch {
		case q.End.At >= r.Start.At:
			return true
		case q.failed():
			failed = q.End.At
		case q.Method != "Wait" && since < q.End.At && q.End.At >= failed+calm:
			return false
		}
	}
	return true
}

// calm is for how long all must have been answered before a tier counts as reached
// again.
const calm = time.Second

// outageNear is how long what is in memory is believed at most while the tier does
// not answer.
func (c *fleetCourt) outageNear() time.Duration {
	if c.Tier.NearTTL < 0 {
		return time.Second
	}
	return min(c.Tier.NearTTL, time.Second)
}

// outageLife is how long what was loaded without the tier lives.
const outageLife = 30 * time.Second

// isExcused reports whether r's cache cannot know better than what it got, which l
// brought, if a load did: it has asked in vain for it, and nothing was answered
// since.
func (c *fleetCourt) isExcused(r *Read, l *Load) bool {
	for _, q := range c.asked[place{r.Cache, r.Key}] {
		tells := q.Method == "Publish" || q.Method == "Set"
		if !q.failed() || !q.asks() && !tells || !q.End.Before(r.End) {
			continue
		}
		if r.Start.At < q.End.At+c.outageNear() && c.isUnreached(r, q.End.At) {
			c.saw[SawCutOff]++
			return true
		}
	}
	return l != nil && l.Cache == r.Cache && c.isAlone(l) &&
		(r.Start.At < l.End.At || r.Start.At < l.End.At+c.outageNear() && c.isUnreached(r, l.End.At))
}

// isAlone reports whether the tier did not answer l's flight.
func (c *fleetCourt) isAlone(l *Load) bool {
	leader, last := c.readByID[l.Leader], c.lastAnswer(l)
	return last != nil && last.failed() && leader.Start.Before(last.End)
}

// loads holds every load to what may start one.
func (c *fleetCourt) loads() error {
	for _, l := range c.Loads {
		leader := c.readByID[l.Leader]
		switch {
		case !wellFormed(l.Key):
			return broken(Shaped, "%v: the origin was asked", l)
		case leader == nil || leader.Key != l.Key || leader.Cache != l.Cache || !leader.Start.Before(l.Start):
			return broken(Detached, "%v has the context of read %d", l, l.Leader)
		case l.Deadline != l.Start.At+c.LoadTimeout:
			return broken(Detached, "%v has until %v; it began at %v", l, l.Deadline, l.Start.At)
		case l.Cut && !c.closings[l.Cache].Start.Before(l.End):
			return broken(Detached, "the context of %v ended before its deadline", l)
		}
		if err := c.needless(l, leader); err != nil {
			return err
		}
	}
	return nil
}

// needless: with the tier out of reach the origin hears of it only if that is what
// Outage says, and never of what is in memory.
func (c *fleetCourt) needless(l *Load, leader *Read) error {
	if !c.isAlone(l) {
		return nil
	}
	if c.Tier.Outage != earlybird.Origin {
		return broken(Outages, "%v began though %v had failed", l, c.lastAnswer(l))
	}
	if leader.Verb == Lookup && leader.Err == nil && leader.Result.State == earlybird.Loaded {
		c.saw[SawAlone]++
		if v, ok := c.certain(leader, 0); ok {
			return broken(Outages, "%v was for %v, though it had %v", l, leader, v)
		}
	}
	return nil
}

// lastAnswer returns the last question of l's cache for its key before l began.
func (c *fleetCourt) lastAnswer(l *Load) (last *Question) {
	for _, q := range c.asked[place{l.Cache, l.Key}] {
		if q.asks() && q.End.Before(l.Start) && (last == nil || last.End.Before(q.End)) {
			last = q
		}
	}
	return last
}

// certain returns a value that was certainly in the memory of r's cache while r ran,
// and no longer than past beyond its life: somebody got it there before, and
// nothing has come in between.
func (c *fleetCourt) certain(r *Read, past time.Duration) (Value, bool) {
	for _, o := range c.readsOf[r.Key] {
		near := o.Cache == r.Cache && o.Verb == Lookup && o.Err == nil && o.End.Before(r.Start) &&
			(o.Result.State == earlybird.Fresh || o.Result.State == earlybird.Early)
		if !near {
			continue
		}
		s, ok := c.source(o.Result.Value.By)
		life := c.shortest(s)
		if s.load != nil && c.isAlone(s.load) {
			life = min(life, c.least(outageLife))
		}
		if ok && r.End.At < s.stored()+life+past && !c.disturbed(r, o.Start, r.End) {
			return o.Result.Value, true
		}
	}
	return Value{}, false
}

// disturbed reports whether what r's cache has of its key may have changed between
// two moments: by a change, a load, or an answer of the tier.
func (c *fleetCourt) disturbed(r *Read, from, to Stamp) bool {
	for _, w := range c.changes {
		if w.Cache == r.Cache && from.Before(w.End) && w.Start.Before(to) {
			return true // one of another key can be of the same stripe
		}
	}
	for _, l := range c.loadsOf[r.Key] {
		if l.Cache == r.Cache && from.At <= l.End.At+c.slack() && l.Start.Before(to) {
			return true
		}
	}
	for _, q := range c.asked[place{r.Cache, r.Key}] {
		if !q.failed() && from.Before(q.End) && q.Start.Before(to) {
			return true
		}
	}
	return false
}

// slack is how long after its end a load is settled at most: the tier is told of
// what it brought.
func (c *fleetCourt) slack() time.Duration { return 2 * c.Tier.Budget }

// isOutage reports whether err says that the tier was not reached.
func isOutage(err error) bool { return errors.Is(err, store.ErrUnavailable) }
