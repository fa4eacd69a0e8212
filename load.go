package earlybird

import (
	"context"
	"slices"
	"time"
)

// load is one loader call, from the moment its first flight is led until the
// loader returns, which can be long after the flights have landed without it.
//
// It is launched by the reader who leads; the gate lets it board, at once or
// later; run calls the loader and settles what it brings. Whoever claims it
// first ends it: run, the timeout, the gate's refusal, or Close.
type load[V any] struct {
	errand
	cache  *Cache[V]
	asked  context.Context // of the one who leads; for its values
	ctx    callContext     // the loader's
	many   bool            // LoadMany's
	warm   bool            // asked for by Warm
	renews bool            // asks the shared tier, and not the origin
	told   bool            // the shared tier has said what it holds: it had nothing
	slot   bool            // it has one to give back

	// What has come of the call, for run alone.
	since  int64
	took   time.Duration
	broken error // the loader's panic

	// Guarded by the flights of cache.
	flights []*flight[V]
	started bool
	timer   *time.Timer // its patience at the gate, if it had to queue
	due     timeout[V]  // of its call

	// Room for what most loads have one of.
	only    flight[V]
	onlyRef [1]*flight[V]
	onlyKey [1]string
}

// newLoad returns a load of no key yet.
func (c *Cache[V]) newLoad(ctx context.Context, parent *errand) *load[V] {
	l := &load[V]{cache: c, asked: ctx}
	l.errand.cache, l.errand.parent = c, parent
	l.ticket.holder = l
	l.flights, l.keys = l.onlyRef[:0], l.onlyKey[:0]
	return l
}

// newFlight returns a flight for key that l is to carry. held is the entry it
// refreshes, if somebody still has that to serve.
func (l *load[V]) newFlight(key string, held *entry[V]) *flight[V] {
	f := &l.only
	if f.load != nil {
		f = new(flight[V])
	}
	*f = flight[V]{key: key, pass: l.cache.fence.pass(key), held: held, load: l, landed: make(chan struct{})}
	f.apart = held != nil && !l.renews && l.cache.tier != nil
	return f
}

// fetch is the end of a read that found nothing near: it joins the key's
// flight or leads one, and waits for it as long as ctx lasts. A flight that it
// joined may have been a refresh that another cache is about to make, or part of
// a batch: then it has to have one of its own.
func (c *Cache[V]) fetch(ctx context.Context, key string) (r Result[V], err error) {
	for err = errAgain; err == errAgain; {
		r, err = c.fly(ctx, key)
	}
	return r, err
}

func (c *Cache[V]) fly(ctx context.Context, key string) (Result[V], error) {
	if err := ctx.Err(); err != nil {
		return c.end(left, err)
	}
	l := c.newLoad(ctx, errandOf(ctx))
	seat, err := c.flights.join(l.newFlight(key, nil))
	if err != nil {
		return c.refuse(err)
	}
	defer c.flights.leave(seat)
	c.urge(seat)
	if seat.led {
		c.launch(l)
	}
	return c.await(ctx, seat)
}

// await waits for the flight to land, as long as ctx lasts.
func (c *Cache[V]) await(ctx context.Context, s seat[V]) (Result[V], error) {
	select {
	case <-s.landed:
		return c.deliver(ctx, s)
	case <-ctx.Done():
		return c.end(left, ctx.Err())
	case <-c.life.closing:
		return c.end(closed, ErrClosed)
	}
}

// refresh launches a load behind the reader elected to refresh held, unless
// one is under way. If it renews, it only has the shared tier asked.
func (c *Cache[V]) refresh(ctx context.Context, renews bool, elected ...election[V]) {
	l := c.newLoad(ctx, nil)
	l.renews = renews
	l.ticket.priority = background
	l.many = len(elected) > 1
	for _, e := range elected {
		if seat, err := c.flights.join(l.newFlight(e.key, e.held)); err == nil {
			c.flights.leave(seat)
		}
	}
	if len(l.flights) > 0 {
		c.launch(l)
	}
}

// election is a reader's success in drawing lots: to refresh held.
type election[V any] struct {
	key  string
	held *entry[V]
}

