package model

import (
	"context"
	"errors"

	"github.com/earlybird-cache/earlybird"
)

// failure: the error comes from a load that the read waited for, and that no
// change had made out of bounds for it.
func (c *court) failure(r *Read) error {
	switch r.Err {
	case earlybird.ErrLoadTimeout:
		return c.timedOut(r)
	case earlybird.ErrRecursiveLoad:
		return c.recursive(r)
	}
	var late *Write
	for _, l := range c.loadsOf[r.Key] {
		if !tells(r.Err, l) || !waitedFor(r, l) && !c.remembers(r, l) {
			continue
		}
		if late = c.superseded(l.Start, l.End, false, r); late == nil {
			c.sawFailure(r, l)
			return nil
		}
	}
	if late != nil {
		return broken(Fence, "%v: %v, of a load that %v had put out of its reach", r, r.Err, late)
	}
	return broken(Errors, "%v: %v; it waited for no such load", r, r.Err)
}

// tells reports whether err is what became of l.
func tells(err error, l *Load) bool {
	var panicked *earlybird.PanicError
	var invalid *earlybird.InvalidError
	var fault *Fault
	switch l.Outcome {
	case Invalid:
		return errors.As(err, &invalid) && errors.As(err, &fault) && fault.Load == l.ID
	case Failed:
		return err == l.Fault
	case Lacked: // may come without what it wraps, lest the key be taken for absent
		return err.Error() == l.Fault.Error()
	case Panicked:
		return errors.As(err, &panicked) && panicked.Value == any(l.Fault)
	case Exited:
		return errors.As(err, &panicked) && panicked.Value == nil
	}
	return false
}

// timedOut: a load of the key ran out of time while the read waited, and the
// error is not mistaken for the caller's own deadline.
func (c *court) timedOut(r *Read) error {
	if errors.Is(r.Err, context.DeadlineExceeded) {
		return broken(Errors, "%v: %v passes for the caller's deadline", r, r.Err)
	}
	for _, l := range c.loadsOf[r.Key] {
		if l.End.At >= l.Deadline && r.Start.At <= l.Deadline && l.Deadline <= r.End.At {
			c.saw[SawTimeout]++
			return nil
		}
	}
	return broken(Errors, "%v: %v, but no load ran out of time", r, r.Err)
}

// recursive: the reads that loaders were in the middle of lead from the key
// back to the one whose loader asks.
func (c *court) recursive(r *Read) error {
	parent := c.loadByID[r.Parent]
	if parent == nil || !c.leads(r.Key, parent.Key, r, make(map[string]bool)) {
		return broken(Errors, "%v: %v, but there is no cycle", r, r.Err)
	}
	c.saw[SawRecursive]++
	return nil
}

func (c *court) leads(from, to string, r *Read, been map[string]bool) bool {
	if from == to {
		return true
	}
	been[from] = true
	for _, n := range c.Reads {
		if n.Parent == 0 || n.End.At < r.Start.At || n.Start.At > r.End.At || been[n.Key] {
			continue
		}
		if c.loadByID[n.Parent].Key == from && c.leads(n.Key, to, r, been) {
			return true
		}
	}
	return false
}

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
	if parent := c.loadByID[r.Parent]; parent != nil && r.Took() > 0 && r.Start.At < parent.Deadline {
		return broken(Gate, "%v: %v after %v; it should have gone in the slot of %v", r, r.Err, r.Took(), parent)
	}
	least := c.MaxLoads
	switch {
	case r.Verb == Many: // it may have been long before the end
		least = 0
	case c.Ramp > 0:
		least = 1
	}
	if c.MaxLoads < 0 || busy < least {
		return broken(Errors, "%v: %v while %d loads ran", r, r.Err, busy)
	}
	if queued <= 8*c.MaxLoads && !c.asked(r.Key, r.End) {
		return broken(Errors, "%v: %v while at most %d loads waited, this one for less than %v", r, r.Err, queued, c.LoadTimeout)
	}
	c.saw[SawOverloaded]++
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

func (c *court) refusedClosed(r *Read) error {
	if !c.isClosing(r.End) {
		return broken(Closed, "%v: %v, but it was not", r, r.Err)
	}
	if r.Start.Before(c.closing.Start) {
		c.saw[SawReleased]++
	}
	return nil
}
