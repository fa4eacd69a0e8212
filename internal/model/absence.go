package model

import "slices"

// absence: some load found the key absent and is not forgotten, or the guard
// cannot know better.
func (c *court) absence(r *Read) error {
	var stale *Write
	for _, l := range c.loadsOf[r.Key] {
		remembered := l.End.Before(r.Start) && r.Start.At-l.End.At < c.NegativeTTL
		if l.Outcome != Absent || !remembered && !waitedFor(r, l) {
			continue
		}
		if w := c.superseded(l.Start, l.End, false, r); w != nil {
			stale = w
			continue
		}
		c.sawAbsence(r, l)
		return nil
	}
	if !c.added(r) {
		c.saw[SawRefused]++
		return nil
	}
	if stale != nil {
		return broken(Fence, "%v: %v, though %v came after whoever found it so", r, r.Err, stale)
	}
	if c.Guard {
		return broken(Guarded, "%v: %v; no load says so, and the guard was told of the key", r, r.Err)
	}
	return broken(Absence, "%v: %v; no load says so", r, r.Err)
}

// added reports whether the guard, if there is one, had been told of the key's
// id when r began.
func (c *court) added(r *Read) bool {
	if !c.Guard {
		return true
	}
	for _, w := range c.changes {
		tells := (w.Verb == Created || w.Verb == Set) && w.Err == nil && w.End.Before(r.Start)
		if tells && slices.ContainsFunc(w.Keys, func(key string) bool { return id(key) == id(r.Key) }) {
			return true
		}
	}
	return false
}
