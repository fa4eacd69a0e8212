package storetest

import (
	"context"
	"slices"

	"github.com/earlybird-cache/earlybird/internal/tally"
	"github.com/earlybird-cache/earlybird/store"
)

// Invalidate is that of store.Store.
func (c *Client[V]) Invalidate(ctx context.Context, keys ...string) error {
	if len(keys) == 0 {
		return c.usable(context.WithoutCancel(ctx))
	}
	err := c.forget(context.WithoutCancel(ctx), keys)
	c.tally.Call(tally.Invalidate, err)
	if err == nil || err == store.ErrClosed {
		return err
	}
	e := &store.PendingError{Lost: c.overdue.Add(keys), Err: err}
	for _, key := range keys {
		if !slices.Contains(e.Lost, key) {
			e.Keys = append(e.Keys, key)
		}
	}
	return e
}

// forget invalidates keys now or not at all.
func (c *Client[V]) forget(ctx context.Context, keys []string) error {
	mark := c.overdue.Mark()
	err := c.send(ctx, keys)
	if err == nil {
		c.overdue.Confirm(keys, mark)
	}
	return err
}

func (c *Client[V]) send(ctx context.Context, keys []string) error {
	keys = slices.Clone(keys)
	return c.exchange(ctx, "Invalidate", keys[0], func() {
		for _, key := range keys {
			c.mem.forgetLocked(c.mem.cellLocked(key))
		}
	})
}

// tryAgain is for the invalidations that failed.
func (c *Client[V]) tryAgain(ctx context.Context, keys []string) (failed []string) {
	if c.send(ctx, keys) != nil {
		return keys
	}
	return nil
}

// InvalidateAll is that of store.Store.
func (c *Client[V]) InvalidateAll(ctx context.Context) error {
	mark := c.overdue.Mark()
	err := c.exchange(ctx, "InvalidateAll", "", func() {
		c.mem.floor = c.mem.nextLocked()
		for _, cell := range c.mem.cells {
			cell.record = store.Record[V]{}
			cell.release()
			cell.changedLocked()
		}
	})
	c.tally.Call(tally.Invalidate, err)
	if err == nil {
		c.overdue.ConfirmAll(mark)
	}
	return err
}
