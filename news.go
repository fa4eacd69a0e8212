package earlybird

import (
	"context"

	"github.com/earlybird-cache/earlybird/store"
)

// What caches that share a tier tell one another: which keys were created, so that
// no guard refuses one and nobody remembers that it was absent.

// created is the Kind of the fact that the keys it has were created.
const created = "created"

// listen has this cache learn what others create.
func (c *Cache[V]) listen() {
	bus, ok := c.opts.Store.(store.Bus)
	if !ok {
		return
	}
	c.bus = bus
	if c.opts.Guard == nil {
		bus.Listen("", c.heard, func() {})
		return
	}
	m := newMember(c, bus)
	c.life.begin() // a new cache is open
	go func() {
		defer c.life.end()
		m.run(c.tier.open)
	}()
}

// heard is what another cache, or this one, has told.
func (c *Cache[V]) heard(f store.Fact) {
	if f.Kind != created {
		return
	}
	var broken error // GuardPart is the user's
	guarded(&broken, func() {
		for _, key := range f.Keys {
			c.introduce(key)
			c.dropAbsence(key)
		}
	})
	if broken != nil {
		c.opts.Guard.Missed()
	}
}

// introduce makes key known to the guard.
func (c *Cache[V]) introduce(key string) { c.opts.Guard.Add(c.guardPart(key)) }

// dropAbsence forgets that key was absent.
func (c *Cache[V]) dropAbsence(key string) {
	c.fence.raise(key)
	c.dropNegative(key, always)
	c.fence.raise(key)
}

// isRefused reports whether the guard refuses key. It is asked after the bus was
// whether everything has been heard.
func (c *Cache[V]) isRefused(key string) bool {
	return (c.bus == nil || c.bus.Hears()) && !c.opts.Guard.MayContain(c.guardPart(key))
}

// tell tells other caches that keys were created. If it returns nil, none of them
// refuses one any more.
func (c *Cache[V]) tell(ctx context.Context, keys []string) error {
	if c.bus == nil || len(keys) == 0 {
		return nil
	}
	return c.bus.Tell(ctx, store.Fact{Kind: created, Keys: keys})
}
