package model

import (
	"context"
	"errors"

	"github.com/earlybird-cache/earlybird"
)

func (c *court) sawValue(r *Read, s source) {
	if s.set != nil {
		c.saw[SawSet]++
	}
	c.sawMore(r, s)
	switch {
	case r.Verb == Peek:
		c.saw[SawPeek]++
	case !r.stated():
	case r.Result.State == earlybird.Loaded:
		c.saw[SawLoaded]++
		c.sawExpired(r)
	case r.Result.State == earlybird.Joined:
		c.saw[SawJoined]++
	case r.Result.State == earlybird.Early:
		c.saw[SawEarly]++
		c.sawEarlyEnd(r)
	default:
		c.saw[SawHit]++
	}
	if r.DoneBefore {
		c.saw[SawDoneHit]++
	}
	if c.Draw != 0 && r.Result.State == earlybird.Early {
		c.saw[SawEarlyDue]++
	}
}

func (c *court) sawMore(r *Read, s source) {
	for situation, seen := range map[Situation]bool{
		SawMany:       r.Verb == Many,
		SawManyNested: r.Verb == Many && r.Parent != 0,
		SawPrivate:    c.Clones,
		SawSpelled:    r.Given != r.Key,
		SawRenewed:    s.load != nil && s.load.Outcome == Unmodified && !waitedFor(r, s.load),
	} {
		if seen {
			c.saw[situation]++
		}
	}
}

// sawExpired looks for a value that was there, and had nothing against it but
// its age, or that there was no room for it.
func (c *court) sawExpired(r *Read) {
	for _, l := range c.loadsOf[r.Key] {
		s, ok := c.source(l.ID)
		if !ok || c.life(s.value) < 0 || !c.wasStored(l) || c.lostValue(r.Key, s, r.Start) {
			continue
		}
		switch age := r.Start.At - l.End.At; {
		case age >= c.life(s.value):
			c.saw[SawExpired]++
		case age > 0 && age < c.shortest(s):
			c.saw[SawEvicted]++
		}
	}
}

// sawEarlyEnd looks for a refresh that r started and that failed, and for a
// later read that nevertheless got the value.
func (c *court) sawEarlyEnd(r *Read) {
	for _, l := range c.loadsOf[r.Key] {
		if l.Leader != r.ID || !l.failed() {
			continue
		}
		for _, o := range c.readsOf[r.Key] {
			if l.End.Before(o.Start) && o.Result.Value == r.Result.Value {
				c.saw[SawEarlyFailed]++
				return
			}
		}
	}
}

// sawLeft looks for the load that r started, left, and others had the use of.
func (c *court) sawLeft(r *Read) {
	if r.DoneBefore {
		c.saw[SawDoneMiss]++
	}
	for _, l := range c.loadsOf[r.Key] {
		if l.Leader != r.ID || l.Outcome != Brought {
			continue
		}
		for _, o := range c.readsOf[r.Key] {
			if o.Result.Value == l.Value {
				c.saw[SawLeft]++
				return
			}
		}
	}
}

func (c *court) sawAbsence(r *Read, l *Load) {
	if r.Parent != 0 {
		c.saw[SawLacked]++
	}
	if waitedFor(r, l) {
		c.saw[SawAbsent]++
	} else {
		c.saw[SawNegative]++
	}
}

func (c *court) sawFailure(r *Read, l *Load) {
	switch {
	case l.Outcome == Invalid && !waitedFor(r, l):
		c.saw[SawInvalidAgain]++
	case l.Outcome == Invalid:
		c.saw[SawInvalid]++
	case l.Outcome == Panicked:
		c.saw[SawPanic]++
	case l.Outcome == Exited:
		c.saw[SawGoexit]++
	case errors.Is(l.Fault, context.Canceled) || errors.Is(l.Fault, context.DeadlineExceeded):
		c.saw[SawOwnCtxError]++
	default:
		c.saw[SawFailed]++
	}
}

func (c *court) sawLoad(l *Load) {
	switch {
	case !l.isCall():
		c.sawPart(l, c.loadByID[l.Call])
	case l.Outcome == Unmodified:
		c.saw[SawUnmodified]++
	}
	if gone := l.Outcome == Absent || l.gave() && c.life(l.Value) < 0; gone {
		if _, ok := c.inMemory(l.Key, l.Start, l.Start, 0); ok {
			c.saw[SawReplaced]++
		}
	}
	if l.LeftOut {
		c.saw[SawLeftOut]++
	}
	if c.readByID[l.Leader].Parent != 0 {
		c.saw[SawNested]++
	}
	for _, w := range c.writesOf[l.Key] {
		if l.Start.Before(w.Start) && w.End.Before(l.End) {
			c.saw[SawFenced]++
		}
		if l.Outcome != Brought || w.Verb != Created || !w.End.Before(l.Start) {
			continue
		}
		if c.Guard {
			c.saw[SawAdmitted]++
		}
		c.sawForgotten(w, l)
	}
}

// sawPart looks at a part of a batch that is not the first.
func (c *court) sawPart(l, first *Load) {
	for situation, seen := range map[Situation]bool{
		SawBatch:       true,
		SawPartial:     l.failed() && first.gave() || l.gave() && first.Outcome == Failed,
		SawBatchHalf:   l.gave() && first.Outcome == Failed && l.Half,
		SawBatchBroken: l.Outcome == Panicked,
		SawBatchExited: l.Outcome == Exited,
		SawBatchLate:   l.End.At >= l.Deadline,
		SawBatchNested: c.readByID[l.Leader].Parent != 0,
		SawBatchLacked: l.Outcome == Lacked,
	} {
		if seen {
			c.saw[situation]++
		}
	}
}

// sawForgotten looks for an absence that was remembered when w began, and for
// which l would have had no reason without w.
func (c *court) sawForgotten(w *Write, l *Load) {
	for _, a := range c.loadsOf[l.Key] {
		if a.Outcome == Absent && a.End.Before(w.Start) && l.Start.At < a.End.At+c.least(c.NegativeTTL) && c.wasStored(a) {
			c.saw[SawForgotten]++
			return
		}
	}
}
