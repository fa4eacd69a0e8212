package model

import (
	"math"
	"time"

	"github.com/earlybird-cache/earlybird"
	"github.com/earlybird-cache/earlybird/xfetch"
)

// served: if memory certainly holds the answer, the read got it from there.
func (c *court) served(r *Read) error {
	if !wellFormed(r.Key) || c.isClosing(r.End) {
		return nil
	}
	if s, ok := c.heldValue(r); ok {
		c.saw[SawMustHit]++
		if classify(r) != value || r.Took() != 0 && r.Verb != Many || r.Result.State == earlybird.Loaded || r.Result.State == earlybird.Joined {
			return broken(Near, "%v: %s after %v; %v was in memory since %v", r, r.outcome(), r.Took(), s.value, s.done.At)
		}
	}
	if l, ok := c.heldAbsence(r); ok {
		c.saw[SawMustMiss]++
		if v := classify(r); v != notThere && v != nothing || r.Took() != 0 && r.Verb != Many {
			return broken(Near, "%v: %s after %v; the absence found by %v was remembered", r, r.outcome(), r.Took(), l)
		}
	}
	return nil
}

// heldValue returns a value that was certainly in memory when r began: stored
// at an earlier instant, within the shortest life that jitter can leave it, and
// with nothing after it that might have taken it away. Where it is in doubt
// whether something did, it is not certain.
func (c *court) heldValue(r *Read) (source, bool) {
	past := max(c.StaleWhileRevalidate, 0)
	if r.Verb == Peek {
		past = 0
	}
	return c.inMemory(r.Key, r.Start, r.End, past)
}

// inMemory returns a value of key that was certainly in memory at s, no longer
// than past after its expiry, and that nothing took away until t.
func (c *court) inMemory(key string, s, t Stamp, past time.Duration) (source, bool) {
	if c.evicts() {
		return source{}, false
	}
	certain := func(from source) bool {
		age := s.At - from.done.At
		return age > 0 && c.life(from.value) > 0 && age < c.shortest(from)+past && !c.lostValue(key, from, t)
	}
	for _, l := range c.loadsOf[key] {
		if from, ok := c.source(l.ID); ok && certain(from) && c.wasStored(l) {
			return from, true
		}
	}
	for _, w := range c.writesOf[key] {
		if from, ok := c.source(w.ID); ok && certain(from) && c.stands(w) {
			return from, true
		}
	}
	return source{}, false
}

// heldAbsence returns a load whose absence was likewise certainly remembered.
func (c *court) heldAbsence(r *Read) (*Load, bool) {
	if c.Rows+c.Ghosts > c.MaxNegatives {
		return nil, false
	}
	for _, l := range c.loadsOf[r.Key] {
		age := r.Start.At - l.End.At
		if l.Outcome == Absent && age > 0 && age < c.least(c.NegativeTTL) &&
			c.wasStored(l) && !c.lostAbsence(r.Key, l, r.End) {
			return l, true
		}
	}
	return nil, false
}

// wasStored reports whether what l brought was certainly stored: in time, and
// no change came between the reader that began its flight and the instant at
// which it ended. A change of another key counts too, since keys can share a
// stripe of the fence.
func (c *court) wasStored(l *Load) bool {
	leader := c.readByID[l.Leader]
	if leader == nil || l.End.At >= l.Deadline {
		return false
	}
	for _, w := range c.changes {
		if leader.Start.Before(w.End) && w.Start.At <= l.End.At {
			return false
		}
	}
	return true
}

// stands reports whether no other change of the key can have come after w
// within the same instant.
func (c *court) stands(w *Write) bool {
	for _, o := range c.writesOf[w.Keys[0]] {
		if o != w && o.Start.At <= w.End.At && o.End.At >= w.Start.At {
			return false
		}
	}
	return w.Err == nil
}

// lostValue reports whether what s stored for key may have been taken away by
// t: by a change, or by another load.
func (c *court) lostValue(key string, s source, t Stamp) bool {
	for _, l := range c.loadsOf[key] {
		if l != s.load && !l.failed() && l.End.At >= s.done.At && l.End.Before(t) {
			return true
		}
	}
	return c.changed(key, s.done, t)
}

