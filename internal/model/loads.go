package model

import (
	"math"
	"slices"
	"time"

	"github.com/earlybird-cache/earlybird"
)

// loads holds every load to what may start one, and to its context.
func (c *court) loads() error {
	for _, l := range c.Loads {
		if err := c.load(l); err != nil {
			return err
		}
	}
	return nil
}

func (c *court) load(l *Load) error {
	leader := c.readByID[l.Leader]
	switch {
	case !wellFormed(l.Key):
		return broken(Shaped, "%v: the origin was asked", l)
	case leader == nil || leader.Key != l.Key || !leader.Start.Before(l.Start):
		return broken(Detached, "%v has the context of read %d", l, l.Leader)
	case leader.Verb == Peek:
		return broken(Near, "%v was started by %v", l, leader)
	case leader.DoneBefore && leader.Err != nil:
		return broken(Detached, "%v was started by %v, whose context had ended", l, leader)
	case leader.Verb == Lookup && leader.Err == nil && leader.Result.State == earlybird.Fresh:
		return broken(Near, "%v was started by %v, a hit", l, leader)
	case l.Deadline != l.Start.At+c.LoadTimeout:
		return broken(Detached, "%v has until %v; it began at %v", l, l.Deadline, l.Start.At)
	case l.Shared:
		return broken(Private, "%v was given a copy of %v that somebody else has", l, l.Old)
	case l.Cut && !c.isClosing(l.End):
		return broken(Detached, "the context of %v ended before its deadline", l)
	}
	c.sawLoad(l)
	return nil
}

// overlaps: of two loads of one key that run at once, the earlier one has
// timed out, or a change came after the earlier one's flight began and before
// the later one's load.
func (c *court) overlaps() error {
	for _, loads := range c.loadsOf {
		for i, a := range loads {
			for _, b := range loads[i+1:] {
				if err := c.overlap(a, b); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (c *court) overlap(a, b *Load) error {
	switch {
	case a.End.Before(b.Start):
		return c.needed(a, b)
	case a.Deadline <= b.Start.At:
		c.saw[SawOverlapTimeout]++
		return nil
	case c.parted(a, b):
		c.saw[SawOverlapFence]++
		return nil
	}
	return broken(OneLoad, "%v began at %v while %v was under way since %v", b, b.Start.At, a, a.Start.At)
}

// needed: b comes after a, so it looked again and found nothing that a left, or
// refreshes that.
func (c *court) needed(a, b *Load) error {
	age := b.Start.At - a.End.At
	s, ok := c.source(a.ID)
	if !ok || c.Rows > c.MaxEntries || age >= c.shortest(s) ||
		!c.wasStored(a) || c.parted(a, b) || c.lostValue(a.Key, s, b.Start) {
		return nil
	}
	if leader := c.readByID[b.Leader]; leader.Verb != Warm && leader.Err == nil && leader.Result.Value.By != b.ID {
		return nil // it was served something, so this is a refresh
	}
	return broken(OneLoad, "%v began though %v had just left %v", b, a, a.Value)
}

// parted reports whether a change can have come between the beginnings of the
// two flights. Each lies between its first reader's call and its load; with a
// gate before the loads, they need not be in the order of the loads. A change
// of another key counts, since keys can share a stripe of the fence.
func (c *court) parted(a, b *Load) bool {
	first := c.readByID[a.Leader].Start
	if other := c.readByID[b.Leader].Start; other.Before(first) {
		first = other
	}
	for _, w := range c.changes {
		if w.Start.Before(b.Start) && first.Before(w.End) && (w.touches(a.Key) || c.Rows > 1) {
			return true
		}
	}
	return false
}

// atOnce: never do more than MaxLoads run. A load that a loader waited for when
// it began runs in that loader's slot, which it keeps if the other returns
// first.
func (c *court) atOnce() error {
	if c.MaxLoads < 0 {
		return nil
	}
	for _, l := range c.Loads {
		running, slots := 0, make(map[int]bool)
		for _, o := range c.Loads {
			if !o.isCall() || l.Start.Before(o.Start) || o.End.Before(l.Start) {
				continue
			}
			running++
			if of := c.slots(o); len(of) == 1 { // of several it is in one that is counted, perhaps
				slots[of[0]] = true
			}
		}
		limit := c.limit(l)
		if len(slots) == limit && limit < c.MaxLoads {
			c.saw[SawRamped]++
		}
		if len(slots) > limit {
			return broken(Gate, "loads ran in %d slots when %v began", len(slots), l)
		}
		if len(slots) == c.MaxLoads {
			c.saw[SawFull]++
		}
		if running > c.MaxLoads {
			c.saw[SawOver]++
		}
	}
	return nil
}

// limit is how many calls may run when l begins, of those that have slots: less
// than MaxLoads while the cache is cold.
func (c *court) limit(l *Load) int {
	var cold time.Duration
	for _, w := range c.changes {
		if w.Verb == InvalidateAll && w.Err == nil && w.End.At < l.Start.At {
			cold = max(cold, w.End.At)
		}
	}
	done := float64(l.Start.At-cold) / float64(c.Ramp)
	if c.Ramp <= 0 || done >= 1 {
		return c.MaxLoads
	}
	return max(1, int(float64(c.MaxLoads)/4*math.Pow(4, done)))
}

// slots returns the loads in whose slot l may run, its own being the last
// resort.
func (c *court) slots(l *Load) []int {
	var of []int
	for _, r := range c.readsOf[l.Key] {
		if r.Parent == 0 || !r.Start.Before(l.Start) || !l.Start.Before(r.End) {
			continue
		}
		for _, host := range c.hosts(r) {
			for _, slot := range c.slots(host) {
				if !slices.Contains(of, slot) {
					of = append(of, slot)
				}
			}
		}
	}
	if of == nil {
		return []int{l.ID}
	}
	return of
}

// hosts returns the loads for whose sake r may have read: the nearest of those
// whose loaders asked for one another that had not ended, and so waits for r.
// It is not certain which of them those were that ended at the instant of r.
func (c *court) hosts(r *Read) (hosts []*Load) {
	for parent := c.loadByID[r.Parent]; parent != nil; parent = c.loadByID[c.readByID[parent.Leader].Parent] {
		ended := min(parent.End.At, parent.Deadline)
		if r.Start.At <= ended {
			hosts = append(hosts, parent)
		}
		if r.Start.At < ended {
			break
		}
	}
	return hosts
}
