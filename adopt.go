package earlybird

import (
	"cmp"
	"context"
	"time"

	"github.com/earlybird-cache/earlybird/memstore"
	"github.com/earlybird-cache/earlybird/store"
)

// What becomes of a record that the shared tier gave.

// learn takes what the tier, asked at that time, said of f's key into memory, and
// answers f if that will do.
func (c *Cache[V]) learn(f *flight[V], r store.Reply[V], asked int64) verdict[V] {
	if r.Err == nil && r.Kind != store.Value {
		c.hot.dropOlder(f.key, r.Generation)
	}
	switch {
	case r.Err != nil:
		return c.withoutTier(f, r.Err)
	case r.Kind == store.Value:
		return c.learnValue(f, r.Record, asked)
	case r.Kind == store.Absent && c.absenceLeft(r.Record) > 0:
		c.adoptAbsence(f, r.Record, asked)
		return verdict[V]{lands: true, err: ErrNotFound}
	case r.Kind == store.Absent:
		f.have = r.Generation
		return verdict[V]{}
	}
	if c.dropOlder(f, r.Generation) {
		return verdict[V]{}
	}
	return c.keep(f, asked)
}

// learnValue is learn for a value.
func (c *Cache[V]) learnValue(f *flight[V], r store.Record[V], asked int64) verdict[V] {
	e, err := c.adopt(f, r, asked)
	if err != nil {
		return verdict[V]{lands: true, err: err}
	}
	now := c.clock.now()
	a := verdict[V]{value: e.value, age: max(0, time.Duration(now-e.written))}
	switch {
	case now < e.expiry:
		a.lands = true
		if f.held == nil && c.draw(e, now) {
			a.entry = e
		}
	case f.held == nil && c.outlives(e, now):
		a.lands, a.stale, a.entry = true, true, e
	default:
		f.have = max(r.Generation, e.generation())
		return verdict[V]{}
	}
	return a
}

// keep answers f with the copy in memory that the tier has nothing against: it
// holds nothing, or can not be asked. If it holds nothing, the copy is refreshed
// behind the reader: what the tier has lost may be the word of a change, and others
// would have to load what it does not hold.
func (c *Cache[V]) keep(f *flight[V], asked int64) verdict[V] {
	e, now := c.alive(f.key), c.clock.now()
	if e.isOutdated() {
		c.dropOlder(f, e.generation()+1)
		return verdict[V]{}
	}
	isStale := e != nil && now >= e.expiry
	if e == nil || isStale && (f.held != nil || !c.outlives(e, now)) {
		return verdict[V]{}
	}
	if e.generation() != pending {
		e = cmp.Or(c.renew(f, e, asked), e) // who waits for f came before whatever has ended e
	}
	a := verdict[V]{lands: true, value: e.value, age: max(0, time.Duration(now-e.written)), stale: isStale}
	if isStale || !f.isDown && e.isMissed() {
		a.entry = e
	}
	return a
}

// withoutTier is learn when the tier can not be asked: what is in memory serves
// for as long as it lives, and otherwise Options.Outage decides.
func (c *Cache[V]) withoutTier(f *flight[V], err error) verdict[V] {
	f.isDown = true
	if f.held != nil && !f.load.renews {
		return c.refreshWithoutTier(f)
	}
	now := c.clock.now()
	if a := c.keep(f, now); a.lands || c.opts.Outage == Origin {
		return a
	}
	if e := c.alive(f.key); c.opts.Outage == StaleOnly && e != nil && c.standsIn(e, now) {
		return verdict[V]{lands: true, value: e.value, age: time.Duration(now - e.written), stale: true}
	}
	return verdict[V]{lands: true, err: err}
}

func (c *Cache[V]) refreshWithoutTier(f *flight[V]) verdict[V] {
	if c.opts.Outage == Origin {
		return verdict[V]{}
	}
	c.deny(f, outagePause)
	return verdict[V]{again: true}
}

const outagePause = time.Second // until a refresh tries again, without the origin

