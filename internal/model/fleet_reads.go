package model

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/earlybird-cache/earlybird"
	"github.com/earlybird-cache/earlybird/store"
)

// value: somebody in the fleet has brought it for this key; it is within its life;
// no change that this cache must know of has put an end to it; and it is no older
// than what this cache has told before.
func (c *fleetCourt) value(r *Read) error {
	v := r.Result.Value
	s, ok := c.source(v.By)
	if !ok || s.value != v || v.Key != r.Key {
		return broken(Truth, "%v got %v, which nobody brought", r, v)
	}
	if s.load != nil && s.load.Cache == r.Cache && waitedFor(r, s.load) {
		s.done = s.load.End
	}
	if w := c.forgotten(r, s.began, s.done, true); w != nil {
		return broken(Fence, "%v got %v, which %v had put an end to", r, v, w)
	}
	if w := c.outdated(r, s.began, s.done, true); w != nil && !c.isExcused(r, s.load) {
		return broken(NearLife, "%v got %v, which %v had put an end to %v before", r, v, w, r.Start.At-w.End.At)
	}
	for _, check := range []func(*Read, source) error{c.outlived, c.alone, c.orderly, c.state} {
		if err := check(r, s); err != nil {
			return err
		}
	}
	c.sawShared(r, s)
	return nil
}

// outlived: a value is served for its life, and for what it takes to tell others of
// it; past that as much as the profile allows.
func (c *fleetCourt) outlived(r *Read, s source) error {
	life, age := c.life(s.value)+c.Tier.lag(), r.Start.At-s.done.At
	past := max(c.StaleWhileRevalidate, c.StaleIfError, 0)
	isStale := r.Verb == Lookup && r.Result.State == earlybird.Stale
	switch {
	case age >= life+past:
		return broken(Truth, "%v got %v, stored %v before", r, s.value, age)
	case age >= life && (r.Verb == Peek || r.Verb == Lookup && !isStale):
		return broken(Truth, "%v calls %v %d, stored %v before", r, s.value, r.Result.State, age)
	case isStale && r.End.At-s.stored() < c.shortest(s):
		return broken(Truth, "%v calls %v stale after %v", r, s.value, r.End.At-s.stored())
	case isStale && r.Took() == 0:
		c.saw[SawStale]++
	case isStale:
		c.saw[SawSpare]++
	}
	return nil
}

// stored is when the value began to live in the cache that brought it.
func (s source) stored() time.Duration {
	if s.set != nil {
		return s.set.Start.At
	}
	return s.done.At
}

// alone: what was loaded while the tier did not answer lives for half a minute, and
// is not served once the tier answers before that was asked about it.
func (c *fleetCourt) alone(r *Read, s source) error {
	l := s.load
	if l == nil || l.Cache != r.Cache || !c.isAlone(l) || c.offered[l.ID] || l.End.At >= r.Start.At {
		return nil
	}
	if age := r.Start.At - l.End.At; age >= outageLife {
		return broken(Outages, "%v got %v, which was loaded without the tier %v before", r, s.value, age)
	}
	return c.suspect(r, l)
}

func (c *fleetCourt) suspect(r *Read, l *Load) error {
	if r.Took() > 0 || c.isUnreached(r, l.End.At) {
		return nil
	}
	for _, q := range c.asked[place{r.Cache, r.Key}] {
		asked := l.Start.Before(q.Start) && q.End.Before(r.Start)
		if asked && (!q.failed() || c.isUnreached(r, q.End.At)) {
			return nil
		}
	}
	return broken(Outages, "%v got what %v brought without the tier, which has answered since and was not asked", r, l)
}

// orderly: what is of an older generation does not take the place of what was in
// memory and is of a newer, as long as that lives.
func (c *fleetCourt) orderly(r *Read, s source) error {
	g := c.published[s.value.By]
	if g == 0 {
		return nil
	}
	for _, o := range c.readsOf[r.Key] {
		newer := o.Cache == r.Cache && o.End.Before(r.Start) && c.published[o.Result.Value.By] > g
		inMemory := o.stated() && (o.Result.State == earlybird.Fresh || o.Result.State == earlybird.Early)
		if !newer || !inMemory {
			continue
		}
		from, _ := c.source(o.Result.Value.By)
		isOver := r.End.At >= from.done.At+c.shortest(from) || c.ownChange(r, o) || c.wasGone(r, o)
		if c.failedOver(r) && isOver || undecided(r, s, from) {
			continue
		}
		return broken(Order, "%v got %v of generation %d; %v had got %v of %d", r, s.value, g, o, o.Result.Value, c.published[o.Result.Value.By])
	}
	return nil
}

