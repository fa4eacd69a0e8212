package earlybird

import (
	"errors"
	"strings"
	"time"

	"github.com/earlybird-cache/earlybird/memstore"
	"github.com/earlybird-cache/earlybird/xfetch"
)

// settle ends a flight with the outcome of its load. A value and an absence are
// published if the fence lets them pass; an error is not kept, and what is in
// memory is left alone for a while.
func (c *Cache[V]) settle(f *flight[V], o outcome[V]) {
	f.value, f.err = o.value, o.err
	switch {
	case o.err == nil:
		c.opts.Guard.ReportFound(c.guardPart(f.key))
		c.settled(f, c.publishValue(f, o))
	case absent(o.err):
		c.opts.Guard.ReportAbsent(c.guardPart(f.key))
		c.settled(f, c.publishAbsence(f, o.at))
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
	if f.lease != nil {
		c.tier.fail(*f.lease, c.coolDown(f, o))
	}
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
	if e := c.alive(f.key); e != nil {
		e.spare()
	}
}

// unsettled is what a failure leaves behind: the value there was, if there was
// one, to be refreshed later and served instead if it may.
func (c *Cache[V]) unsettled(f *flight[V], o outcome[V]) {
	if f.held != nil {
		c.refreshFailures.Add(1)
	}
	c.report(f, o.err)
	e := c.alive(f.key)
	if e != nil {
		if o.err == ErrLoadTimeout {
			e.learn(o.cost)
		}
		e.backOff(o.at, c.opts.Rand())
		if c.standsIn(e, o.at) && o.err != ErrClosed && c.isConfirmed(f, e) {
			f.value, f.err, f.age = e.value, nil, time.Duration(o.at-e.written)
			f.stale, f.cause = o.at >= e.expiry, o.err
			f.found = !f.stale // a change has put it there meanwhile
			return
		}
	}
	// An entry's back-off keeps only refreshes away, not those who find it expired.
	if _, ok := o.err.(*InvalidError); ok && (e == nil || o.at >= e.expiry) {
		c.publishInvalid(f.key, f.pass, o.err, o.at)
	}
}

// publishValue stores a loaded value, in the shared tier first, unless a change
// came after its load began. The fence is asked inside the key's critical
// section: asked before it, a change could still come between the answer and the
// store.
func (c *Cache[V]) publishValue(f *flight[V], o outcome[V]) (published bool) {
	if o.terms.life < 0 {
		c.forsake(f)
		published = f.pass.holds()
		c.dropValue(f.key, f.pass.holds)
		c.dropNegative(f.key, f.pass.holds)
		return published
	}
	added := false
	e := c.newEntry(f.key, o.value, o.at, f.pass.epoch, o.terms, c.jitterOf(f.load))
	if c.tier != nil {
		switch keep, ok := c.offer(f, e, o.cost); {
		case !ok:
			return false
		case !keep:
			c.dropValue(f.key, f.pass.holds)
			return true
		}
	}
	if _, ok := c.negatives.Get(f.key); ok { // seldom
		c.dropNegative(f.key, f.pass.holds)
	}
	c.values.Update(own(f.key), func(old *entry[V], ok bool) (*entry[V], memstore.Op) {
		if !f.pass.holds() {
			return nil, memstore.Keep
		}
		published, added = true, !ok
		c.succeed(e, old, o.cost)
		return e, memstore.Put
	})
	if added {
		c.table.add(c.values.Len())
	}
	if published && f.isDown {
		c.tier.suspect(e)
	}
	return published
}

// newEntry returns an entry for v that begins to live now.
func (c *Cache[V]) newEntry(key string, v V, now int64, epoch uint32, t terms, jitter float64) *entry[V] {
	life := xfetch.Life(t.life, jitter, c.opts.Rand())
	e := newEntry[V](key, t.weight)
	e.value, e.epoch = v, epoch
	e.written, e.expiry = now, satAdd(now, int64(life))
	return e
}

// succeed makes e the heir of old, which may be nil: old is retired, and what
// was learnt of the recompute's cost is carried on, this time's included unless
// it is 0.
func (c *Cache[V]) succeed(e, old *entry[V], cost time.Duration) {
	e.delta.Store(int64(c.costAfter(old, cost)))
	if c.opts.Refresh.Late > 0 {
		e.inherit(c.opts.Refresh, c.opts.Beta, old, cost, e.written)
	}
	if old != nil {
		old.retire()
	}
	e.hush(c.opts.Beta)
}

// costAfter is the smoothed cost of a load after one that took cost, 0 if that is
// not known, of a key that old was the entry of, which may be nil.
func (c *Cache[V]) costAfter(old *entry[V], cost time.Duration) time.Duration {
	switch {
	case old != nil && cost > 0:
		return xfetch.Smooth(time.Duration(old.delta.Load()), cost)
	case old != nil:
		return time.Duration(old.delta.Load())
	case cost > 0:
		return cost
	}
	return c.mean.cost()
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

// own returns key in memory of its own. Keys are often cut out of requests, which
// what is held for long must not keep in memory.
func own(key string) string { return strings.Clone(key) }

// always is the condition of a change: it waits for nobody.
func always() bool { return true }

func (c *Cache[V]) jitter() float64 { return max(c.opts.Jitter, 0) }

// jitterOf returns the jitter for what l loads: wide for a warm-up, whose
// values are all written at once.
func (c *Cache[V]) jitterOf(l *load[V]) float64 {
	if l.warm {
		return max(c.jitter(), warmJitter)
	}
	return c.jitter()
}

// standsIn reports whether e may be served at now in place of a load that failed.
func (c *Cache[V]) standsIn(e *entry[V], now int64) bool {
	spare := c.spareLife()
	if spare == 0 && e.sharing() != nil {
		return now < e.expiry
	}
	return spare > 0 && now < satAdd(e.expiry, int64(spare))
}

// spareLife is how long past expiry a value may stand in for a load that
// failed.
func (c *Cache[V]) spareLife() time.Duration {
	return max(c.opts.StaleIfError, c.opts.StaleWhileRevalidate, 0)
}