// urge lets the gate know that one more reader waits for the flight.
func (c *Cache[V]) urge(s seat[V]) {
	switch {
	case s.asker != nil:
		c.gate.lift(&s.load.ticket, &s.asker.ticket)
	case !s.led:
		c.gate.hurry(&s.load.ticket)
	}
	if s.held != nil && !s.load.renews { // a refresh that comes too late for this reader
		c.episodes.begin(s.key)
	}
}

// launch sends l on its way: to the shared tier, if there is one, and to the gate.
// Before that it looks into memory again, because another flight may have landed
// between its reader's look and its own beginning.
func (c *Cache[V]) launch(l *load[V]) {
	if !c.life.begin() {
		c.fail(l, ErrClosed, 0)
		return
	}
	if c.lookAgain(l) {
		c.life.end()
		return
	}
	if c.tier != nil {
		go l.consult()
		return
	}
	l.approach()
}

// approach takes l to the gate.
func (l *load[V]) approach() {
	c := l.cache
	if l.flights[0].held == nil && !l.warm {
		c.episodes.begin(l.keys...)
	}
	if a := c.gate.enter(&l.ticket); a != queued {
		l.board(a)
		return
	}
	c.flights.arm(l, c.opts.LoadTimeout, l.giveUp)
}

// lookAgain lands those of l's flights for which something has become servable
// other than what they refresh, and reports whether those were all.
func (c *Cache[V]) lookAgain(l *load[V]) bool {
	now := c.clock.now()
	isFound := func(f *flight[V]) bool {
		e, n := c.newer(f, now)
		return e != nil || n != nil
	}
	if !slices.ContainsFunc(l.flights, isFound) {
		return false // nearly always; and no other load was held up for it
	}
	return c.flights.part(l, func(f *flight[V]) (lands bool) {
		switch e, n := c.newer(f, now); {
		case e != nil:
			f.value, f.found = e.value, true
		case n != nil:
			f.err, f.found = n.err, true
		}
		return f.found
	})
}

// newer returns what is servable in place of a load for f, at most one of the two.
func (c *Cache[V]) newer(f *flight[V], now int64) (*entry[V], *negative) {
	if e := c.fresh(f.key, now); e != nil && e != f.held {
		return e, nil
	}
	if f.held != nil {
		return nil, nil
	}
	return nil, c.negative(f.key, now)
}

// board is the gate's call: l may go, or not at all.
func (l *load[V]) board(a admission) {
	l.slot = a == admitted
	if l.slot && l.cache.flights.start(l) {
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

// expire ends the loader's context, and l's flights without the loader, which goes
// on if it ignores its context.
func (l *load[V]) expire() {
	if l.over.Load() {
		return // it is just being settled
	}
	l.ctx.end(context.DeadlineExceeded)
	if !l.cache.flights.claim(l) {
		return
	}
	l.cache.calls.abandon()
	l.cache.failClaimed(l, ErrLoadTimeout, l.cache.opts.LoadTimeout)
	l.cache.gate.report(false)
}

// abort ends l because the cache is closed.
func (l *load[V]) abort() {
	if !l.cache.fail(l, ErrClosed, 0) {
		return
	}
	switch {
	case l.started:
		l.ctx.end(context.Canceled)
	case l.cache.gate.withdraw(&l.ticket):
		l.quit()
	}
}

// fail ends l's flights with err, unless it has ended.
func (c *Cache[V]) fail(l *load[V], err error, cost time.Duration) bool {
	if !c.flights.claim(l) {
		return false
	}
	c.failClaimed(l, err, cost)
	return true
}

// failClaimed is fail for the one who has claimed l.
func (c *Cache[V]) failClaimed(l *load[V], err error, cost time.Duration) {
	for _, f := range l.flights {
		c.settle(f, outcome[V]{err: err, at: c.clock.now(), cost: cost})
	}
	c.flights.land(l)
}

// quit gives back what l holds.
func (l *load[V]) quit() {
	if l.slot {
		l.cache.gate.leave(&l.ticket)
	}
	l.cache.life.end()
}
