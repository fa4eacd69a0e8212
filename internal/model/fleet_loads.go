package model

import (
	"errors"
	"slices"
	"time"

	"github.com/earlybird-cache/earlybird"
	"github.com/earlybird-cache/earlybird/store"
)

// overlaps: in the whole fleet one load of a key runs at a time, unless something
// came in between; and none runs for what the tier has.
func (c *fleetCourt) overlaps() error {
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

func (c *fleetCourt) overlap(a, b *Load) error {
	first := c.readByID[a.Leader].Start
	if other := c.readByID[b.Leader].Start; other.Before(first) {
		first = other
	}
	switch {
	case a.End.Before(b.Start) && a.gave():
		return c.found(a, b)
	case a.End.Before(b.Start):
		return c.cools(a, b)
	case a.Deadline <= b.Start.At:
		c.saw[SawOverlapTimeout]++
	case c.hasMoved(a.Key, first, b.Start):
		c.saw[SawOverlapFence]++
	case c.waitedOut(a), c.waitedOut(b):
		c.saw[SawWaitedOut]++
	case c.lostTouch(a, first, b.Start), c.lostTouch(b, first, b.Start):
		c.saw[SawOverlapOutage]++
	default:
		return broken(OneLoad, "%v began at %v while %v was under way since %v", b, b.Start.At, a, a.Start.At)
	}
	return nil
}

// hasMoved reports whether between two moments a change of the key, late ones
// included, or trouble can have taken a lease away.
func (c *fleetCourt) hasMoved(key string, from, to Stamp) bool {
	for _, w := range c.writesOf[key] {
		isLate := w.Err != nil && from.At-mostDelay <= w.End.At
		if (from.Before(w.End) || isLate) && w.Start.Before(to) {
			return true
		}
	}
	for _, t := range c.Troubles {
		about := t.Verb == Lose || t.Verb == FailOver || (t.Verb == Evict || t.Verb == EvictLease) && t.Keys[0] == key
		repeats := t.Verb == again && c.hasFailed(t.Cache, key, t.Stamp)
		if (about || repeats) && from.At-mostDelay <= t.At && t.Before(to) {
			return true
		}
	}
	return false
}

// hasFailed reports whether a change of key by the cache has failed before s.
func (c *fleetCourt) hasFailed(cache int, key string, s Stamp) bool {
	return slices.ContainsFunc(c.writesOf[key], func(w *Write) bool {
		return w.Cache == cache && w.Err != nil && w.Start.Before(s)
	})
}

// waitedOut reports whether l's flight can have waited for another cache as long as
// it may.
func (c *fleetCourt) waitedOut(l *Load) bool {
	return c.readByID[l.Leader].Start.At+c.Tier.MaxWait <= l.Start.At
}

// lostTouch reports whether between two moments l's cache did not reach the tier.
func (c *fleetCourt) lostTouch(l *Load, from, to Stamp) bool {
	for _, q := range c.asked[place{l.Cache, l.Key}] {
		if q.failed() && from.At-mostDelay <= q.End.At && q.Start.Before(to) {
			return true
		}
	}
	return false
}

// cools: for a moment after a load that had leave has failed nobody else gets it.
func (c *fleetCourt) cools(a, b *Load) error {
	bad := a.Outcome == Failed || a.Outcome == Panicked || a.Outcome == Exited
	if !bad || c.waitedOut(a) || a.End.At >= a.Deadline || b.Start.At >= a.End.At+leastCooling {
		return nil // or a had no leave
	}
	for _, q := range c.asked[place{a.Cache, a.Key}] {
		gaveUp := q.Method == "Fail" && q.Err == nil && q.Start.At == a.End.At && q.End.Before(b.Start)
		if gaveUp && !c.hasMoved(a.Key, c.readByID[a.Leader].Start, b.Start) && !c.waitedOut(b) && !c.lostTouch(b, q.Start, b.Start) {
			return broken(Cooling, "%v began %v after %v had failed", b, b.Start.At-a.End.At, a)
		}
	}
	return nil
}

// leastCooling is the least of what a cache draws for that.
const leastCooling = 50 * time.Millisecond

// found: what a brought is in the tier, so nobody loads it again for a reader who
// has nothing.
func (c *fleetCourt) found(a, b *Load) error {
	leader := c.readByID[b.Leader]
	isMiss := leader.Verb == Lookup && leader.Err == nil && leader.Result.State == earlybird.Loaded && leader.Result.Value.By == b.ID
	s, ok := c.source(a.ID)
	if !isMiss || !ok || c.life(a.Value) != c.TTL {
		return nil
	}
	for _, q := range c.asked[place{a.Cache, a.Key}] {
		published := q.Method == "Publish" && q.Err == nil && q.Told.Value == a.Value && q.End.Before(leader.Start)
		if !published || b.Start.At >= a.End.At+c.shortest(s) || c.hasMoved(a.Key, q.Start, b.Start) ||
			c.lostTouch(b, leader.Start, b.Start) || c.replaced(a, q.Start, b.Start) {
			continue
		}
		return broken(OneLoad, "%v began for %v though the tier had %v", b, leader, a.Value)
	}
	return nil
}

// replaced reports whether between two moments another load of a's key has told the
// tier something else.
func (c *fleetCourt) replaced(a *Load, from, to Stamp) bool {
	for i := range c.all {
		for _, q := range c.asked[place{i, a.Key}] {
			if (q.Method == "Publish" || q.Method == "Set") && q.Told.Value != a.Value && from.At-mostDelay <= q.End.At && q.Start.Before(to) {
				return true
			}
		}
	}
	return false
}

// leases: leave to load is used up or given back.
func (c *fleetCourt) leases() error {
	ended := make(map[string]bool)
	for _, q := range c.Questions {
		switch {
		case !q.Ended():
			return broken(Answers, "%v never ended", q)
		case q.Method == "Fail", q.Method == "Publish" && !q.failed():
			ended[q.Lease.Token] = true
		}
	}
	for _, q := range c.Questions {
		if q.Method != "Acquire" || q.Err != nil || q.Claim.Outcome != store.Granted || ended[q.Claim.Lease.Token] {
			continue
		}
		forgets := func(o *Question) bool { return o.Method == "Invalidate" && q.End.Before(o.Start) }
		if !slices.ContainsFunc(c.asked[place{q.Cache, q.Keys[0]}], forgets) {
			return broken(Leases, "%v was given %v, and kept it", q, q.Claim.Lease)
		}
	}
	return nil
}

// writes: a change takes no longer than it takes to tell the tier, and fails only
// where that was not told, as documented.
func (c *fleetCourt) writes() error {
	for _, w := range c.changes {
		closing := c.closings[w.Cache]
		switch {
		case w.Took() > 2*c.Tier.Budget:
			return broken(Changes, "%v took %v", w, w.Took())
		case w.Err == earlybird.ErrClosed && closing.Start.Before(w.End), w.Err == nil && !closing.End.Before(w.Start), w.Err == errCommit:
			continue
		case !isChangeError(w.Verb, w.Err):
			return broken(Changes, "%v: %v", w, w.Err)
		}
		c.saw[SawPending]++
		if !slices.ContainsFunc(c.Questions, func(q *Question) bool {
			return q.Cache == w.Cache && q.failed() && w.Start.Before(q.End) && q.Start.Before(w.End)
		}) {
			return broken(Changes, "%v: %v, but the tier has confirmed it", w, w.Err)
		}
	}
	return nil
}

// isChangeError reports whether err is what a change may say of the tier.
func isChangeError(verb Verb, err error) bool {
	var pending *store.PendingError
	return errors.As(err, &pending) || (verb == InvalidateAll || verb == Set) && isOutage(err)
}

// closed: after Close nothing of the cache runs and nothing is served.
func (c *fleetCourt) closed() error {
	for _, w := range c.closings {
		if w.Took() > c.LoadTimeout+c.slack() {
			return broken(Closed, "%v took %v", w, w.Took())
		}
	}
	for _, l := range c.Loads {
		if c.closings[l.Cache].Start.At < l.Start.At {
			return broken(Closed, "%v began after Close", l)
		}
	}
	for _, q := range c.Questions {
		if c.closings[q.Cache].End.Before(q.Start) {
			return broken(Closed, "%v after Close", q)
		}
	}
	for _, r := range c.Reads {
		if v := classify(r); c.closings[r.Cache].End.Before(r.Start) && v != over && v != badKey && v != nothing && r.Verb != Warm {
			return broken(Closed, "%v after Close: %s", r, r.outcome())
		}
	}
	return nil
}

// counts: each cache's Stats has each of its reads once, in the class that it was in.
func (c *fleetCourt) counts() error {
	for i, s := range c.all {
		told := make(map[verdict]uint64)
		reads, calls, lost := uint64(0), uint64(0), uint64(0)
		for _, r := range c.Reads {
			if r.Cache == i && r.Verb != Peek && r.Verb != Warm {
				reads++
				told[classify(r)]++
			}
		}
		for _, l := range c.Loads {
			if l.Cache == i && l.isCall() {
				calls++
			}
		}
		for _, q := range c.Questions {
			if q.Cache == i && errors.Is(q.Err, store.ErrLost) {
				lost++
			}
		}
		for _, x := range []struct {
			name          string
			counted, told uint64
		}{
			{"requests", s.Requests(), reads},
			{"values", s.Hits + s.Early + s.Stale + s.Shared + s.Loaded + s.Joined, told[value]},
			{"absences", s.NegativeHits + s.Refused + s.Absent, told[notThere]},
			{"malformed keys", s.Malformed, told[badKey]},
			{"failures", s.Failed, told[loadError]},
			{"readers who left", s.Left, told[left]},
			{"reads after Close", s.Closed, told[over]},
			{"loads", s.Loads, calls},
			{"values that the tier refused", s.Lost, lost},
			{"loads that run", uint64(s.LoadsNow), 0},
			{"readers that wait", uint64(s.Waiting), 0},
		} {
			if x.counted != x.told {
				return broken(Counted, "Stats of cache %d has %d %s, there were %d", i, x.counted, x.name, x.told)
			}
		}
	}
	return nil
}

// sawShared looks at how the fleet came by a value.
func (c *fleetCourt) sawShared(r *Read, s source) {
	if !r.stated() {
		return
	}
	elsewhere := s.load != nil && s.load.Cache != r.Cache || s.set != nil && s.set.Cache != r.Cache
	for situation, seen := range map[Situation]bool{
		SawShared:    r.Result.State == earlybird.Shared && elsewhere,
		SawCopy:      r.Result.State == earlybird.Fresh && elsewhere,
		SawWaitedFor: r.Result.State == earlybird.Shared && elsewhere && r.Took() > 4*(c.Tier.Latency+c.Tier.Jitter)+time.Millisecond,
	} {
		if seen {
			c.saw[situation]++
		}
	}
}
