package earlybird

import (
	"errors"
	"time"

	"github.com/earlybird-cache/earlybird/memstore"
	"github.com/earlybird-cache/earlybird/xfetch"
)

// settle ends a flight with the outcome of its load. A value and an absence are
// published if the fence lets them pass; an error is not kept, and an entry
// that it should have refreshed is left alone for a while.
func (c *Cache[V]) settle(f *flight[V], o outcome[V]) {
	f.value, f.err = o.value, o.err
	switch {
	case o.err == nil:
		c.opts.Guard.ReportFound(c.guardPart(f.key))
		c.settled(f, c.publishValue(f.key, f.pass, o.value, o.cost))
	case absent(o.err):
		c.opts.Guard.ReportAbsent(c.guardPart(f.key))
		c.settled(f, c.publishAbsence(f.key, f.pass))
	default:
		if errors.Is(o.err, errDependencyNotFound) {
			f.err = opaque{o.err}
		}
		c.unsettled(f, o)
	}
	if o.cost > 0 {
		c.mean.feed(o.cost)
	}
	if f.held != nil {
		c.refreshes.Add(1)
	}
	c.flights.land(f)
}

// settled ends the key's miss episode if something was published. If it was
// not, an entry that is still there may be refreshed by the next who draws
// well: it was another key of its stripe that raised the fence.
func (c *Cache[V]) settled(f *flight[V], published bool) {
	if published {
		c.episodes.end(f.key)
		return
	}
	c.fenced.Add(1)
	if e, ok := c.values.Get(f.key); ok {
		e.spare()
	}
}

// unsettled is what a failure leaves behind.
func (c *Cache[V]) unsettled(f *flight[V], o outcome[V]) {
	if f.held != nil {
		c.refreshFailures.Add(1)
	}
	e, ok := c.values.Get(f.key)
	if !ok {
		return
	}
	if o.err == ErrLoadTimeout {
		e.learn(o.cost)
	}
	e.backOff(c.clock.now(), c.opts.Rand())
}

// publishValue stores a loaded value unless a change came after its load
// began. The fence is asked inside the key's critical section: asked before
// it, a change could still come between the answer and the store.
func (c *Cache[V]) publishValue(key string, pass pass, v V, cost time.Duration) (published bool) {
	e := c.newEntry(v, pass.epoch, cost)
	c.dropAbsence(key, pass.holds)
	c.values.Update(key, func(old *entry[V], ok bool) (*entry[V], memstore.Op) {
		if !pass.holds() {
			return nil, memstore.Keep
		}
		published = true
		c.succeed(e, old)
		return e, memstore.Put
	})
	return published
}

// publishAbsence stores an absence likewise. The value goes first, so that
// nobody finds a value that is known to be gone once the absence is there.
func (c *Cache[V]) publishAbsence(key string, pass pass) (published bool) {
	published = pass.holds()
	c.dropValue(key, pass.holds)
	if c.absences == nil {
		return published
	}
	life := xfetch.Life(c.opts.NegativeTTL, c.jitter(), c.opts.Rand())
	a := &absence{epoch: pass.epoch, expiry: satAdd(c.clock.now(), int64(life))}
	published = false
	c.absences.Update(key, func(*absence, bool) (*absence, memstore.Op) {
		if !pass.holds() {
			return nil, memstore.Keep
		}
		published = true
		return a, memstore.Put
	})
	return published
}

// newEntry returns an entry for v that begins to live now.
func (c *Cache[V]) newEntry(v V, epoch uint32, cost time.Duration) *entry[V] {
	now := c.clock.now()
	life := xfetch.Life(c.opts.TTL, c.jitter(), c.opts.Rand())
	e := &entry[V]{value: v, epoch: epoch, written: now, expiry: satAdd(now, int64(life)), cost: cost}
	return e
}

// succeed makes e the heir of old, which may be nil: old is retired, and what
// was learnt of the recompute's cost is carried on.
func (c *Cache[V]) succeed(e, old *entry[V]) {
	switch {
	case old != nil && e.cost > 0:
		e.delta.Store(int64(xfetch.Smooth(time.Duration(old.delta.Load()), e.cost)))
	case old != nil:
		e.delta.Store(old.delta.Load())
	case e.cost > 0:
		e.delta.Store(int64(e.cost))
	default:
		e.delta.Store(int64(c.mean.cost()))
	}
	if old != nil {
		old.retire()
	}
	e.hush(c.opts.Beta)
}

// dropValue removes key's value if the condition holds inside its critical
// section.
func (c *Cache[V]) dropValue(key string, ok func() bool) {
	c.values.Update(key, func(old *entry[V], found bool) (*entry[V], memstore.Op) {
		if !found || !ok() {
			return nil, memstore.Keep
		}
		old.retire()
		return nil, memstore.Drop
	})
}

// dropAbsence removes key's absence likewise.
func (c *Cache[V]) dropAbsence(key string, ok func() bool) {
	c.absences.Update(key, func(old *absence, found bool) (*absence, memstore.Op) {
		if !found || !ok() {
			return nil, memstore.Keep
		}
		old.retired.Store(true)
		return nil, memstore.Drop
	})
}

// always is the condition of a change: it waits for nobody.
func always() bool { return true }

func (c *Cache[V]) jitter() float64 { return max(c.opts.Jitter, 0) }
