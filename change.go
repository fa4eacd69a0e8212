package earlybird

import (
	"cmp"
	"context"

	"github.com/earlybird-cache/earlybird/memstore"
)

// Set stores v under key for TTL, as if it had just been loaded. It is for a
// writer that knows the new value after its write to the origin; loads of the
// key that began before are not stored. The guard, if there is one, learns the
// key. It fails with ErrMalformedKey and ErrClosed, and, where the shared tier does
// not take v, with a *store.ValueError, store.ErrUnavailable or a
// *store.PendingError: v is kept in this cache only then, and the tier is told, until
// it confirms, to forget what it has. With the last error it has not confirmed yet;
// of a hot key that can mean that the tier took v, and copies of the key are yet to
// be told.
func (c *Cache[V]) Set(ctx context.Context, key string, v V) error {
	key = c.canon(key)
	if !c.wellFormed(key) {
		return ErrMalformedKey
	}
	if !c.life.begin() {
		return ErrClosed
	}
	defer c.life.end()
	c.introduce(key)

	v = c.out(v)
	t := c.terms(key, v)
	if t.life < 0 {
		return c.invalidate(ctx, key)
	}
	c.fence.raise(key)
	e := c.putSet(key, v, t)
	c.episodes.end(key)
	err := c.tier.set(ctx, key, e, c.spareLife())
	c.fence.raise(key)
	if c.tier != nil {
		if err == nil && c.opts.NearTTL < 0 {
			e = nil
		}
		c.dropOthers(key, e)
	}
	return err
}

// putSet stores v in memory, whatever is there.
func (c *Cache[V]) putSet(key string, v V, t terms) *entry[V] {
	added := false
	e := c.newEntry(key, v, c.clock.now(), c.fence.epoch.Load(), t, c.jitter())
	if c.tier != nil {
		e.share(pending, e.written, c.nearLife(false))
		if c.hot.isWatchable(key) {
			e.renewAtOnce()
		}
	}
	c.dropNegative(key, always)
	c.values.Update(own(key), func(old *entry[V], ok bool) (*entry[V], memstore.Op) {
		added = !ok
		c.succeed(e, old, 0)
		return e, memstore.Put
	})
	if added {
		c.table.add(c.values.Len())
	}
	return e
}

// dropOthers forgets what is in memory under key unless it is e: while the tier
// was told of e, somebody may have found there what was before, or changed the key
// too, and who came last there is not known.
func (c *Cache[V]) dropOthers(key string, e *entry[V]) {
	c.values.Update(key, func(now *entry[V], ok bool) (*entry[V], memstore.Op) {
		if !ok || now == e {
			return nil, memstore.Keep
		}
		now.retire()
		return nil, memstore.Drop
	})
	c.dropNegative(key, always)
	c.hot.drop(key)
}

// Invalidate forgets what is known of keys, values and absences alike. Once it
// has returned nobody who asks this cache is given what was known before; loads
// under way answer those who already wait for them and are not stored. Call it
// after the change at the origin is visible to loaders.
//
// It fails with ErrClosed, and, if the shared tier has not confirmed it, with a
// *store.PendingError: this cache has forgotten all the same, and the tier is told
// again until it confirms.
func (c *Cache[V]) Invalidate(ctx context.Context, keys ...string) error {
	if !c.life.begin() {
		return ErrClosed
	}
	defer c.life.end()
	return c.invalidate(ctx, c.canons(keys)...)
}

// canons returns the one spelling of each key.
func (c *Cache[V]) canons(keys []string) []string {
	if c.canonical == nil {
		return keys
	}
	canons := make([]string, len(keys))
	for i, key := range keys {
		canons[i] = c.canon(key)
	}
	return canons
}

// invalidate forgets keys: near, then in the shared tier, and near once more,
// because in between somebody may have found there what is to be forgotten.
func (c *Cache[V]) invalidate(ctx context.Context, keys ...string) (err error) {
	for _, key := range keys {
		c.fence.raise(key)
		c.drop(key)
	}
	err = c.tier.invalidate(ctx, keys)
	for _, key := range keys {
		c.fence.raise(key)
		if c.tier != nil {
			c.drop(key)
		}
	}
	return err
}

// drop forgets key near.
func (c *Cache[V]) drop(key string) {
	c.dropValue(key, always)
	c.dropNegative(key, always)
	c.hot.drop(key)
}

// InvalidateAll is Invalidate of every key, in this cache at one instant. The
// guard keeps what it knows. It fails with ErrClosed, and with what the shared
// tier says: then there others may still find what was there before.
func (c *Cache[V]) InvalidateAll(ctx context.Context) error {
	if !c.life.begin() {
		return ErrClosed
	}
	defer c.life.end()
	c.fence.raiseAll()
	c.gate.ramp()
	err := c.tier.invalidateAll(ctx)
	if c.tier != nil {
		c.fence.raiseAll()
	}
	c.clear()
	return err
}

// clear gives back the memory of entries that the fence's epoch has already
// made unservable.
func (c *Cache[V]) clear() {
	c.table.clear()
	c.values.Clear()
	c.hot.clear()
	c.negatives.Clear()
}

// Created tells the cache of new ids: the guard learns them, and absences
// remembered of keys are forgotten. Once it has returned no key is refused for
// not existing, nor found absent by a load that began before. Call it before
// the creation commits, so that no reader who already knows of the id is
// refused, and again after, since a load in between may have found the key
// absent; or use [Cache.Creating].
//
// With a shared tier that is a store.Bus, the same holds for all caches that share
// it: one that can not be told has a guard that is open, and remembers absences for
// NearTTL at most. That takes two round trips, and about a second if another
// process stands still. The tier forgets keys altogether. Created fails as
// Invalidate does, and when ctx ends before all caches have been told.
//
// Absences of other keys with the same GuardPart stay remembered for at most
// NegativeTTL.
func (c *Cache[V]) Created(ctx context.Context, keys ...string) error {
	if !c.life.begin() {
		return ErrClosed
	}
	defer c.life.end()
	keys = c.canons(keys)
	for _, key := range keys {
		c.introduce(key)
		c.dropAbsence(key)
	}
	if c.tier == nil {
		return nil
	}
	err := c.tier.invalidate(ctx, keys)
	for _, key := range keys {
		c.dropAbsence(key)
	}
	return cmp.Or(err, c.tell(ctx, keys)) // who is told finds nothing in the tier
}

// Creating calls Created for keys, then commit, then Created again, also if
// commit fails or panics: whether it took effect is not always known. It
// returns commit's error, or else that of Created.
func (c *Cache[V]) Creating(ctx context.Context, keys []string, commit func() error) (err error) {
	if err := c.Created(ctx, keys...); err != nil {
		return err
	}
	defer func() {
		if again := c.Created(ctx, keys...); err == nil {
			err = again
		}
	}()
	return commit()
}
