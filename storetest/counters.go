package storetest

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/earlybird-cache/earlybird/store"
)

// method is one of the methods that are counted.
type method int

const (
	gets method = iota
	acquires
	publishes
	sets
	fails
	invalidations
	waits
	methods
)

// counters are what a Client counts.
type counters struct {
	done, failed, timedOut        [methods]atomic.Uint64
	found, missing, granted, busy atomic.Uint64
	newer, lost                   atomic.Uint64
	lastError                     atomic.Pointer[string]
}

func (c *counters) call(m method, err error) {
	switch {
	case err == nil:
		c.done[m].Add(1)
	case errors.Is(err, store.ErrUnavailable):
		c.failed[m].Add(1)
		if errors.Is(err, errNoAnswer) {
			c.timedOut[m].Add(1)
		}
		text := err.Error()
		c.lastError.Store(&text)
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), errors.Is(err, store.ErrClosed):
	}
}

func (c *counters) read(k store.Kind) {
	if k == store.Missing {
		c.missing.Add(1)
		return
	}
	c.found.Add(1)
}

func (c *counters) claimed(o store.Outcome) {
	switch o {
	case store.Granted:
		c.granted.Add(1)
	case store.Busy:
		c.busy.Add(1)
	case store.Found:
		c.newer.Add(1)
	}
}

func (c *counters) stats() store.Stats {
	of := func(m method) store.Calls {
		return store.Calls{Done: c.done[m].Load(), Failed: c.failed[m].Load(), TimedOut: c.timedOut[m].Load()}
	}
	s := store.Stats{
		Gets: of(gets), Acquires: of(acquires), Publishes: of(publishes), Sets: of(sets),
		Fails: of(fails), Invalidations: of(invalidations), Waits: of(waits),
		Found: c.found.Load(), Missing: c.missing.Load(),
		Granted: c.granted.Load(), Busy: c.busy.Load(), Newer: c.newer.Load(), Lost: c.lost.Load(),
	}
	if text := c.lastError.Load(); text != nil {
		s.LastError = *text
	}
	return s
}
