package model

import (
	"time"

	"github.com/earlybird-cache/earlybird"
)

// outlived: a value that r was given is within its life, or past it by no more
// than the profile allows. What must not be stored goes to those who waited.
func (c *court) outlived(r *Read, s source) error {
	life, age := c.life(s.value), r.Start.At-s.done.At
	switch {
	case s.load != nil && waitedFor(r, s.load):
		if life < 0 {
			c.saw[SawUnstored]++
		}
		return nil
	case life < 0:
		return broken(Truth, "%v got %v, which was not to be stored", r, s.value)
	case age < life:
		return nil
	case r.Verb == Peek, age-life >= max(c.StaleWhileRevalidate, c.StaleIfError):
		return broken(Truth, "%v got %v, stored %v before", r, s.value, age)
	case age-life < c.StaleWhileRevalidate:
		c.saw[SawStale]++
	case !c.failing(r, s):
		return broken(Truth, "%v got %v, stored %v before, though no load failed", r, s.value, age)
	default:
		c.saw[SawSpare]++
	}
	if r.Verb == Lookup && r.Result.State != earlybird.Stale {
		return broken(Truth, "%v calls %v %d, which is past its life", r, s.value, r.Result.State)
	}
	return nil
}

// failing reports whether a load failed after s was stored, and not so long
// before r that it would be time for another.
func (c *court) failing(r *Read, s source) bool {
	for _, l := range c.loadsOf[r.Key] {
		ended := min(l.End.At, l.Deadline)
		if (l.failed() || l.End.At >= l.Deadline) && s.done.At <= ended && ended <= r.End.At && r.Start.At <= ended+3*c.LoadTimeout {
			return true
		}
	}
	return false
}

// shortest is the least that jitter leaves of the life of what s brought.
func (c *court) shortest(s source) time.Duration {
	if s.load != nil && c.readByID[s.load.Leader].Verb == Warm {
		return c.life(s.value)/2 - time.Microsecond // a warm-up's jitter is wide
	}
	return c.least(c.life(s.value))
}

// backOff is the longest for which the cache may remember that l was invalid:
// a tenth of a second at first, twice as long each time it is so again.
func (c *court) backOff(l *Load) time.Duration {
	wait := 50 * time.Millisecond
	for _, o := range c.loadsOf[l.Key] {
		if o.Outcome == Invalid && o.Start.At <= l.End.At {
			wait *= 2
		}
	}
	return min(wait, c.TTL)
}

// remembers reports whether l was found invalid a moment before r.
func (c *court) remembers(r *Read, l *Load) bool {
	return l.Outcome == Invalid && l.End.Before(r.Start) && r.Start.At-l.End.At < c.backOff(l)
}

// spared: a load that fails costs its readers nothing while there is a value
// that may stand in for what it did not bring.
func (c *court) spared(r *Read) error {
	past := max(c.StaleWhileRevalidate, c.StaleIfError)
	v := classify(r)
	if past == 0 || v != loadError && v != shed || r.Verb == Many || r.Err == earlybird.ErrRecursiveLoad || c.isClosing(r.End) {
		return nil
	}
	if s, ok := c.inMemory(r.Key, r.End, r.End, past); ok {
		return broken(Near, "%v: %v, though there was %v, stored %v before", r, r.Err, s.value, r.End.At-s.done.At)
	}
	return nil
}

// latest: what a load brought is not served once another that began later has
// found something else, be it that there is nothing.
func (c *court) latest(r *Read, s source) error {
	for _, l := range c.loadsOf[r.Key] {
		later := s.done.Before(l.Start) && l.End.At < r.Start.At && !l.failed() && l.Value != s.value
		if later && c.wasStored(l) {
			return broken(Truth, "%v got %v; %v has found since: %s", r, s.value, l, l.outcome())
		}
	}
	return nil
}