// undecided reports whether a and b are Sets of r's cache, and one of them was still
// to be told which the tier had ordered first: until then either may be in memory.
func undecided(r *Read, a, b source) bool {
	return a.set != nil && b.set != nil && a.set.Cache == r.Cache && b.set.Cache == r.Cache &&
		(r.Start.Before(a.set.End) || r.Start.Before(b.set.End))
}

// wasGone reports whether r's cache was told since o that there is no value.
func (c *fleetCourt) wasGone(r, o *Read) bool {
	return slices.ContainsFunc(c.asked[place{r.Cache, r.Key}], func(q *Question) bool {
		isGone := func(r store.Record[Value]) bool { return r.Kind != store.Value }
		return o.Start.Before(q.End) && q.Start.Before(r.End) && slices.ContainsFunc(q.Found, isGone)
	})
}

// ownChange reports whether r's cache was told of a change since o.
func (c *fleetCourt) ownChange(r, o *Read) bool {
	for _, w := range c.changes {
		if w.Cache == r.Cache && o.Start.Before(w.End) && w.Start.Before(r.End) {
			return true
		}
	}
	return false
}

// failedOver reports whether the tier can have lost something before r ended.
func (c *fleetCourt) failedOver(r *Read) bool {
	for _, t := range c.Troubles {
		if t.Verb == FailOver && t.Before(r.End) {
			return true
		}
	}
	return false
}

// state: it says how the value was come by.
func (c *fleetCourt) state(r *Read, s source) error {
	if !r.stated() {
		return nil
	}
	state, took := r.Result.State, r.Took()
	inMemory := state == earlybird.Fresh || state == earlybird.Early
	far := r.Result.Age - (r.End.At - s.done.At)
	switch {
	case inMemory && took != 0:
		return broken(Near, "%v waited %v for what it says was in memory", r, took)
	case (inMemory || state == earlybird.Shared || state == earlybird.Stale) && max(far, -far) > c.Tier.lag()+c.slack():
		return broken(Truth, "%v says that %v is %v old; it is %v", r, s.value, r.Result.Age, r.End.At-s.done.At)
	case state == earlybird.Loaded && (s.load == nil || s.load.Leader != r.ID || s.load.Cache != r.Cache):
		return broken(Truth, "%v says that it loaded %v", r, s.value)
	case state == earlybird.Shared && took == 0:
		return broken(Truth, "%v says that it asked the tier for %v, in no time", r, s.value)
	case state == earlybird.Fresh && r.Verb == Lookup && c.isDue(r, s):
		return broken(Early, "%v started no refresh of %v", r, s.value)
	}
	return nil
}

// isDue reports whether r should have started a refresh: the profile's draws are all
// the same, none ran, and nobody else was found at it a moment ago.
func (c *fleetCourt) isDue(r *Read, s source) bool {
	if c.Draw == 0 || s.load == nil {
		return false
	}
	cheapest := c.longest
	for _, l := range c.Loads {
		cheapest = min(cheapest, l.Took())
	}
	left := c.TTL - (r.Start.At - s.done.At)
	if left >= c.window(cheapest)-c.Tier.lag() {
		return false
	}
	pause := max(c.longest, 10*time.Millisecond)
	for _, l := range c.loadsOf[r.Key] {
		if l.Cache == r.Cache && l.Start.At <= r.Start.At && l.End.At+c.slack()+pause >= r.Start.At {
			return false
		}
	}
	for _, q := range c.asked[place{r.Cache, r.Key}] {
		if q.Start.At <= r.Start.At && q.End.At+pause >= r.Start.At {
			return false
		}
	}
	return true
}

