package model

import (
	"math"
	"time"

	"github.com/earlybird-cache/earlybird"
)

// served: if memory certainly holds the answer, the read got it from there.
func (j *court) served(r *Read) error {
	if !wellFormed(r.Key) || j.isClosing(r.End) {
		return nil
	}
	if s, ok := j.heldValue(r); ok {
		j.saw[SawMustHit]++
		if classify(r) != value || r.Took() != 0 || r.Result.State == earlybird.Loaded || r.Result.State == earlybird.Joined {
			return broken(Near, "%v: %s after %v; %v was in memory since %v", r, r.outcome(), r.Took(), s.value, s.done.At)
		}
	}
	if l, ok := j.heldAbsence(r); ok {
		j.saw[SawMustMiss]++
		if c := classify(r); c != notThere && c != nothing || r.Took() != 0 {
			return broken(Near, "%v: %s after %v; the absence found by %v was remembered", r, r.outcome(), r.Took(), l)
		}
	}
	return nil
}

// heldValue returns a value that was certainly in memory when r began: stored
// at an earlier instant, within the shortest life that jitter can leave it, and
// with nothing after it that might have taken it away. Where it is in doubt
// whether something did, it is not certain.
func (j *court) heldValue(r *Read) (source, bool) {
	if j.Rows > j.MaxEntries {
		return source{}, false
	}
	certain := func(s source) bool {
		age := r.Start.At - s.done.At
		return age > 0 && age < j.least(j.TTL) && !j.lost(r.Key, s.done, Absent, r.End)
	}
	for _, l := range j.loadsOf[r.Key] {
		if s, ok := j.source(l.ID); ok && certain(s) && j.wasStored(l) {
			return s, true
		}
	}
	for _, w := range j.writesOf[r.Key] {
		if s, ok := j.source(w.ID); ok && certain(s) && j.stands(w) {
			return s, true
		}
	}
	return source{}, false
}

// heldAbsence returns a load whose absence was likewise certainly remembered.
func (j *court) heldAbsence(r *Read) (*Load, bool) {
	if j.Rows+j.Ghosts > j.MaxNegatives {
		return nil, false
	}
	for _, l := range j.loadsOf[r.Key] {
		age := r.Start.At - l.End.At
		if l.Outcome == Absent && age > 0 && age < j.least(j.NegativeTTL) &&
			j.wasStored(l) && !j.lost(r.Key, l.End, Brought, r.End) {
			return l, true
		}
	}
	return nil, false
}

// wasStored reports whether what l brought was certainly stored: in time, and
// no change came between the reader that began its flight and the instant at
// which it ended. A change of another key counts too, since keys can share a
// stripe of the fence.
func (j *court) wasStored(l *Load) bool {
	leader := j.readByID[l.Leader]
	if leader == nil || l.End.At >= l.Deadline {
		return false
	}
	for _, w := range j.changes {
		if leader.Start.Before(w.End) && w.Start.At <= l.End.At {
			return false
		}
	}
	return true
}

// stands reports whether no other change of the key can have come after w
// within the same instant.
func (j *court) stands(w *Write) bool {
	for _, o := range j.writesOf[w.Keys[0]] {
		if o != w && o.Start.At <= w.End.At && o.End.At >= w.Start.At {
			return false
		}
	}
	return w.Err == nil
}

// lost reports whether what was stored for key at s may have been taken away
// by t: by a change, or by a load with the contrary outcome.
func (j *court) lost(key string, s Stamp, contrary Outcome, t Stamp) bool {
	for _, w := range j.writesOf[key] {
		if w.Start.At > s.At && w.Start.Before(t) {
			return true
		}
	}
	for _, l := range j.loadsOf[key] {
		if l.Outcome == contrary && l.End.At >= s.At && l.End.Before(t) {
			return true
		}
	}
	return false
}

// elected: a read that says Early started a refresh, and a draw can have said
// so; one that says Fresh drew nothing that would have had to start one.
func (j *court) elected(r *Read, s source) error {
	early := r.Result.State == earlybird.Early
	shortest := s.done.At + j.least(j.TTL) - r.Start.At // what is left of its life, at least
	switch {
	case early && r.Verb == Peek:
		return broken(Early, "%v started a refresh", r)
	case early && j.Beta < 0:
		return broken(Early, "%v started a refresh, which are off", r)
	case early && shortest > j.window(j.longest):
		return broken(Early, "%v started a refresh with %v to go; no draw is that low", r, shortest)
	case early && !j.loadNear(r) && j.MaxLoads < 0 && !j.isClosing(r.End):
		return broken(Early, "%v says that it started a refresh, but there is none", r)
	case early:
		return j.electedOnce(r)
	case r.Result.State == earlybird.Fresh && r.Verb != Peek && j.mustRefresh(r, s):
		return broken(Early, "%v started no refresh with at most %v to go", r, j.TTL-(r.Start.At-s.done.At))
	}
	return nil
}

// leastBackoff is less than what anybody would call backing off.
const leastBackoff = 10 * time.Millisecond

// electedOnce: nobody else's refresh of the same value is under way when r
// starts its own, or failed but a moment ago.
func (j *court) electedOnce(r *Read) error {
	for _, l := range j.loadsOf[r.Key] {
		first := j.readByID[l.Leader]
		if first == nil || first == r || first.Verb == Get || first.Result.State != earlybird.Early ||
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
// most be refreshed: beta*cost*-ln(u), for the least u that can be drawn.
func (j *court) window(cost time.Duration) time.Duration {
	return time.Duration(j.Beta*float64(cost)*-math.Log(j.leastDraw())) + time.Microsecond
}

// loadNear reports whether a load of the key ran at the instant of r, or
// something was just stored, so that a refresh found itself needless.
func (j *court) loadNear(r *Read) bool {
	for _, l := range j.loadsOf[r.Key] {
		if l.Start.At <= r.End.At && l.End.At >= r.Start.At {
			return true
		}
	}
	for _, w := range j.writesOf[r.Key] {
		if w.Start.At <= r.End.At && w.End.At >= r.Start.At {
			return true
		}
	}
	return false
}

// mustRefresh reports whether r drew a refresh: the profile's draws are all
// the same, the value's cost is known well enough, and no refresh of it was
// under way.
func (j *court) mustRefresh(r *Read, s source) bool {
	if j.Draw == 0 || s.load == nil || j.loadNear(r) {
		return false
	}
	cheapest := s.load.Took()
	for _, l := range j.Loads {
		cheapest = min(cheapest, l.Took())
	}
	left := j.TTL - (r.Start.At - s.done.At)
	return left < j.window(cheapest)-time.Millisecond
}
