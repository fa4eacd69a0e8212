package earlybird

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/earlybird-cache/earlybird/store"
)

// What the shared tier is told: what was loaded, set and invalidated.

// offer publishes in the tier what f's load brought and e, which is not yet in
// memory, has. It reports whether e is to be kept in memory: not if the key was
// changed since the tier gave leave, which is not ok.
func (c *Cache[V]) offer(f *flight[V], e *entry[V], cost time.Duration) (keep, ok bool) {
	if f.lease == nil {
		c.shareUnleased(f, e)
		return true, true
	}
	sent := c.clock.now()
	g, err := c.publish(f, store.Record[V]{
		Kind:  store.Value,
		Value: e.value,
		Life:  time.Duration(e.expiry - e.written),
		Grace: c.spareLife(),
		Delta: c.costAfter(c.alive(f.key), cost),
		Cost:  cost,
	})
	switch {
	case err == store.ErrLost:
		return false, false
	case isOutage(err):
		f.isDown = true
		c.shareUnleased(f, e)
		return true, true
	}
	e.share(g, sent, c.nearLife(false))
	e.sharing().refused.Store(err != nil)
	if c.hot.isWatchable(f.key) {
		e.renewAtOnce()
	}
	return c.opts.NearTTL > 0 || err != nil, true
}

// publish uses f's lease up, and returns its generation.
func (c *Cache[V]) publish(f *flight[V], r store.Record[V]) (store.Generation, error) {
	lease := *f.lease
	err := c.tier.call(f.key, func() error {
		return c.tier.store.Publish(context.WithoutCancel(f.load.asked), lease, r)
	})
	switch {
	case err == nil:
		f.lease = nil
	case errors.Is(err, store.ErrLost):
		f.lease, f.behind, err = nil, true, store.ErrLost
		c.tier.lost.Add(1)
	case !isOutage(err): // the tier is well, and can not take this value
		c.reporter.report(Event{Key: f.key, Refresh: f.held != nil, Tier: true, Err: err})
	}
	return lease.Generation, err
}

// shareUnleased binds e, which the tier knows nothing of. Others may have changed
// the key since the load began: no lease was there to be lost.
func (c *Cache[V]) shareUnleased(f *flight[V], e *entry[V]) {
	if !f.isDown {
		f.behind = true
		e.share(0, f.load.since, c.nearLife(false))
		return
	}
	e.expiry = min(e.expiry, satAdd(e.written, int64(outageLife)))
	e.share(0, e.written, c.nearLife(true))
}

// offerAbsence publishes in the tier that f's key is absent, which a load has found
// at that time, and returns until when that is to be believed near. It reports false
// if it is not to be.
func (c *Cache[V]) offerAbsence(f *flight[V], at int64, life time.Duration) (until int64, ok bool) {
	since := at
	switch {
	case c.opts.NegativeTTL < 0:
		c.forsake(f)
		return at, true
	case f.lease != nil:
		_, err := c.publish(f, store.Record[V]{Kind: store.Absent, Life: life})
		if err == store.ErrLost {
			return at, false
		}
		f.isDown = f.isDown || isOutage(err)
	case !f.isDown:
		f.behind, since = true, f.load.since // as in shareUnleased
	}
	return min(satAdd(at, int64(life)), satAdd(since, c.nearLife(f.isDown))), true
}

// forsake has the tier forget what it holds of f's key: what was loaded is not to
// be stored.
func (c *Cache[V]) forsake(f *flight[V]) {
	if f.lease == nil {
		return
	}
	f.lease = nil
	_ = c.tier.call(f.key, func() error { return c.tier.store.Invalidate(context.WithoutCancel(f.load.asked), f.key) })
}

// coolDown is how long no cache is to load f's key after what came of f.
func (c *Cache[V]) coolDown(f *flight[V], o outcome[V]) time.Duration {
	if o.err == nil || o.err == ErrClosed || o.err == ErrOverloaded || absent(o.err) {
		return 0
	}
	if e := c.alive(f.key); e != nil && e.isBackingOff(o.at) {
		return time.Duration(e.more().resume.Load() - o.at)
	}
	return backOff(leastBackoff, mostBackoff, 1, c.opts.Rand())
}

// set stores e, which is in memory already, in the tier, and tells e its
// generation. A tier that does not take it is told to forget what it has.
func (t *tier[V]) set(ctx context.Context, key string, e *entry[V], grace time.Duration) error {
	if t == nil {
		return nil
	}
	var g store.Generation
	err := t.call(key, func() (err error) {
		g, err = t.store.Set(context.WithoutCancel(ctx), key, store.Record[V]{
			Kind:  store.Value,
			Value: e.value,
			Life:  time.Duration(e.expiry - e.written),
			Grace: grace,
			Delta: time.Duration(e.delta.Load()),
			Cost:  time.Duration(e.delta.Load()),
		})
		return err
	})
	e.sharing().generation.Store(uint64(g))
	if err == nil || g != 0 { // then it has e, and only copies are yet to be told
		return err
	}
	if isOutage(err) {
		t.suspect(e)
	} else {
		e.sharing().refused.Store(true)
	}
	return cmp.Or(t.invalidate(ctx, []string{key}), err)
}

// invalidate has the tier forget keys.
func (t *tier[V]) invalidate(ctx context.Context, keys []string) error {
	if t == nil || len(keys) == 0 {
		return nil
	}
	return t.call(keys[0], func() error { return t.store.Invalidate(ctx, keys...) })
}

func (t *tier[V]) invalidateAll(ctx context.Context) error {
	if t == nil {
		return nil
	}
	return t.call("", func() error { return t.store.InvalidateAll(ctx) })
}
