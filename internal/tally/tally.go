// Package tally counts what stores do, in the terms of [store.Stats].
package tally

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/earlybird-cache/earlybird/store"
)

// Method is one of the methods that are counted.
type Method int

const (
	Get Method = iota
	Acquire
	Publish
	Set
	Fail
	Invalidate
	Wait
	Copy
	Spread
	methods
)

func (m Method) String() string {
	return [...]string{"Get", "Acquire", "Publish", "Set", "Fail", "Invalidate", "Wait", "GetCopy", "Spread"}[m]
}

var (
	// ErrNoAnswer is within the error of a call that took all of its budget.
	ErrNoAnswer = fmt.Errorf("%w: no answer within the budget", store.ErrUnavailable)

	// ErrSkipped is within the error of a call that was not made.
	ErrSkipped = fmt.Errorf("%w: left alone for now", store.ErrUnavailable)
)

// Tally is a set of counters. Its zero value is ready; it is safe for concurrent
// use.
type Tally struct {
	calls [methods]struct{ done, failed, skipped, timedOut atomic.Uint64 }
	kinds [3]atomic.Uint64 // by store.Kind
	ends  [3]atomic.Uint64 // by store.Outcome

	CopiesFound, Damaged, Foreign, Lost, Opened, RefusedValues, RefusedReplies atomic.Uint64

	last atomic.Pointer[string]
}

// Call counts a call by its end. What is neither done nor the tier's fault is
// not counted.
func (t *Tally) Call(m Method, err error) {
	c := &t.calls[m]
	switch {
	case err == nil:
		c.done.Add(1)
	case errors.Is(err, ErrSkipped):
		c.skipped.Add(1)
	case errors.Is(err, store.ErrUnavailable):
		c.failed.Add(1)
		if errors.Is(err, ErrNoAnswer) {
			c.timedOut.Add(1)
		}
		text := m.String() + ": " + err.Error()
		t.last.Store(&text)
	}
}

// Read counts a key that was looked for.
func (t *Tally) Read(k store.Kind) { t.kinds[k].Add(1) }

// Claimed counts an Acquire by its outcome.
func (t *Tally) Claimed(o store.Outcome) { t.ends[o].Add(1) }

// Stats returns the figures.
func (t *Tally) Stats() store.Stats {
	s := store.Stats{
		Gets: t.of(Get), Acquires: t.of(Acquire), Publishes: t.of(Publish), Sets: t.of(Set),
		Fails: t.of(Fail), Invalidations: t.of(Invalidate), Waits: t.of(Wait),
		Copies: t.of(Copy), Spreads: t.of(Spread), CopiesFound: t.CopiesFound.Load(),
		Found:   t.kinds[store.Value].Load() + t.kinds[store.Absent].Load(),
		Missing: t.kinds[store.Missing].Load(),
		Granted: t.ends[store.Granted].Load(),
		Busy:    t.ends[store.Busy].Load(),
		Newer:   t.ends[store.Found].Load(),
		Damaged: t.Damaged.Load(), Foreign: t.Foreign.Load(), Lost: t.Lost.Load(), Opened: t.Opened.Load(),
		RefusedValues: t.RefusedValues.Load(), RefusedReplies: t.RefusedReplies.Load(),
	}
	if text := t.last.Load(); text != nil {
		s.LastError = *text
	}
	return s
}

func (t *Tally) of(m Method) store.Calls {
	c := &t.calls[m]
	return store.Calls{Done: c.done.Load(), Failed: c.failed.Load(), Skipped: c.skipped.Load(), TimedOut: c.timedOut.Load()}
}
