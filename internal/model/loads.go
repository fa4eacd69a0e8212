package model

import (
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
	return c.revalidated(l)
}

// revalidated: where an earlier value is in memory, and there alone, Revalidate
// is called rather than the loader, and given what it would be right to serve.
func (c *court) revalidated(l *Load) error {
	if !c.Revalidates {
		return nil
	}
	if l.Old == (Value{}) {
		if s, ok := c.inMemory(l.Key, l.Start, l.Start, time.Hour); ok {
			return broken(Near, "%v was to bring a value though %v was in memory", l, s.value)
		}
		return nil
	}
	asked := &Read{Key: l.Key, Span: Span{l.Start, l.Start}, Result: earlybird.Result[Value]{Value: l.Old}}
	for _, s := range c.sources(asked) {
		if s.shown().Before(l.Start) && c.superseded(s.began, s.done, true, asked) == nil {
			c.saw[SawRevalidated]++
			return nil
		}
	}
	return broken(Fence, "%v was given %v, which was no more", l, l.Old)
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
	if !ok || c.evicts() || age >= c.shortest(s) ||
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
