package model

import (
	"math"
	"slices"
	"time"
)

// atOnce: never do more than MaxLoads run. A load that a loader waited for when
// it began runs in that loader's slot, which it keeps if the other returns
// first.
func (c *court) atOnce() error {
	if c.MaxLoads < 0 {
		return nil
	}
	for _, l := range c.Loads {
		if !l.isCall() {
			continue
		}
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

// cold returns when, before s, the cache last was empty all at once.
func (c *court) cold(s Stamp) (cold time.Duration) {
	for _, w := range c.changes {
		if w.Verb == InvalidateAll && w.Err == nil && w.End.At < s.At {
			cold = max(cold, w.End.At)
		}
	}
	return cold
}

// ramping reports whether the gate is certainly narrowed at s.
func (c *court) ramping(s Stamp) bool { return s.At-c.cold(s) < c.Ramp }

// limit is how many calls may run when l begins, of those that have slots: less
// than MaxLoads while the cache is cold.
func (c *court) limit(l *Load) int {
	if !c.ramping(l.Start) {
		return c.MaxLoads
	}
	done := float64(l.Start.At-c.cold(l.Start)) / float64(c.Ramp)
	return max(1, int(float64(c.MaxLoads)/4*math.Pow(4, done)))
}

// slots returns the calls in whose slot the call l may run, its own being the
// last resort.
func (c *court) slots(l *Load) []int {
	var of []int
	for _, part := range c.partsOf[l.ID] {
		for _, r := range c.readsOf[part.Key] {
			if r.Parent == 0 || !r.Start.Before(l.Start) || !l.Start.Before(r.End) {
				continue
			}
			for _, host := range c.hosts(r) {
				of = append(of, c.slots(host)...)
			}
		}
	}
	if of == nil {
		return []int{l.ID}
	}
	slices.Sort(of)
	return slices.Compact(of)
}

// hosts returns the calls for whose sake r may have read: the nearest of those
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
