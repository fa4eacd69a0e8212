package model

import (
	"math"
	"slices"
	"time"

	"github.com/earlybird-cache/earlybird"
)

// shed: the origin was busy, and either the queue was full or the read's load
// had waited its time. A loader's read never waits before the gate.
func (c *court) shed(r *Read) error {
	now := r.End.At
	busy, queued := 0, 0
	for _, l := range c.Loads {
		if l.isCall() && l.Start.At <= now && now <= l.End.At {
			busy++
		}
	}
	for _, o := range c.Reads { // its load may wait on when the reader has left
		if o.Start.At <= now && now-c.LoadTimeout <= o.End.At && o.Verb != Peek {
			queued++
		}
	}
	if parent := c.loadByID[r.Parent]; parent != nil && r.Verb != Many && r.Took() > 0 && r.Start.At < parent.Deadline {
		return broken(Gate, "%v: %v after %v; it should have gone in the slot of %v", r, r.Err, r.Took(), parent)
	}
	least := c.MaxLoads
	switch {
	case r.Verb == Many, c.MaxLoadRate > 0: // it may have been long before the end; the rate may have been used up
		least = 0
	case c.Ramp > 0:
		least = 1
	}
	if c.MaxLoads < 0 && c.MaxLoadRate == 0 || busy < least {
		return broken(Errors, "%v: %v while %d loads ran", r, r.Err, busy)
	}
	c.saw[SawOverloaded]++
	if c.asked(r.Key, r.End) {
		return c.outwaited(r)
	}
	if queued <= 8*c.MaxLoads || c.MaxLoads < 0 {
		return broken(Errors, "%v: %v while at most %d loads waited, this one for less than %v", r, r.Err, queued, c.LoadTimeout)
	}
	if c.ramping(r.End) && (r.Verb != Many || c.ramping(r.Start)) {
		return broken(Gate, "%v: %v, though the gate is only narrowed for a while", r, r.Err)
	}
	return nil
}

// asked reports whether somebody had asked for key LoadTimeout before s, or
// earlier.
func (c *court) asked(key string, s Stamp) bool {
	for _, o := range c.readsOf[key] {
		if o.Start.At+c.LoadTimeout <= s.At {
			return true
		}
	}
	return false
}

// outwaited: if MaxLoadRate alone makes loads wait, as many have started while r
// waited as it allows, but for one that may have come to nothing at either end.
func (c *court) outwaited(r *Read) error {
	if c.MaxLoadRate == 0 || c.MaxLoads > 0 || r.Verb == Many {
		return nil
	}
	started := 0
	for _, l := range c.Loads {
		if l.isCall() && r.End.At-c.LoadTimeout <= l.Start.At && l.Start.At <= r.End.At {
			started++
		}
	}
	if least := int(c.MaxLoadRate*c.LoadTimeout.Seconds()) - 2; started < least {
		return broken(Rate, "%v: %v, but only %d loads started in %v", r, r.Err, started, c.LoadTimeout)
	}
	c.saw[SawOutwaited]++
	return nil
}

// paced: loads start at MaxLoadRate, with a burst of at most a tenth of a
// second's worth. Those in the slot of another do not count.
func (c *court) paced() error {
	if c.MaxLoadRate == 0 {
		return nil
	}
	burst := max(1, math.Floor(c.MaxLoadRate/10))
	left, since := burst, time.Duration(0)
	for _, l := range c.Loads {
		if !l.isCall() || !slices.Equal(c.slots(l), []int{l.ID}) {
			continue
		}
		left = min(burst, left+c.MaxLoadRate*(l.Start.At-since).Seconds()) - 1
		if since = l.Start.At; left < -1e-6 {
			return broken(Rate, "%v began, which makes more than %v a second and %v at once", l, c.MaxLoadRate, burst)
		}
		if left < 1 {
			c.saw[SawPaced]++
		}
	}
	return nil
}

// rank is how urgently a load is wanted.
type rank int

const (
	unsure rank = iota
	urgent
	background
	warming
)

// ranked: no refresh and no load of a warm-up starts while one waits that a
// reader waits for, and refreshes leave seven in ten of MaxLoads to those, a
// warm-up nine.
func (c *court) ranked() error {
	if c.MaxLoads < 0 && c.MaxLoadRate == 0 {
		return nil
	}
	ranks := make(map[int]rank)
	for _, l := range c.Loads {
		if l.isCall() {
			ranks[l.ID] = c.rank(l)
		}
	}
	for _, l := range c.Loads {
		if r := ranks[l.ID]; r != background && r != warming {
			continue
		}
		if err := c.yields(l, ranks); err != nil {
			return err
		}
	}
	return nil
}

func (c *court) yields(l *Load, ranks map[int]rank) error {
	alike := 0
	for _, o := range c.Loads {
		first := c.readByID[o.Leader]
		switch rank := ranks[o.ID]; {
		case rank == ranks[l.ID] && !l.Start.Before(o.Start) && l.Start.Before(o.End):
			alike++
		case rank == urgent && (first.Verb == Get || first.Verb == Lookup) &&
			first.Start.At < l.Start.At && l.Start.At < first.End.At && l.Start.At < o.Start.At:
			return broken(Rank, "%v, for which %v waited, had to wait for %v", o, first, l)
		}
	}
	if c.MaxLoads < 0 {
		return nil
	}
	share := map[rank]int{background: 3, warming: 1}[ranks[l.ID]]
	if most := max(1, c.limit(l)*share/10); alike > most {
		return broken(Rank, "%v is one of %d loads that nobody waits for", l, alike)
	}
	c.saw[map[rank]Situation{background: SawBackground, warming: SawWarming}[ranks[l.ID]]]++
	return nil
}

// rank tells how urgent the call l was when it began, if nobody can have joined
// it before and made it more so.
func (c *court) rank(l *Load) rank {
	first := c.readByID[l.Leader]
	for _, part := range c.partsOf[l.ID] {
		for _, r := range c.readsOf[part.Key] {
			if r.ID != part.Leader && r.Start.Before(l.Start) && r.End.At >= first.Start.At && r.Verb != Peek && r.Verb != Warm && !r.held() {
				return unsure
			}
		}
	}
	switch {
	case first.Verb == Warm:
		return warming
	case first.held():
		return background
	}
	return urgent
}

// held reports whether the read certainly got what was in memory.
func (r *Read) held() bool {
	return r.Verb == Lookup && r.Err == nil && r.Took() == 0 && r.Result.State != earlybird.Loaded && r.Result.State != earlybird.Joined
}
