package model

import (
	"errors"

	"github.com/earlybird-cache/earlybird"
)

// verdict is the class of a read's answer.
type verdict string

const (
	value     verdict = "value"
	nothing   verdict = "nothing" // of Peek
	notThere  verdict = "absent"
	badKey    verdict = "malformed"
	over      verdict = "closed"
	shed      verdict = "overloaded"
	left      verdict = "left"
	loadError verdict = "failed"
)

// classify tells what kind of answer a read got. Errors of the origin come
// first, since they can wrap anything.
func classify(r *Read) verdict {
	var fault *Fault
	var panicked *earlybird.PanicError
	switch err := r.Err; {
	case err == nil && r.Verb == Peek && !r.Found:
		return nothing
	case err == nil:
		return value
	case errors.As(err, &panicked):
		return loadError
	case errors.Is(err, earlybird.ErrNotFound):
		return notThere
	case errors.As(err, &fault):
		return loadError
	case err == earlybird.ErrMalformedKey:
		return badKey
	case err == earlybird.ErrClosed:
		return over
	case err == earlybird.ErrOverloaded:
		return shed
	case r.CtxErr != nil && errors.Is(err, r.CtxErr):
		return left
	}
	return loadError
}

// reads holds every read to what it may have been told.
func (c *court) reads() error {
	for _, r := range c.Reads {
		if r.Verb == Warm {
			continue
		}
		for _, check := range []func(*Read) error{c.punctual, c.shaped, c.served, c.spared, c.answered} {
			if err := check(r); err != nil {
				return err
			}
		}
	}
	return nil
}

// punctual: a reader leaves on its own context; without one it waits for the
// gate and for the load, each at most LoadTimeout.
func (c *court) punctual(r *Read) error {
	bound := 2 * c.LoadTimeout
	switch {
	case r.Verb == Peek || r.Ctx.Kind == Done:
		bound = 0
	case r.Ctx.After != 0:
		bound = min(bound, r.Ctx.After)
	}
	if r.Took() > bound {
		return broken(Answers, "%v took %v, more than %v", r, r.Took(), bound)
	}
	return nil
}

func (c *court) shaped(r *Read) error {
	refused := classify(r) == badKey
	switch {
	case wellFormed(r.Key) && refused:
		return broken(Shaped, "%v: %v", r, r.Err)
	case !wellFormed(r.Key) && !refused && r.Verb != Peek && classify(r) != over:
		return broken(Shaped, "%v got %s", r, r.outcome())
	}
	return nil
}

func (c *court) answered(r *Read) error {
	switch classify(r) {
	case value:
		return c.value(r)
	case notThere:
		return c.absence(r)
	case loadError:
		return c.failure(r)
	case shed:
		return c.shed(r)
	case over:
		return c.refusedClosed(r)
	case left:
		c.sawLeft(r)
	case badKey:
		c.saw[SawMalformed]++
	}
	return nil
}

// value: it was brought by a load or a Set, or brought again by a load that
// found it not modified, and that had not been superseded when the read began.
// Its life counts from when it was stored, which is when its load ended; the
// origin held it at some instant of that load.
func (c *court) value(r *Read) error {
	var err error
	for _, s := range c.sources(r) {
		if err = c.given(r, s); err == nil {
			c.sawValue(r, s)
			return nil
		}
	}
	if err == nil {
		return broken(Truth, "%v got %v, which nobody brought", r, r.Result.Value)
	}
	return err
}

// sources returns whatever may have brought r's value. The first is not the
// most likely one.
func (c *court) sources(r *Read) (all []source) {
	v := r.Result.Value
	if s, ok := c.source(v.By); ok && s.value == v && v.Key == r.Key {
		all = append(all, s)
	}
	for _, l := range c.renewals[v] {
		if s, ok := c.source(l.ID); ok && l.Key == r.Key && l.Start.Before(r.End) {
			all = append(all, s)
		}
	}
	return all
}

func (c *court) given(r *Read, s source) error {
	if r.Shared {
		return broken(Private, "%v got a copy of %v that somebody else has", r, s.value)
	}
	for _, check := range []func(*Read, source) error{c.outlived, c.roomy, c.latest} {
		if err := check(r, s); err != nil {
			return err
		}
	}
	if w := c.superseded(s.began, s.done, true, r); w != nil {
		return broken(Fence, "%v got %v, which %v had put an end to", r, s.value, w)
	}
	return c.state(r, s)
}

// source is a load or a Set, as far as it brought a value.
type source struct {
	value Value
	began Stamp // a change that began before this makes no difference to it
	done  Stamp
	load  *Load
	set   *Write
}

// shown is from when on others can have been given the value: a Set stores it
// before it returns, and what a load brought is stored after the load.
func (s source) shown() Stamp {
	if s.set != nil {
		return s.set.Start
	}
	return s.done
}

func (c *court) source(id int) (source, bool) {
	if l := c.loadByID[id]; l != nil && l.gave() {
		return source{value: l.Value, began: l.Start, done: l.End, load: l}, true
	}
	if w := c.setByID[id]; w != nil {
		// Its instant lies somewhere in the call: a change that began before
		// the call returned may have come first.
		return source{value: w.Value, began: w.End, done: w.End, set: w}, true
	}
	return source{}, false
}

// state: it says how the value was come by.
func (c *court) state(r *Read, s source) error {
	if !r.stated() {
		return nil
	}
	stale := r.Result.State == earlybird.Stale
	held := r.Result.State == earlybird.Fresh || r.Result.State == earlybird.Early
	age := r.End.At - s.done.At
	switch {
	case held && r.Took() != 0:
		return broken(Near, "%v waited %v for what it says was in memory", r, r.Took())
	case stale && r.End.At-s.done.At < c.shortest(s):
		return broken(Truth, "%v calls %v stale after %v", r, s.value, r.End.At-s.done.At)
	case stale && r.Took() != 0 && !c.failing(r, s):
		return broken(Near, "%v waited %v for what was in memory, and no load failed", r, r.Took())
	case r.Result.Age != age && (held || stale || r.Result.Age != 0):
		return broken(Truth, "%v says that %v is %v old; it is %v", r, s.value, r.Result.Age, age)
	case r.Result.State == earlybird.Joined && s.done.At < r.Start.At:
		return broken(Truth, "%v says that it joined a load; %v was stored %v before", r, s.value, age)
	case r.Result.State == earlybird.Joined && s.load != nil && s.load.Leader == r.ID:
		return broken(Truth, "%v says that it joined %v, which it started", r, s.load)
	case r.Result.State == earlybird.Loaded && (s.load == nil || s.load.Leader != r.ID):
		return broken(Truth, "%v says that it loaded %v", r, s.value)
	}
	return c.elected(r, s)
}
