package model

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/earlybird-cache/earlybird"
)

// origin holds the rows and plays the loader.
type origin struct {
	history *History
	read    func(ctx context.Context, parent int, key string) error // a nested Get

	mu      sync.Mutex
	version int
	rows    map[string]int // version by key; a missing row is absent
	plans   map[string][]Plan
	next    map[string]int
	gates   map[string][]chan struct{}
	open    bool // no gate holds any more
}

func newOrigin(h *History, s Script) *origin {
	o := &origin{
		history: h,
		rows:    make(map[string]int),
		plans:   make(map[string][]Plan),
		next:    make(map[string]int),
		gates:   make(map[string][]chan struct{}),
	}
	for _, p := range s.Plans {
		o.plans[p.Key] = append(o.plans[p.Key], p)
	}
	return o
}

// Fault is what the origin fails with. It names its load, so that the judge
// knows where a reader's error came from.
type Fault struct {
	Load  int
	Cause error
}

func (f *Fault) Error() string { return fmt.Sprintf("load %d: %v", f.Load, f.Cause) }
func (f *Fault) Unwrap() error { return f.Cause }

var errDown = errors.New("the origin is down")

// change makes a new version of the row, and tells which.
func (o *origin) change(client int, key string) int {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.version++
	o.rows[key] = o.version
	o.history.row(client, key, o.version)
	return o.version
}

func (o *origin) delete(client int, key string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.rows, key)
	o.history.row(client, key, 0)
}

// release lets the loads of key go that now wait at their gate.
func (o *origin) release(key string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, g := range o.gates[key] {
		close(g)
	}
	delete(o.gates, key)
}

// releaseAll lets all loads go, and those to come.
func (o *origin) releaseAll() {
	o.mu.Lock()
	o.open = true
	var keys []string
	for k := range o.gates {
		keys = append(keys, k)
	}
	o.mu.Unlock()
	for _, k := range keys {
		o.release(k)
	}
}

// plan returns the behaviour of the coming load of key.
func (o *origin) plan(key string) Plan {
	o.mu.Lock()
	defer o.mu.Unlock()
	plans := o.plans[key]
	if len(plans) == 0 {
		return Plan{Key: key, End: OK}
	}
	p := plans[o.next[key]%len(plans)]
	o.next[key]++
	return p
}

func (o *origin) row(key string) (version int, present bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	version, present = o.rows[key]
	return version, present
}

// load is the cache's loader.
func (o *origin) load(ctx context.Context, key string) (Value, error) {
	l := &Load{Key: key, Leader: readerOf(ctx)}
	if d, ok := ctx.Deadline(); ok {
		l.Deadline = d.Sub(o.history.began)
	}
	o.history.beginLoad(l)
	outcome, value, fault := Exited, Value{}, error(nil)
	defer func() { // also when it panics or exits
		o.history.end(&l.Span, func() {
			l.Outcome, l.Value, l.Fault = outcome, value, fault
			l.Cut = ctx.Err() != nil && time.Since(o.history.began) < l.Deadline
		})
	}()

	p := o.plan(key)
	if p.Nest != "" {
		if err := o.read(ctx, l.ID, p.Nest); err != nil {
			outcome, fault = Lacked, &Fault{l.ID, err}
			return Value{}, fault
		}
	}
	version, present := o.row(key)
	if err := o.work(ctx, p); err != nil {
		outcome, fault = Failed, &Fault{l.ID, err}
		return Value{}, fault
	}
	if p.Late {
		version, present = o.row(key)
	}
	if !present {
		outcome, fault = Absent, &Fault{l.ID, earlybird.ErrNotFound}
		if p.Bare {
			fault = earlybird.ErrNotFound
		}
		return Value{}, fault
	}

	switch p.End {
	case Fails:
		outcome, fault = Failed, &Fault{l.ID, errDown}
	case Canceled:
		outcome, fault = Failed, &Fault{l.ID, context.Canceled}
	case Expired:
		outcome, fault = Failed, &Fault{l.ID, context.DeadlineExceeded}
	case Panics:
		outcome, fault = Panicked, &Fault{l.ID, errDown}
		panic(fault)
	case Goexits:
		runtime.Goexit()
	default:
		outcome, value = Brought, Value{Key: key, Version: version, By: l.ID}
	}
	return value, fault
}

// work takes the time that p says. It returns an error only if p heeds ctx and
// ctx ends.
func (o *origin) work(ctx context.Context, p Plan) error {
	var over <-chan struct{}
	if p.Heed {
		over = ctx.Done()
	}
	timer := time.NewTimer(p.Take)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-over:
		return ctx.Err()
	}
	if !p.Gate {
		return nil
	}
	select {
	case <-o.gate(p.Key):
		return nil
	case <-over:
		return ctx.Err()
	}
}

// gate returns a channel that the next release of key closes.
func (o *origin) gate(key string) <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	g := make(chan struct{})
	if o.open {
		close(g)
	} else {
		o.gates[key] = append(o.gates[key], g)
	}
	return g
}
