package model

import (
	"context"
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
func (j *court) reads() error {
	for _, r := range j.Reads {
		for _, check := range []func(*Read) error{j.punctual, j.shaped, j.served, j.answered} {
			if err := check(r); err != nil {
				return err
			}
		}
	}
	return nil
}

// punctual: a reader leaves on its own context; without one it waits for the
// gate and for the load, each at most LoadTimeout.
func (j *court) punctual(r *Read) error {
	bound := 2 * j.LoadTimeout
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

func (j *court) shaped(r *Read) error {
	refused := classify(r) == badKey
	switch {
	case wellFormed(r.Key) && refused:
		return broken(Shaped, "%v: %v", r, r.Err)
	case !wellFormed(r.Key) && !refused && r.Verb != Peek && classify(r) != over:
		return broken(Shaped, "%v got %s", r, r.outcome())
	}
	return nil
}

func (j *court) answered(r *Read) error {
	switch classify(r) {
	case value:
		return j.value(r)
	case notThere:
		return j.absence(r)
	case loadError:
		return j.failure(r)
	case shed:
		return j.shed(r)
	case over:
		return j.refusedClosed(r)
	case left:
		j.sawLeft(r)
	case badKey:
		j.saw[SawMalformed]++
	}
	return nil
}

// value: it was brought by a load or a Set that had not been superseded when
// the read began. Its life counts from when it was stored, which is when its
// load ended; the origin held it at some instant of that load.
func (j *court) value(r *Read) error {
	v := r.Result.Value
	source, ok := j.source(v.By)
	if !ok || source.value != v || v.Key != r.Key {
		return broken(Truth, "%v got %v, which nobody brought", r, v)
	}
	if age := r.Start.At - source.done.At; age >= j.TTL {
		return broken(Truth, "%v got %v, stored %v before", r, v, age)
	}
	if w := j.superseded(source.began, source.done, true, r); w != nil {
		return broken(Fence, "%v got %v, which %v had put an end to", r, v, w)
	}
	if err := j.state(r, source); err != nil {
		return err
	}
	j.sawValue(r, source)
	return nil
}

// source is a load or a Set, as far as it brought a value.
type source struct {
	value Value
	began Stamp // a change that began before this makes no difference to it
	done  Stamp
	load  *Load
	set   *Write
}

func (j *court) source(id int) (source, bool) {
	if l := j.loadByID[id]; l != nil && l.Outcome == Brought {
		return source{value: l.Value, began: l.Start, done: l.End, load: l}, true
	}
	if w := j.setByID[id]; w != nil {
		// Its instant lies somewhere in the call: a change that began before
		// the call returned may have come first.
		return source{value: w.Value, began: w.End, done: w.End, set: w}, true
	}
	return source{}, false
}

// state: it says how the value was come by.
func (j *court) state(r *Read, s source) error {
	if r.Verb == Get {
		return nil
	}
	held := r.Result.State == earlybird.Fresh || r.Result.State == earlybird.Early
	switch {
	case held && r.Took() != 0:
		return broken(Near, "%v waited %v for what it says was in memory", r, r.Took())
	case held && r.Result.Age != r.End.At-s.done.At:
		return broken(Truth, "%v says that %v is %v old; it is %v", r, s.value, r.Result.Age, r.End.At-s.done.At)
	case r.Result.State == earlybird.Loaded && (s.load == nil || s.load.Leader != r.ID):
		return broken(Truth, "%v says that it loaded %v", r, s.value)
	}
	return j.elected(r, s)
}

// absence: some load found the key absent and is not forgotten, or the guard
// cannot know better.
func (j *court) absence(r *Read) error {
	var stale *Write
	for _, l := range j.loadsOf[r.Key] {
		remembered := l.End.Before(r.Start) && r.Start.At-l.End.At < j.NegativeTTL
		if l.Outcome != Absent || !remembered && !waitedFor(r, l) {
			continue
		}
		if w := j.superseded(l.Start, l.End, false, r); w != nil {
			stale = w
			continue
		}
		j.sawAbsence(r, l)
		return nil
	}
	if !j.added(r) {
		j.saw[SawRefused]++
		return nil
	}
	if stale != nil {
		return broken(Fence, "%v: %v, though %v came after whoever found it so", r, r.Err, stale)
	}
	if j.Guard {
		return broken(Guarded, "%v: %v; no load says so, and the guard was told of the key", r, r.Err)
	}
	return broken(Absence, "%v: %v; no load says so", r, r.Err)
}

// added reports whether the guard, if there is one, had been told of the key
// when r began.
func (j *court) added(r *Read) bool {
	if !j.Guard {
		return true
	}
	for _, w := range j.writesOf[r.Key] {
		if (w.Verb == Created || w.Verb == Set) && w.Err == nil && w.End.Before(r.Start) {
			return true
		}
	}
	return false
}

// failure: the error comes from a load that the read waited for, and that no
// change had made out of bounds for it.
func (j *court) failure(r *Read) error {
	switch r.Err {
	case earlybird.ErrLoadTimeout:
		return j.timedOut(r)
	case earlybird.ErrRecursiveLoad:
		return j.recursive(r)
	}
	var late *Write
	for _, l := range j.loadsOf[r.Key] {
		if !tells(r.Err, l) || !waitedFor(r, l) {
			continue
		}
		if late = j.superseded(l.Start, l.End, false, r); late == nil {
			j.sawFailure(l)
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
	switch l.Outcome {
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
func (j *court) timedOut(r *Read) error {
	if errors.Is(r.Err, context.DeadlineExceeded) {
		return broken(Errors, "%v: %v passes for the caller's deadline", r, r.Err)
	}
	for _, l := range j.loadsOf[r.Key] {
		if l.End.At >= l.Deadline && r.Start.At <= l.Deadline && l.Deadline <= r.End.At {
			j.saw[SawTimeout]++
			return nil
		}
	}
	return broken(Errors, "%v: %v, but no load ran out of time", r, r.Err)
}

// recursive: the reads that loaders were in the middle of lead from the key
// back to the one whose loader asks.
func (j *court) recursive(r *Read) error {
	parent := j.loadByID[r.Parent]
	if parent == nil || !j.leads(r.Key, parent.Key, r, make(map[string]bool)) {
		return broken(Errors, "%v: %v, but there is no cycle", r, r.Err)
	}
	j.saw[SawRecursive]++
	return nil
}

func (j *court) leads(from, to string, r *Read, been map[string]bool) bool {
	if from == to {
		return true
	}
	been[from] = true
	for _, n := range j.Reads {
		if n.Parent == 0 || n.End.At < r.Start.At || n.Start.At > r.End.At || been[n.Key] {
			continue
		}
		if j.loadByID[n.Parent].Key == from && j.leads(n.Key, to, r, been) {
			return true
		}
	}
	return false
}

// shed: the origin was busy, and either the queue was full or the read's load
// had waited its time. A loader's read never waits before the gate.
func (j *court) shed(r *Read) error {
	now := r.End.At
	busy, queued := 0, 0
	for _, l := range j.Loads {
		if l.Start.At <= now && now <= l.End.At {
			busy++
		}
	}
	for _, o := range j.Reads { // its load may wait on when the reader has left
		if o.Start.At <= now && now-j.LoadTimeout <= o.End.At && o.Verb != Peek {
			queued++
		}
	}
	if parent := j.loadByID[r.Parent]; parent != nil && r.Took() > 0 && r.Start.At < parent.Deadline {
		return broken(Gate, "%v: %v after %v; it should have gone in the slot of %v", r, r.Err, r.Took(), parent)
	}
	if j.MaxLoads < 0 || busy < j.MaxLoads {
		return broken(Errors, "%v: %v while %d loads ran", r, r.Err, busy)
	}
	if queued <= 8*j.MaxLoads && !j.asked(r.Key, r.End) {
		return broken(Errors, "%v: %v while at most %d loads waited, this one for less than %v", r, r.Err, queued, j.LoadTimeout)
	}
	j.saw[SawOverloaded]++
	return nil
}

// asked reports whether somebody had asked for key LoadTimeout before s, or
// earlier.
func (j *court) asked(key string, s Stamp) bool {
	for _, o := range j.readsOf[key] {
		if o.Start.At+j.LoadTimeout <= s.At {
			return true
		}
	}
	return false
}

func (j *court) refusedClosed(r *Read) error {
	if !j.isClosing(r.End) {
		return broken(Closed, "%v: %v, but it was not", r, r.Err)
	}
	if r.Start.Before(j.closing.Start) {
		j.saw[SawReleased]++
	}
	return nil
}
