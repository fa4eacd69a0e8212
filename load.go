package earlybird

import (
	"context"
	"errors"
	"runtime/debug"
	"time"
)

// flight is one load, and what the loader's context carries: whose it is.
type flight struct {
	cache  any // the *Cache[V]
	key    string
	id     string
	parent *flight // the flight whose loader asked for this one
}

type flightKey struct{}

// flightOf returns the flight whose loader was given ctx, or nil.
func flightOf(ctx context.Context) *flight {
	f, _ := ctx.Value(flightKey{}).(*flight)
	return f
}

// within returns the nearest flight of cache among f and its parents, or nil.
func (f *flight) within(cache any) *flight {
	for ; f != nil; f = f.parent {
		if f.cache == cache {
			return f
		}
	}
	return nil
}

// loads reports whether f or one of its parents loads key for cache.
func (f *flight) loads(cache any, key string) bool {
	for f = f.within(cache); f != nil; f = f.parent.within(cache) {
		if f.key == key {
			return true
		}
	}
	return false
}

// outcome is what a flight brings to its readers.
type outcome[V any] struct {
	value V
	err   error
	found bool          // in near memory, by the second look
	cost  time.Duration // of the loader call
}

// fetch is the end of a read that found nothing near: it joins the key's
// flight or leads one, and waits for it as long as ctx lasts.
func (c *Cache[V]) fetch(ctx context.Context, key string) (Result[V], error) {
	if err := ctx.Err(); err != nil {
		return c.end(left, err)
	}
	parent := flightOf(ctx)
	if parent.loads(c, key) {
		return c.end(failed, ErrRecursiveLoad)
	}
	pass := c.fence.pass(key)
	f := &flight{cache: c, key: key, id: pass.flightID(key), parent: parent}
	seat, first, err := c.flights.join(f.id, parent.within(c))
	if err != nil {
		return c.end(failed, err)
	}
	defer c.flights.leave(seat)
	if first {
		c.episodes.begin(key)
	}

	led := false
	landed := c.flights.group.DoChan(f.id, func() (any, error) {
		led = true
		return c.fly(ctx, f, pass, nil), nil
	})
	select {
	case r := <-landed:
		return c.deliver(ctx, r.Val.(*outcome[V]), led)
	case <-ctx.Done():
		return c.end(left, ctx.Err())
	case <-c.life.closing:
		return c.end(closed, ErrClosed)
	}
}

// refresh starts a flight behind the reader elected to refresh held, unless
// one is under way.
func (c *Cache[V]) refresh(ctx context.Context, key string, held *entry[V]) {
	pass := c.fence.pass(key)
	f := &flight{cache: c, key: key, id: pass.flightID(key)}
	c.flights.group.DoChan(f.id, func() (any, error) {
		return c.fly(ctx, f, pass, held), nil
	})
}

// fly is one flight. It looks near again, because another flight may have
// landed between its first reader's look and its own beginning; then it passes
// the gate, loads, and publishes through the fence. held is the entry that it
// refreshes, if somebody still has that to serve.
func (c *Cache[V]) fly(ctx context.Context, f *flight, pass pass, held *entry[V]) *outcome[V] {
	if !c.life.begin() {
		return &outcome[V]{err: ErrClosed}
	}
	defer c.life.end()
	party := c.flights.board(f.id, priorityOf(held))
	defer c.flights.land(party)

	if o := c.lookAgain(f.key, held); o != nil {
		return o
	}
	o := c.load(ctx, f, party.ticket)
	c.settle(f.key, pass, o, held != nil)
	return o
}

func priorityOf[V any](held *entry[V]) priority {
	if held == nil {
		return urgent
	}
	return background
}

// lookAgain returns what has become servable near since the flight was asked
// for, other than held.
func (c *Cache[V]) lookAgain(key string, held *entry[V]) *outcome[V] {
	now := c.clock.now()
	if e := c.fresh(key, now); e != nil && e != held {
		return &outcome[V]{value: e.value, found: true}
	}
	if held == nil && c.knownAbsent(key, now) {
		return &outcome[V]{err: ErrNotFound, found: true}
	}
	return nil
}

// load calls the loader once t is through the gate, and stops waiting for it
// after LoadTimeout.
func (c *Cache[V]) load(ctx context.Context, f *flight, t *ticket) *outcome[V] {
	a := c.gate.enter(t, c.opts.LoadTimeout, c.life.closing)
	if a == refused {
		return &outcome[V]{err: ErrOverloaded}
	}
	free := func() {
		if a == admitted {
			c.gate.leave(t)
		}
	}
	if !c.life.begin() {
		free()
		return &outcome[V]{err: ErrClosed}
	}

	ctx = context.WithValue(context.WithoutCancel(ctx), flightKey{}, f)
	ctx, cancel := context.WithTimeout(ctx, c.opts.LoadTimeout)
	defer cancel()
	done := make(chan *outcome[V], 1)
	c.calls.begin(f.key)
	c.episodes.load(f.key)
	go func() {
		defer c.life.end()
		defer free()
		c.call(ctx, f.key, done)
	}()

	select {
	case o := <-done:
		return o
	case <-c.life.closing:
		return &outcome[V]{err: ErrClosed}
	case <-ctx.Done():
		c.calls.abandon()
		return &outcome[V]{err: ErrLoadTimeout, cost: c.opts.LoadTimeout}
	}
}

// call calls the loader, whose goroutine this is, and sends what came of it.
func (c *Cache[V]) call(ctx context.Context, key string, done chan<- *outcome[V]) {
	o := &outcome[V]{}
	start := c.clock.now()
	returned := false
	defer func() {
		o.cost = time.Duration(c.clock.now() - start)
		c.calls.end(key, o.cost)
		if !returned {
			o.err = &PanicError{Value: recover(), Stack: debug.Stack()}
		}
		done <- o
	}()
	o.value, o.err = c.loader(ctx, key)
	returned = true
	if o.err != nil && ctx.Err() != nil && errors.Is(o.err, ctx.Err()) {
		o.err = ErrLoadTimeout // the flight's own context: the caller must not take it for his
	}
}