// adopt takes a value into memory, unless there is a newer one or a change has
// come since f began. It returns what serves f: the newer one, or what it made of
// r. It fails if Options.Weigh panics.
func (c *Cache[V]) adopt(f *flight[V], r store.Record[V], asked int64) (kept *entry[V], err error) {
	weight := uint32(1)
	if guarded(&err, func() { weight = c.weigh(f.key, r.Value) }); err != nil {
		return nil, err
	}
	now, added := c.clock.now(), false
	e := newEntry[V](f.key, weight)
	e.value, e.epoch = r.Value, f.pass.epoch
	e.written = satAdd(now, -int64(max(r.Life-r.Left, 0)))
	e.expiry = min(satAdd(now, int64(r.Left)), satAdd(e.written, int64(c.opts.TTL)))
	e.delta.Store(int64(r.Delta))
	e.share(r.Generation, asked, c.copyLife(f))
	e.sharing().watched = f.sight.watched
	if c.hot.isUnwatched(f) {
		e.renewAtOnce()
	}
	kept = e
	c.dropNegative(f.key, f.pass.holds)
	if c.opts.NearTTL < 0 {
		c.dropOlder(f, r.Generation)
		c.hot.keep(f, e)
		return e, nil
	}
	c.values.Update(own(f.key), func(old *entry[V], ok bool) (*entry[V], memstore.Op) {
		if !f.pass.holds() {
			return nil, memstore.Keep
		}
		if old.generation() > r.Generation && old.alive(f.pass.epoch) {
			kept = old
			return nil, memstore.Keep
		}
		added = !ok
		if !c.hot.holds(f) {
			e.share(r.Generation, asked, 0)
		}
		c.follow(e, old, r.Cost, now)
		return e, memstore.Put
	})
	if added {
		c.table.add(c.values.Len())
	}
	return kept, nil
}

// follow makes e, which another cache's load that took cost has brought, the heir
// of old, which may be nil. If old is of the same load, it knows more of what
// came after.
func (c *Cache[V]) follow(e, old *entry[V], cost time.Duration, now int64) {
	if old != nil && old.generation() == e.generation() {
		c.tier.renewed.Add(1)
		e.recall(old)
		cost = 0
	} else {
		c.tier.adopted.Add(1)
	}
	if cost > 0 {
		c.mean.feed(cost)
	}
	if c.opts.Refresh.Late > 0 {
		e.inherit(c.opts.Refresh, c.opts.Beta, old, cost, now)
	}
	if old != nil {
		old.retire()
	}
	e.hush(c.opts.Beta)
}

// recall carries over how refreshes of old fared.
func (e *entry[V]) recall(old *entry[V]) {
	if r := old.rare.Load(); r.failed.Load() > 0 {
		e.more().failed.Store(r.failed.Load())
		e.more().resume.Store(r.resume.Load())
	}
}

// renew gives old, which is in memory, another life near, and returns what has its
// place then: nil if old is no longer there.
func (c *Cache[V]) renew(f *flight[V], old *entry[V], asked int64) (heir *entry[V]) {
	e := newEntry[V](f.key, old.weight())
	e.value, e.epoch, e.written, e.expiry = old.value, old.epoch, old.written, old.expiry
	e.delta.Store(old.delta.Load())
	e.share(old.generation(), asked, c.nearLife(f.isDown))
	e.sharing().refused.Store(old.sharing().refused.Load())
	e.more().habits = old.habits()
	e.recall(old)
	c.values.Update(own(f.key), func(now *entry[V], ok bool) (*entry[V], memstore.Op) {
		if now != old || !f.pass.holds() || !ok {
			return nil, memstore.Keep
		}
		heir = e
		old.retire()
		e.hush(c.opts.Beta)
		return e, memstore.Put
	})
	if heir != nil && f.isDown {
		c.tier.suspect(heir)
	}
	return heir
}

// adoptAbsence remembers an absence that the tier knows of.
func (c *Cache[V]) adoptAbsence(f *flight[V], r store.Record[V], asked int64) {
	c.dropOlder(f, r.Generation)
	if c.opts.NearTTL < 0 || c.negatives == nil {
		return
	}
	until := satAdd(c.clock.now(), int64(c.absenceLeft(r)))
	c.rememberAbsence(f, min(until, satAdd(asked, c.nearLife(false))))
}

// absenceLeft is for how long this cache may say what another has found absent.
// That one may remember absences for longer.
func (c *Cache[V]) absenceLeft(r store.Record[V]) time.Duration {
	age := max(r.Life-r.Left, 0)
	return min(r.Left, max(c.opts.NegativeTTL, 0)-age)
}

// isConfirmed reports whether e may stand in for f's load, which failed: the tier
// has nothing against it, or can not be asked.
func (c *Cache[V]) isConfirmed(f *flight[V], e *entry[V]) bool {
	if e.isBelieved(c.clock.now()) {
		return true
	}
	r := c.tier.get(context.WithoutCancel(f.load.asked), []string{f.key})[0]
	return r.Err != nil || r.Generation <= e.generation()
}

// dropOlder removes f's key from memory, and reports true, if it is older than g.
func (c *Cache[V]) dropOlder(f *flight[V], g store.Generation) bool {
	e := c.alive(f.key)
	if e == nil || e.generation() >= g {
		return false
	}
	c.dropValue(f.key, f.pass.holds)
	return true
}
