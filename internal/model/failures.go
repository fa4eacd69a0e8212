package model

import (
	"context"
	"errors"
	"slices"

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
// back to the call whose loader asks.
func (c *court) recursive(r *Read) error {
	if r.Parent == 0 || !c.leads(r.Key, r.Parent, r, make(map[string]bool)) {
		return broken(Errors, "%v: %v, but there is no cycle", r, r.Err)
	}
	c.saw[SawRecursive]++
	if len(c.partsOf[r.Parent]) > 1 {
		c.saw[SawRecursiveBatch]++
	}
	return nil
}

// leads reports whether a load of the key from can have waited for the call to,
// when r asked.
func (c *court) leads(from string, to int, r *Read, been map[string]bool) bool {
	if c.isFor(to, from) {
		return true
	}
	been[from] = true
	for _, n := range c.Reads {
		if n.Parent == 0 || n.End.At < r.Start.At || n.Start.At > r.End.At || been[n.Key] {
			continue
		}
		if c.isFor(n.Parent, from) && c.leads(n.Key, to, r, been) {
			return true
		}
	}
	return false
}

// isFor reports whether the call loads key.
func (c *court) isFor(call int, key string) bool {
	return slices.ContainsFunc(c.partsOf[call], func(l *Load) bool { return l.Key == key })
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
