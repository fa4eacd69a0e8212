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
	profile Profile
	history *History
	read    func(ctx context.Context, call int, keys []string) error // a nested Get or GetMany

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
		profile: s.Profile,
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

// answer is how a load ends.
type answer struct {
	outcome Outcome
	value   Value
	fault   error
}

// branch is the origin as one of the caches knows it.
type branch struct {
	*origin
	cache int
}

// load is the cache's loader.
func (o branch) load(ctx context.Context, key string) (Value, error) {
	return o.loadAs(ctx, o.newLoad(ctx, key))
}

// revalidate is the cache's Options.Revalidate.
func (o branch) revalidate(ctx context.Context, key string, old Value) (Value, error) {
	l := o.newLoad(ctx, key)
	l.Old, l.Shared = old.claim()
	return o.loadAs(ctx, l)
}

func (o branch) newLoad(ctx context.Context, key string) *Load {
	l := &Load{Key: key, Cache: o.cache, Leader: leaderOf(ctx, key)}
	if d, ok := ctx.Deadline(); ok {
		l.Deadline = d.Sub(o.history.began)
	}
	return l
}

func (o *origin) loadAs(ctx context.Context, l *Load) (Value, error) {
	o.history.beginLoad(l)
	a := o.answer(ctx, l, o.plan(l.Key))
	o.history.end(&l.Span, func() {
		l.Outcome, l.Value, l.Fault = a.outcome, a.value, a.fault
		l.Cut = ctx.Err() != nil && time.Since(o.history.began) < l.Deadline
	})
	switch a.outcome {
	case Panicked:
		panic(a.fault)
	case Exited:
		runtime.Goexit()
	case Unmodified:
		return Value{}, earlybird.ErrNotModified
	}
	return o.profile.boxed(a.value), a.fault
}

// answer does what p says, and returns what load is to do in the end.
func (o *origin) answer(ctx context.Context, l *Load, p Plan) answer {
	if err := o.depend(ctx, l, p); err != nil {
		return answer{outcome: Lacked, fault: &Fault{l.ID, err}}
	}
	version, present := o.row(p.Key)
	if err := o.work(ctx, p); err != nil {
		return answer{outcome: Failed, fault: &Fault{l.ID, err}}
	}
	if p.Late {
		version, present = o.row(p.Key)
	}
	return o.conclude(l, p, version, present)
}

// depend reads what l needs of other keys.
func (o *origin) depend(ctx context.Context, l *Load, p Plan) error {
	if p.Nest == nil {
		return nil
	}
	if err := o.read(ctx, l.Call, p.Nest); !p.Brave {
		return err
	}
	return nil
}

// conclude is how l ends if it finds the row so.
func (o *origin) conclude(l *Load, p Plan, version int, present bool) answer {
	load := l.ID
	switch {
	case !present && p.Bare:
		return answer{outcome: Absent, fault: earlybird.ErrNotFound}
	case !present:
		return answer{outcome: Absent, fault: &Fault{load, earlybird.ErrNotFound}}
	}
	switch p.End {
	case Fails:
		return answer{outcome: Failed, fault: &Fault{load, errDown}}
	case Canceled:
		return answer{outcome: Failed, fault: &Fault{load, context.Canceled}}
	case Expired:
		return answer{outcome: Failed, fault: &Fault{load, context.DeadlineExceeded}}
	case Panics:
		return answer{outcome: Panicked, fault: &Fault{load, errDown}}
	case Goexits:
		return answer{outcome: Exited}
	}
	if l.Old.Version == version {
		return answer{outcome: Unmodified, value: l.Old}
	}
	return answer{outcome: o.profile.judged(version), value: Value{Key: l.Key, Version: version, By: load}}
}
