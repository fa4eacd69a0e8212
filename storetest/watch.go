package storetest

import (
	"context"
	"time"

	"github.com/earlybird-cache/earlybird/internal/tally"
	"github.com/earlybird-cache/earlybird/store"
)

var _ store.Watcher[int] = (*Client[int])(nil)

// Notify is that of store.Watcher.
func (c *Client[V]) Notify(changed func(key string), lost func()) { c.watches.Notify(changed, lost) }

// Watch is that of store.Watcher. The server remembers who has read what, and
// sends a message when it changes.
func (c *Client[V]) Watch(ctx context.Context, key string) (store.Record[V], bool, error) {
	w := c.watches.Begin(key, 0)
	void := c.overdue.Has(key)
	reply := new(store.Record[V])
	err := c.exchange(ctx, "Watch", key, func() {
		cell := c.mem.cellLocked(key)
		*reply = c.mem.readLocked(cell)
		if w != nil {
			cell.watch(c)
		}
	})
	c.tally.Call(tally.Get, err)
	switch {
	case err != nil:
		c.watches.End(w, false, 0)
		return store.Record[V]{}, false, err
	case void:
		*reply = store.Record[V]{Generation: store.MaxGeneration}
	}
	c.tally.Read(reply.Kind)
	r := *reply
	return r, c.watches.End(w, r.Kind != store.Missing, r.Left+r.Grace), nil
}

// Unwatch is that of store.Watcher.
func (c *Client[V]) Unwatch(key string) { c.watches.Forget(key) }

// watch makes the server remember that c has read the cell.
func (x *cell[V]) watch(c *Client[V]) {
	if x.watchers == nil {
		x.watchers = make(map[*Client[V]]int)
	}
	x.watchers[c] = c.connection
}

// changedLocked sends a message to each who has read the cell.
func (x *cell[V]) changedLocked() {
	for c, connection := range x.watchers {
		if connection == c.connection {
			c.tell(x.key)
		}
	}
	x.watchers = nil
}

// tell sends c the message that key has changed.
func (c *Client[V]) tell(key string) {
	fault := c.fault("Notify", key)
	c.launch(func() {
		if !c.sleep(c.oneWay() + fault.Delay) {
			return
		}
		if fault.LoseRequest || fault.LoseReply || fault.Err != nil || c.mem.isCut(c.id) {
			c.fallSilent()
			return
		}
		c.watches.Changed(key)
	})
}

// fallSilent is for a connection on which something was lost, so that it will
// never say anything again: its client notices after Options.Heartbeat.
func (c *Client[V]) fallSilent() {
	if c.silent.Swap(true) {
		return
	}
	c.launch(func() {
		if c.sleep(c.mem.opts.Heartbeat) {
			c.silent.Store(false)
			c.mem.mu.Lock()
			c.connection++
			c.mem.mu.Unlock()
			c.watches.Lost()
		}
	})
}

// breakLocked ends c's connection as the end of the server does.
func (c *Client[V]) breakLocked() {
	c.connection++
	c.launch(func() {
		if c.sleep(c.oneWay()) {
			c.watches.Lost()
		}
	})
}

const (
	defaultHeartbeat  = time.Second
	defaultMaxWatched = 10_000
)
