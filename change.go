package earlybird

import (
	"context"

	"github.com/earlybird-cache/earlybird/memstore"
)

// Set stores v under key for TTL, as if it had just been loaded. It is for a
// writer that knows the new value after its write to the origin; loads of the
// key that began before are not stored. The guard, if there is one, learns the
// key. It fails with ErrMalformedKey and ErrClosed.
func (c *Cache[V]) Set(ctx context.Context, key string, v V) error {
	key = c.canon(key)
	if !c.wellFormed(key) {
		return ErrMalformedKey
	}
	if !c.life.begin() {
		return ErrClosed
	}
	defer c.life.end()
	c.opts.Guard.Add(c.guardPart(key))

	v = c.out(v)
	t := c.terms(key, v)
	if t.life < 0 {
		c.invalidate(key)
		return nil
	}
	c.fence.raise(key)
	defer c.fence.raise(key)
	added := false
	e := c.newEntry(key, v, c.clock.now(), c.fence.epoch.Load(), t, c.jitter())
	c.dropNegative(key, always)
	c.values.Update(own(key), func(old *entry[V], ok bool) (*entry[V], memstore.Op) {
		added = !ok
		c.succeed(e, old, 0)
		return e, memstore.Put
	})
	if added {
		c.table.add(c.values.Len())
	}
	c.episodes.end(key)
	return nil
}

// Invalidate forgets what is known of keys, values and absences alike. Once it
// has returned nobody who asks is given what was known before; loads under way
// answer those who already wait for them and are not stored. Call it after the
// change at the origin is visible to loaders. It fails with ErrClosed only.
func (c *Cache[V]) Invalidate(ctx context.Context, keys ...string) error {
	if !c.life.begin() {
		return ErrClosed
	}
	defer c.life.end()
	for _, key := range keys {
		c.invalidate(c.canon(key))
	}
	return nil
}

func (c *Cache[V]) invalidate(key string) {
	c.fence.raise(key)
	c.dropValue(key, always)
	c.dropNegative(key, always)
	c.fence.raise(key)
}

// InvalidateAll is Invalidate of every key, at one instant. The guard keeps
// what it knows. It fails with ErrClosed only.
func (c *Cache[V]) InvalidateAll(ctx context.Context) error {
	if !c.life.begin() {
		return ErrClosed
	}
	defer c.life.end()
	c.fence.raiseAll()
	c.gate.ramp()
	c.clear()
	return nil
}

// clear gives back the memory of entries that the fence's epoch has already
// made unservable.
func (c *Cache[V]) clear() {
	c.table.clear()
	c.values.Clear()
	c.negatives.Clear()
}

// Created tells the cache of new ids: the guard learns them, and absences
// remembered of keys are forgotten. Once it has returned no key is refused for
// not existing, nor found absent by a load that began before. Call it before
// the creation commits, so that no reader who already knows of the id is
// refused, and again after, since a load in between may have found the key
// absent; or use [Cache.Creating]. It fails with ErrClosed only.
//
// Absences of other keys with the same GuardPart stay remembered for at most
// NegativeTTL.
func (c *Cache[V]) Created(ctx context.Context, keys ...string) error {
	if !c.life.begin() {
		return ErrClosed
	}
	defer c.life.end()
	for _, key := range keys {
		key = c.canon(key)
		c.opts.Guard.Add(c.guardPart(key))
		c.fence.raise(key)
		c.dropNegative(key, always)
		c.fence.raise(key)
	}
	return nil
}

// Creating calls Created for keys, then commit, then Created again, also if
// commit fails or panics: whether it took effect is not always known. It
// returns commit's error, or else ErrClosed.
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
