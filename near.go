package earlybird

import "github.com/earlybird-cache/earlybird/memstore"

// What is in memory: the table first, then the map.

// near returns what is in memory under key, dead or alive, or nil. It does not
// look at a key that is too long.
func (c *Cache[V]) near(key string) *entry[V] {
	if len(key) > c.maxKey {
		return nil
	}
	turn := c.table.turn.Load()
	e := c.table.get(key)
	if e != nil && e.turn.Load() == turn {
		return e
	}
	inMap, ok := c.values.Get(key) // tells eviction, too
	if !ok {
		return nil
	}
	inMap.turn.Store(turn)
	if inMap != e {
		c.table.put(key, inMap)
	}
	return inMap
}

// alive returns key's entry, fresh or not, or nil.
func (c *Cache[V]) alive(key string) *entry[V] { return c.living(key, c.near(key)) }

// living is alive where e is near.
func (c *Cache[V]) living(key string, e *entry[V]) *entry[V] {
	switch {
	case e == nil:
		return nil
	case e.alive(c.fence.epoch.Load()):
		return e
	case e.isRetired():
		return c.heir(key)
	}
	return nil
}

// heir is alive for a key whose entry was found retired. The one that takes its
// place may be just being stored: what the key holds, and whether that lives, is
// known in its critical section.
func (c *Cache[V]) heir(key string) (e *entry[V]) {
	c.values.Update(key, func(now *entry[V], ok bool) (*entry[V], memstore.Op) {
		if ok && now.alive(c.fence.epoch.Load()) {
			e = now
		}
		return nil, memstore.Keep
	})
	return e
}

// fresh returns key's entry if it may be served at now as it is, or nil.
func (c *Cache[V]) fresh(key string, now int64) *entry[V] {
	if e := c.alive(key); e != nil && e.isFresh(now) {
		return e
	}
	return nil
}
