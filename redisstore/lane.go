package redisstore

import (
	"context"
	"math/rand/v2"
	"sync/atomic"
	"time"
)

// A lane is a range of slots with a circuit breaker of its own, so that one dead
// server of a Cluster is left alone and the others are not. Outside a Cluster
// there is one lane in use.
//
// It opens after some failures in a row; nobody asks then. Not its readers but
// a prober, see probe.go, finds out when the server is back, and then the lane
// lets more and more calls through until it is closed again.
type lane struct {
	state    atomic.Int32
	failures atomic.Int32  // in a row
	doubt    atomic.Bool   // the latest call failed, or its connection may be gone, or there was none yet
	slot     atomic.Uint32 // of the latest failure
	since    atomic.Int64  // when it began to ramp up
	reads    rota
	writes   rota
}

const (
	closed int32 = iota
	open
	ramping
)

const (
	lanes       = 64
	mostInARow  = 5 // failures
	rampingTime = time.Second
	firstShare  = 0.1 // of the calls
)

// admits reports whether a call may be made at now. What is urgent is not held
// back while the lane ramps up.
func (l *lane) admits(now int64, urgent bool) bool {
	switch l.state.Load() {
	case closed:
		return true
	case open:
		return false
	}
	if urgent {
		return true
	}
	done := float64(now-l.since.Load()) / float64(rampingTime)
	if done >= 1 {
		l.state.CompareAndSwap(ramping, closed)
		return true
	}
	return rand.Float64() < firstShare+(1-firstShare)*done
}

// fail counts a failure and reports whether it is the one that opens the lane.
func (l *lane) fail(slot uint16) (opens bool) {
	l.doubt.Store(true)
	l.slot.Store(uint32(slot))
	if l.failures.Add(1) < mostInARow {
		return false
	}
	return l.state.Swap(open) != open
}

// succeed ends a row of failures. It writes only if there is something to end:
// all who are on the lane read these words.
func (l *lane) succeed() {
	if l.failures.Load() != 0 {
		l.failures.Store(0)
	}
	if l.doubt.Load() {
		l.doubt.Store(false)
	}
}

// resume lets calls through again, few at first.
func (l *lane) resume(now int64) {
	l.failures.Store(0)
	l.since.Store(now)
	l.state.CompareAndSwap(open, ramping)
}

// rota hands out contexts with a deadline. A context with a timer for each call
// would cost more than the rest of a hit; so calls that begin within a moment of
// each other share one.
type rota struct {
	shift atomic.Pointer[shift]
}

type shift struct {
	context.Context
	until int64 // the last moment at which a call may take it
}

// context returns a context that ends between budget and 9/8 of it after now.
func (r *rota) context(now int64, budget time.Duration) context.Context {
	s := r.shift.Load()
	if s != nil && now <= s.until {
		return s.Context
	}
	next := &shift{until: now + int64(budget/8)}
	ctx, cancel := context.WithTimeout(context.Background(), budget+budget/8)
	next.Context = ctx
	if !r.shift.CompareAndSwap(s, next) {
		cancel()
		return r.shift.Load().Context
	}
	context.AfterFunc(ctx, cancel)
	return ctx
}
