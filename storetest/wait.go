package storetest

import (
	"context"
	"time"

	"github.com/earlybird-cache/earlybird/internal/tally"
	"github.com/earlybird-cache/earlybird/store"
)

// Wait is that of store.Store. The server sends a message when something
// changes; a client that is cut off when it is sent misses it, and looks again
// when the lease has run out.
func (c *Client[V]) Wait(ctx context.Context, key string, have store.Generation) error {
	watch := new(watch)
	err := c.exchange(ctx, "Wait", key, func() { *watch = c.mem.watchLocked(key, have) })
	c.tally.Call(tally.Wait, err)
	if err != nil || watch.changed == nil {
		return err
	}
	ranOut := time.NewTimer(max(watch.left, time.Microsecond))
	defer ranOut.Stop()
	changed := watch.changed
	for {
		select {
		case <-changed:
			changed = nil
			if c.sleep(c.oneWay()) && !c.mem.isCut(c.id) {
				return nil
			}
		case <-ranOut.C:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		case <-c.closing.Done():
			return store.ErrClosed
		}
	}
}

// watch is what a waiter waits for; changed is nil if there is no need to.
type watch struct {
	changed <-chan struct{}
	left    time.Duration
}

func (m *Memory[V]) watchLocked(key string, have store.Generation) watch {
	c := m.cellLocked(key)
	if c.record.Generation > have || c.token == "" {
		return watch{}
	}
	if c.changed == nil {
		c.changed = make(chan struct{})
	}
	return watch{changed: c.changed, left: time.Until(c.leaseEnd)}
}
