package earlybird

import (
	"context"
	"errors"
	"runtime/debug"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"
)

// outcome is what a loader call brought for one key.
type outcome[V any] struct {
	value    V
	err      error
	at       int64         // when the call ended
	cost     time.Duration // of the call alone; 0 if it teaches nothing
	terms    terms
	examined bool // the user's code has said all it has to say
}

// terms are how a value is to be kept.
type terms struct {
	life   time.Duration // before jitter; negative if it is not to be stored
	weight uint32        // 1 unless Options.Weigh says otherwise
}

// run calls the loader, on a goroutine of its own, and brings what it returns
// to the flights if those still wait for it.
func (l *load[V]) run() {
	grow(0)
	c := l.cache
	defer l.quit()
	defer l.ctx.end(context.Canceled)
	c.calls.begin(l.keys)
	c.episodes.load(l.keys)
	l.since = c.clock.now()
	defer l.conclude() // deferred, because a loader can end the goroutine
	guarded(&l.broken, l.ask)
	l.took = time.Duration(c.clock.now() - l.since)
	for _, f := range l.flights {
		guarded(&f.brought.err, func() { l.examine(f) })
	}
}

// grow gives the goroutine a stack that will do for a load, which the one it
// begins with does not: that would be moved further down, with every frame that
// lies on it by then.
//
//go:noinline
func grow(i int) byte {
	var room [3 << 10]byte
	return room[i]
}

// guarded calls f and makes its panic an error. If f ends the goroutine, err is
// set all the same.
func guarded(err *error, f func()) {
	returned := false
	defer func() {
		if !returned {
			*err = &PanicError{Value: recover(), Stack: debug.Stack()}
		}
	}()
	f()
	returned = true
}

// ask calls the loader that is right for l.
func (l *load[V]) ask() {
	if l.many {
		l.askMany()
		return
	}
	f := l.flights[0]
	opts := &l.cache.opts
	if opts.Revalidate != nil {
		if old := l.cache.alive(f.key); old != nil {
			f.brought.value, f.brought.err = opts.Revalidate(&l.ctx, f.key, l.cache.out(old.value))
			if errors.Is(f.brought.err, ErrNotModified) {
				f.brought, f.unchanged = outcome[V]{value: old.value}, true
			}
			return
		}
	}
	f.brought.value, f.brought.err = l.cache.loader(&l.ctx, f.key)
}

func (l *load[V]) askMany() {
	values, err := l.cache.opts.LoadMany(&l.ctx, slices.Clone(l.keys))
	var each *ManyError
	if errors.As(err, &each) && each.nested {
		each = nil // what it had to ask for failed, and with that all of it
	}
	for _, f := range l.flights {
		v, ok := values[f.key]
		switch {
		case ok:
			f.brought.value = v
		case each != nil && each.Errors[f.key] != nil:
			f.brought.err = each.Errors[f.key]
		case each == nil && err != nil:
			f.brought.err = err
		default:
			f.brought.err = ErrNotFound
		}
	}
}

// examine lets the rest of the user's code look at what f was brought.
func (l *load[V]) examine(f *flight[V]) {
	o, opts := &f.brought, &l.cache.opts
	if o.err == nil && opts.Validate != nil {
		if err := opts.Validate(f.key, o.value); err != nil {
			o.err = &InvalidError{Err: err}
		}
	}
	if o.err == nil {
		o.value = l.cache.out(o.value)
		o.terms = l.cache.terms(f.key, o.value)
	}
	o.examined = true
}

// conclude settles l with what its flights were brought, unless they have
// landed without it.
func (l *load[V]) conclude() {
	c := l.cache
	if l.took == 0 {
		l.took = time.Duration(c.clock.now() - l.since)
	}
	c.calls.end(l.keys, l.took)
	if !l.over.CompareAndSwap(false, true) { // without claim's lock: nobody can be starting l
		return
	}
	answered := l.settle()
	c.gate.report(answered)
	c.flights.land(l)
}

// settle settles l's flights, and reports whether the origin has answered for one
// of them.
func (l *load[V]) settle() (answered bool) {
	settle, wait := l.cache.settle, func() error { return nil }
	if l.cache.tier != nil && len(l.flights) > 1 {
		settle, wait = l.cache.settleTogether()
	}
	for _, f := range l.flights {
		o := l.outcome(f)
		answered = answered || o.err == nil || absent(o.err)
		settle(f, o)
	}
	_ = wait()
	return answered
}

// settleTogether returns a settle for flights that all ask the shared tier, and
// what waits for them.
func (c *Cache[V]) settleTogether() (settle func(*flight[V], outcome[V]), wait func() error) {
	var g errgroup.Group
	g.SetLimit(atOnce)
	return func(f *flight[V], o outcome[V]) {
		g.Go(func() error { c.settle(f, o); return nil })
	}, g.Wait
}

// outcome returns what f was brought in the end.
func (l *load[V]) outcome(f *flight[V]) outcome[V] {
	o := f.brought
	switch {
	case l.broken != nil:
		o = outcome[V]{err: l.broken}
	case !o.examined && o.err == nil: // the goroutine ended at another key's
		o = outcome[V]{err: &PanicError{}}
	case o.err != nil && l.ctx.Err() != nil && errors.Is(o.err, l.ctx.Err()):
		o.err = ErrLoadTimeout // the load's own deadline: a caller must not take it for his
	}
	o.at = satAdd(l.since, int64(l.took))
	if !f.unchanged {
		o.cost = l.took
	}
	return o
}

// terms asks the user how long v is to live and what it weighs.
func (c *Cache[V]) terms(key string, v V) terms {
	t := terms{life: c.opts.TTL, weight: c.weigh(key, v)}
	if c.opts.TTLFor != nil {
		if life := c.opts.TTLFor(key, v); life != 0 {
			t.life = min(life, c.opts.TTL)
		}
	}
	return t
}

func (c *Cache[V]) weigh(key string, v V) uint32 {
	if c.opts.Weigh == nil {
		return 1
	}
	return uint32(min(max(c.opts.Weigh(key, v), 1), 1<<30))
}

// out returns what may be handed over of v: v itself, or a copy.
func (c *Cache[V]) out(v V) V {
	if c.clone == nil {
		return v
	}
	return c.clone(v)
}