// absence: some load in the fleet found the key absent, lately, and no change that
// this cache must know of came after.
func (c *fleetCourt) absence(r *Read) error {
	err := broken(Absence, "%v: %v; no load says so", r, r.Err)
	for _, l := range c.loadsOf[r.Key] {
		remembered := l.End.Before(r.Start) && r.Start.At-l.End.At < c.NegativeTTL+c.Tier.lag()
		waited := l.Cache == r.Cache && l.Start.Before(r.End) && l.End.At+c.slack() >= r.Start.At
		shared := l.End.Before(r.End) && r.Start.At-l.End.At < c.NegativeTTL+c.Tier.lag()
		if l.Outcome != Absent || !remembered && !waited && !shared {
			continue
		}
		if err = c.absentSince(r, l); err == nil {
			c.sawAbsence(r, l)
			return nil
		}
	}
	return err
}

func (c *fleetCourt) absentSince(r *Read, l *Load) error {
	if w := c.forgotten(r, l.Start, l.End, false); w != nil {
		return broken(Fence, "%v: %v, though %v came after whoever found it so", r, r.Err, w)
	}
	if w := c.outdated(r, l.Start, l.End, false); w != nil && !c.isExcused(r, l) {
		return broken(NearLife, "%v: %v, though %v came after whoever found it so, %v before", r, r.Err, w, r.Start.At-w.End.At)
	}
	if l.Cache == r.Cache && c.isAlone(l) && l.End.At < r.Start.At {
		return c.suspect(r, l)
	}
	return nil
}

// failure: the error is of a load of this cache that the read waited for; or the key is not to be
// loaded, for it failed a moment ago; or the tier was not reached, and the
// origin is not to be asked then.
func (c *fleetCourt) failure(r *Read) error {
	switch {
	case r.Err == earlybird.ErrLoadTimeout:
		return c.timedOut(r)
	case r.Err == earlybird.ErrLoadFailed:
		return c.failedElsewhere(r)
	case isOutage(r.Err):
		return c.unreached(r)
	}
	var late *Write
	for _, l := range c.loadsOf[r.Key] {
		waited := l.Cache == r.Cache && l.Start.Before(r.End) && l.End.At+c.slack() >= r.Start.At
		if !tells(r.Err, l) || !waited && !c.remembers(r, l) {
			continue
		}
		if late = c.forgotten(r, l.Start, l.End, false); late == nil {
			c.sawFailure(r, l)
			return nil
		}
	}
	if late != nil {
		return broken(Fence, "%v: %v, of a load that %v had put out of its reach", r, r.Err, late)
	}
	return broken(Errors, "%v: %v; it waited for no such load", r, r.Err)
}

func (c *fleetCourt) timedOut(r *Read) error {
	if errors.Is(r.Err, context.DeadlineExceeded) {
		return broken(Errors, "%v: %v passes for the caller's deadline", r, r.Err)
	}
	for _, l := range c.loadsOf[r.Key] {
		if l.Cache == r.Cache && l.End.At >= l.Deadline && r.Start.At <= l.Deadline+c.slack() && l.Deadline <= r.End.At {
			c.saw[SawTimeout]++
			return nil
		}
	}
	return broken(Errors, "%v: %v, but no load ran out of time", r, r.Err)
}

// mostCooling is how long nobody loads a key at most after a load has failed. It
// grows with failures in a row, but runs are short.
const mostCooling = time.Second

func (c *fleetCourt) failedElsewhere(r *Read) error {
	for _, l := range c.loadsOf[r.Key] {
		ended := min(l.End.At, l.Deadline)
		bad := l.failed() || l.End.At >= l.Deadline
		if bad && ended <= r.End.At && r.Start.At <= ended+c.Tier.MaxWait+mostCooling {
			c.saw[SawFailedElsewhere]++
			return nil
		}
	}
	return broken(Errors, "%v: %v, but no load failed", r, r.Err)
}

func (c *fleetCourt) unreached(r *Read) error {
	past := time.Duration(0)
	switch c.Tier.Outage {
	case earlybird.Origin:
		return broken(Outages, "%v: %v; it should have asked the origin", r, r.Err)
	case earlybird.StaleOnly:
		past = max(c.StaleIfError, c.StaleWhileRevalidate)
	}
	if v, ok := c.certain(r, past); ok {
		return broken(Outages, "%v: %v, though it had %v", r, r.Err, v)
	}
	for _, q := range c.asked[place{r.Cache, r.Key}] {
		if q.failed() && q.Start.Before(r.End) && q.End.At >= r.Start.At {
			c.saw[SawUnreached]++
			return nil
		}
	}
	return broken(Errors, "%v: %v, but the tier has answered", r, r.Err)
}
