package earlybird

import (
	"context"
	"errors"
	"runtime/debug"
	"time"
)

// load is one loader call, from the moment its flight is led until the loader
// returns, which can be long after the flight has landed without it.
type load[V any] struct {
	errand
	cache  *Cache[V]
	flight flight[V]
	asked  context.Context // of the one who leads; for its values
	ctx    context.Context // the loader's

	// Guarded by the flights of cache.
	started bool
	cancel  context.CancelFunc // of ctx
	timer   *time.Timer        // its patience at the gate, then LoadTimeout

	slot bool // it has one to give back
}

// fetch is the end of a read that found nothing near: it joins the key's
// flight or leads one, and waits for it as long as ctx lasts.
func (c *Cache[V]) fetch(ctx context.Context, key string) (Result[V], error) {
	if err := ctx.Err(); err != nil {
		return c.end(left, err)
	}
	parent := errandOf(ctx)
	if parent.isFor(c, key) {
		return c.end(failed, ErrRecursiveLoad)
	}
	l := c.newLoad(ctx, key, parent)
	seat, err := c.flights.join(&l.flight, parent.within(c))
	if err != nil {
		return c.end(failed, err)
	}
	defer c.flights.leave(seat)
	c.urge(seat)

	select {
	case <-seat.landed:
		return c.deliver(ctx, seat)
	case <-ctx.Done():
		return c.end(left, ctx.Err())
	case <-c.life.closing:
		return c.end(closed, ErrClosed)
	}
}

// refresh launches a load behind the reader elected to refresh held, unless
// one is under way.
func (c *Cache[V]) refresh(ctx context.Context, key string, held *entry[V]) {
	l := c.newLoad(ctx, key, nil)
	l.flight.held = held
	l.ticket.priority = background
	seat, _ := c.flights.join(&l.flight, nil) // refuses only loaders
	c.flights.leave(seat)
	if seat.led {
		c.launch(l)
	}
}

func (c *Cache[V]) newLoad(ctx context.Context, key string, parent *errand) *load[V] {
	l := &load[V]{cache: c, asked: ctx}
	l.errand.cache, l.errand.key, l.errand.parent = c, key, parent
	l.ticket.holder = l
	l.flight = flight[V]{key: key, pass: c.fence.pass(key), load: l, landed: make(chan struct{})}
	return l
}

// urge launches the load of the flight if the reader leads it, and lets the
// gate know if somebody new waits for it.
func (c *Cache[V]) urge(s seat[V]) {
	switch {
	case s.asker != nil:
		c.gate.lift(&s.load.ticket)
	case !s.led:
		c.gate.hurry(&s.load.ticket)
	}
	if s.led {
		c.episodes.begin(s.key)
		c.launch(s.load)
	}
}

// launch takes l to the gate. Before that it looks into memory again, because
// another flight may have landed between its reader's look and its own
// beginning.
func (c *Cache[V]) launch(l *load[V]) {
	if !c.life.begin() {
		c.fail(l, ErrClosed, 0)
		return
	}
	if c.lookAgain(&l.flight) {
		if c.flights.claim(l) {
			c.flights.land(&l.flight)
		}
		c.life.end()
		return
	}
	if a := c.gate.enter(&l.ticket); a != queued {
		l.board(a)
		return
	}
	c.flights.arm(l, c.opts.LoadTimeout, l.giveUp)
}

// lookAgain reports whether something other than what f refreshes has become
// servable, and lets f carry it.
func (c *Cache[V]) lookAgain(f *flight[V]) bool {
	now := c.clock.now()
	if e := c.fresh(f.key, now); e != nil && e != f.held {
		f.value, f.found = e.value, true
	} else if f.held == nil && c.knownAbsent(f.key, now) {
		f.err, f.found = ErrNotFound, true
	}
	return f.found
}

// board is the gate's call: l may go, or not at all.
func (l *load[V]) board(a admission) {
	l.slot = a == admitted
	if a != refused && l.cache.flights.start(l) {
		go l.run()
		return
	}
	l.cache.fail(l, ErrOverloaded, 0)
	l.quit()
}

// giveUp ends l's wait at the gate, unless it is just being called.
func (l *load[V]) giveUp() {
	if l.cache.gate.withdraw(&l.ticket) {
		l.cache.fail(l, ErrOverloaded, 0)
		l.quit()
	}
}

// expire ends l's flight without its loader, which goes on if it ignores its
// context.
func (l *load[V]) expire() {
	if l.cache.fail(l, ErrLoadTimeout, l.cache.opts.LoadTimeout) {
		l.cancel()
		l.cache.calls.abandon()
	}
}

// abort ends l because the cache is closed.
func (l *load[V]) abort() {
	if !l.cache.fail(l, ErrClosed, 0) {
		return
	}
	switch {
	case l.started:
		l.cancel()
	case l.cache.gate.withdraw(&l.ticket):
		l.quit()
	}
}

// fail ends l's flight with err, unless it has ended.
func (c *Cache[V]) fail(l *load[V], err error, cost time.Duration) bool {
	if !c.flights.claim(l) {
		return false
	}
	c.settle(&l.flight, outcome[V]{err: err, cost: cost})
	return true
}

// quit gives back what l holds.
func (l *load[V]) quit() {
	if l.slot {
		l.cache.gate.leave(&l.ticket)
	}
	l.cache.life.end()
}

// outcome is what came of a loader call.
type outcome[V any] struct {
	value V
	err   error
	cost  time.Duration // of the call alone
}

// run calls the loader, on a goroutine of its own, and brings what it returns
// to the flight if that still waits for it.
func (l *load[V]) run() {
	c := l.cache
	defer l.quit()
	defer l.cancel()
	c.calls.begin(l.key)
	c.episodes.load(l.key)
	start := c.clock.now()
	var o outcome[V]
	defer func() { // deferred, because a loader can end the goroutine
		o.cost = time.Duration(c.clock.now() - start)
		c.calls.end(l.key, o.cost)
		if c.flights.claim(l) {
			l.timer.Stop()
			c.settle(&l.flight, o)
		}
	}()
	l.call(&o)
}

func (l *load[V]) call(o *outcome[V]) {
	returned := false
	defer func() {
		if !returned {
			o.err = &PanicError{Value: recover(), Stack: debug.Stack()}
		}
	}()
	o.value, o.err = l.cache.loader(l.ctx, l.key)
	returned = true
	if o.err != nil && l.ctx.Err() != nil && errors.Is(o.err, l.ctx.Err()) {
		o.err = ErrLoadTimeout // the load's own deadline: a caller must not take it for his
	}
}