// lostAbsence is the same for the absence that a left.
func (c *court) lostAbsence(key string, a *Load, t Stamp) bool {
	for _, l := range c.loadsOf[key] {
		if (l.gave() || l.Outcome == Invalid) && l.End.At >= a.End.At && l.End.Before(t) {
			return true
		}
	}
	return c.changed(key, a.End, t)
}

// changed reports whether a change of key may have come between s and t.
func (c *court) changed(key string, s, t Stamp) bool {
	for _, w := range c.writesOf[key] {
		if w.Start.At > s.At && w.Start.Before(t) {
			return true
		}
	}
	return false
}

// elected: a read that says Early started a refresh, and a draw can have said
// so; one that says Fresh drew nothing that would have had to start one.
func (c *court) elected(r *Read, s source) error {
	early := r.Result.State == earlybird.Early
	shortest := s.done.At + c.shortest(s) - r.Start.At // what is left of its life, at least
	switch {
	case early && r.Verb == Peek:
		return broken(Early, "%v started a refresh", r)
	case early && c.Beta < 0:
		return broken(Early, "%v started a refresh, which are off", r)
	case early && shortest > c.window(c.longest):
		return broken(Early, "%v started a refresh with %v to go; no draw is that low", r, shortest)
	case early && !c.loadNear(r) && c.MaxLoads < 0 && c.MaxLoadRate == 0 && !c.isClosing(r.End):
		return broken(Early, "%v says that it started a refresh, but there is none", r)
	case early:
		return c.electedOnce(r)
	case r.Result.State == earlybird.Fresh && r.Verb != Peek && !c.Deadline && c.mustRefresh(r, s):
		return broken(Early, "%v started no refresh with at most %v to go", r, c.TTL-(r.Start.At-s.done.At))
	}
	return nil
}

// leastBackoff is less than what anybody would call backing off.
const leastBackoff = 10 * time.Millisecond

// electedOnce: nobody else's refresh of the same value is under way when r
// starts its own, or failed but a moment ago.
func (c *court) electedOnce(r *Read) error {
	if c.Revalidates {
		return nil // the same value may be refreshed again
	}
	for _, l := range c.loadsOf[r.Key] {
		first := c.readByID[l.Leader]
		if first == nil || first == r || !first.stated() || first.Result.State != earlybird.Early ||
			first.Result.Value != r.Result.Value || r.Start.At <= l.Start.At {
			continue
		}
		if ended := min(l.End.At, l.Deadline); r.Start.At < ended || l.failed() && r.Start.At < ended+leastBackoff {
			return broken(Early, "%v started a refresh; the one of %v, %v, ended at %v", r, first, l, ended)
		}
	}
	return nil
}

// window is how long before its expiry a value that took cost to load can at
// most be refreshed: beta*cost*-ln(u), for the least u that can be drawn, and with
// the deadline rule a share of its life more.
func (c *court) window(cost time.Duration) time.Duration {
	w := time.Duration(c.Beta*float64(cost)*-math.Log(c.leastDraw())) + time.Microsecond
	if c.Deadline {
		w += time.Duration(xfetch.Deadline.Reach * float64(c.TTL))
	}
	return w
}

// loadNear reports whether a load of the key ran at the instant of r, or
// something was just stored, so that a refresh found itself needless.
func (c *court) loadNear(r *Read) bool {
	for _, l := range c.loadsOf[r.Key] {
		if l.Start.At <= r.End.At && l.End.At >= r.Start.At {
			return true
		}
	}
	for _, w := range c.writesOf[r.Key] {
		if w.Start.At <= r.End.At && w.End.At >= r.Start.At {
			return true
		}
	}
	return false
}

// mustRefresh reports whether r drew a refresh: the profile's draws are all
// the same, the value's cost is known well enough, and no refresh of it was
// under way.
func (c *court) mustRefresh(r *Read, s source) bool {
	if c.Draw == 0 || s.load == nil || c.loadNear(r) {
		return false
	}
	cheapest := s.load.Took()
	for _, l := range c.Loads {
		cheapest = min(cheapest, l.Took())
	}
	left := c.TTL - (r.Start.At - s.done.At)
	return left < c.window(cheapest)-time.Millisecond
}
