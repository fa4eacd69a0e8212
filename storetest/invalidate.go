package storetest

import (
	"context"
	"slices"

	"github.com/earlybird-cache/earlybird/internal/burial"
	"github.com/earlybird-cache/earlybird/internal/tally"
	"github.com/earlybird-cache/earlybird/store"
)

// Invalidate is that of store.Store.
func (c *Client[V]) Invalidate(ctx context.Context, keys ...string) error {
	if len(keys) == 0 {
		return c.usable(context.WithoutCancel(ctx))
	}
	ctx = context.WithoutCancel(ctx)
	splits, err := c.forget(ctx, keys)
	e := &store.PendingError{Err: err}
	switch {
	case err == store.ErrClosed:
		return err
	case err != nil:
		e.Lost = c.overdue.Add(keys)
	default:
		keys, e.Lost, e.Err = c.buryOrOwe(ctx, splits)
	}
	c.tally.Call(tally.Invalidate, e.Err)
	if e.Err == nil {
		return nil
	}
	for _, key := range keys {
		if !slices.Contains(e.Lost, key) {
			e.Keys = append(e.Keys, key)
		}
	}
	return e
}

// forget invalidates keys now or not at all, and returns which of them may have
// copies.
func (c *Client[V]) forget(ctx context.Context, keys []string) ([]burial.Split, error) {
	mark := c.overdue.Mark()
	splits, err := c.send(ctx, keys)
	if err == nil {
		c.overdue.Confirm(keys, mark)
	}
	return splits, err
}

func (c *Client[V]) send(ctx context.Context, keys []string) ([]burial.Split, error) {
	keys = slices.Clone(keys)
	reply := new([]burial.Split)
	err := c.exchange(ctx, "Invalidate", keys[0], func() {
		for _, key := range keys {
			cell := c.mem.cellLocked(key)
			c.mem.forgetLocked(cell)
			if s := c.mem.splitLocked(key, cell, cell.floor); len(s.Of) > 0 {
				*reply = append(*reply, s)
			}
		}
	})
	if err != nil {
		return nil, err
	}
	return *reply, nil
}

// tryAgain is for the invalidations that failed.
func (c *Client[V]) tryAgain(ctx context.Context, keys []string) (failed []string) {
	splits, err := c.send(ctx, keys)
	if err != nil {
		return keys
	}
	c.buryOrOwe(ctx, splits)
	return nil
}

// InvalidateAll is that of store.Store.
func (c *Client[V]) InvalidateAll(ctx context.Context) error {
	mark := c.overdue.Mark()
	reply := new([]burial.Split)
	err := c.exchange(ctx, "InvalidateAll", "", func() {
		c.mem.floor = c.mem.nextLocked()
		for key, cell := range c.mem.cells {
			cell.record = store.Record[V]{}
			cell.release()
			if s := c.mem.splitLocked(key, cell, c.mem.floor); len(s.Of) > 0 {
				*reply = append(*reply, s)
			}
		}
	})
	if err == nil {
		c.overdue.ConfirmAll(mark)
		err = c.bury(ctx, *reply)
	}
	c.tally.Call(tally.Invalidate, err)
	return err
}
