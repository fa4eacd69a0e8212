package storetest

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/earlybird-cache/earlybird/internal/burial"
	"github.com/earlybird-cache/earlybird/internal/bus"
	"github.com/earlybird-cache/earlybird/internal/ladder"
	"github.com/earlybird-cache/earlybird/internal/tally"
	"github.com/earlybird-cache/earlybird/internal/watches"
	"github.com/earlybird-cache/earlybird/store"
)

// Client is one cache's end of a Memory.
type Client[V any] struct {
	mem      *Memory[V]
	id       int
	closing  context.Context
	close    context.CancelFunc
	mu       sync.RWMutex // held by Close, so that no message sets out after it
	messages sync.WaitGroup
	overdue  *ladder.Ladder
	watches  *watches.List
	bus      *bus.Bus
	silent   atomic.Bool // its connection is, and it has not noticed
	debts    *burial.Debts
	tally    tally.Tally

	connection int // which one the client has; guarded by the server's mutex
}

var _ store.Store[int] = (*Client[int])(nil)

// Client returns a new client of the tier. Close it when it is done with.
func (m *Memory[V]) Client() *Client[V] {
	m.mu.Lock()
	defer m.mu.Unlock()
	c := &Client[V]{mem: m, id: len(m.clients), watches: watches.New(m.opts.MaxWatched)}
	m.clients = append(m.clients, c)
	c.bus = bus.New(busServer[V]{c})
	c.closing, c.close = context.WithCancel(context.Background())
	c.overdue = ladder.New(ladder.Options{
		Try:   c.tryAgain,
		Rungs: []time.Duration{time.Second, 5 * time.Second, time.Minute},
		Bound: 1 << 16,
		Batch: 256,
	})
	c.debts = burial.New(burial.Options{Bury: c.buryAgain, Bound: 1 << 16, Batch: 256})
	return c
}

// ID returns the client's number, for Cut and Call.
func (c *Client[V]) ID() int { return c.id }

func (c *Client[V]) usable(ctx context.Context) error {
	if c.closing.Err() != nil {
		return store.ErrClosed
	}
	return ctx.Err()
}

// Get is that of store.Store.
func (c *Client[V]) Get(ctx context.Context, key string) (store.Record[V], error) {
	void := c.overdue.Has(key)
	reply := new(store.Record[V])
	err := c.exchange(ctx, "Get", key, func() {
		*reply = c.mem.readLocked(c.mem.cellLocked(key))
	})
	c.tally.Call(tally.Get, err)
	switch {
	case err != nil:
		return store.Record[V]{}, err
	case void:
		*reply = store.Record[V]{Generation: store.MaxGeneration}
	}
	c.tally.Read(reply.Kind)
	return *reply, nil
}

// GetMany is that of store.Store.
func (c *Client[V]) GetMany(ctx context.Context, keys []string) []store.Reply[V] {
	replies := make([]store.Reply[V], len(keys))
	if len(keys) == 0 {
		return replies
	}
	keys = slices.Clone(keys)
	void := make([]bool, len(keys))
	for i, key := range keys {
		void[i] = c.overdue.Has(key)
	}
	records := make([]store.Record[V], len(keys))
	err := c.exchange(ctx, "GetMany", keys[0], func() {
		for i, key := range keys {
			records[i] = c.mem.readLocked(c.mem.cellLocked(key))
		}
	})
	c.tally.Call(tally.Get, err)
	for i := range keys {
		if replies[i].Err = err; err != nil {
			continue
		}
		if void[i] {
			records[i] = store.Record[V]{Generation: store.MaxGeneration}
		}
		replies[i].Record = records[i]
		c.tally.Read(replies[i].Kind)
	}
	return replies
}

// Acquire is that of store.Store.
func (c *Client[V]) Acquire(ctx context.Context, key string, have store.Generation, life time.Duration) (store.Claim[V], error) {
	if err := c.confirm(ctx, key); err != nil {
		c.tally.Call(tally.Acquire, err)
		return store.Claim[V]{}, err
	}
	reply := new(store.Claim[V])
	err := c.exchange(ctx, "Acquire", key, func() {
		*reply = c.mem.acquireLocked(key, have, life)
	})
	c.tally.Call(tally.Acquire, err)
	if err != nil {
		return store.Claim[V]{}, err
	}
	c.tally.Claimed(reply.Outcome)
	return *reply, nil
}

// confirm carries out an invalidation of key that is overdue: what Acquire finds
// would be void.
func (c *Client[V]) confirm(ctx context.Context, key string) error {
	if !c.overdue.Has(key) {
		return nil
	}
	splits, err := c.forget(ctx, []string{key})
	if err == nil {
		c.buryOrOwe(ctx, splits)
	}
	return err
}

func (m *Memory[V]) acquireLocked(key string, have store.Generation, life time.Duration) store.Claim[V] {
	c := m.cellLocked(key)
	leased := !c.leaseEnd.IsZero()
	switch {
	case c.record.Generation > have:
		return store.Claim[V]{Outcome: store.Found, Record: m.readLocked(c)}
	case leased && (c.token == "" || !m.opts.SharedLeases):
		return store.Claim[V]{Left: time.Until(c.leaseEnd), Cooling: c.token == ""}
	case !leased:
		m.tokens++
		c.token, c.leased = strconv.FormatUint(m.tokens, 10), m.nextLocked()
	}
	if end := time.Now().Add(max(life, 1)); end.After(c.leaseEnd) {
		c.leaseEnd = end
	}
	return store.Claim[V]{Outcome: store.Granted, Lease: store.Lease{Key: key, Generation: c.leased, Token: c.token}}
}

// Publish is that of store.Store.
func (c *Client[V]) Publish(ctx context.Context, lease store.Lease, r store.Record[V]) error {
	if err := check(lease.Key, r); err != nil {
		return err
	}
	lost := new(bool)
	r = c.copied(r)
	err := c.exchange(ctx, "Publish", lease.Key, func() {
		cell := c.mem.cellLocked(lease.Key)
		if *lost = cell.token != lease.Token || lease.Token == ""; !*lost {
			c.mem.storeLocked(cell, r, lease.Generation)
		}
	})
	c.tally.Call(tally.Publish, err)
	if err == nil && *lost {
		c.tally.Lost.Add(1)
		return store.ErrLost
	}
	return err
}

// Set is that of store.Store.
func (c *Client[V]) Set(ctx context.Context, key string, r store.Record[V]) (store.Generation, error) {
	if err := check(key, r); err != nil {
		return 0, err
	}
	set := new(burial.Split)
	mark := c.overdue.Mark()
	r = c.copied(r)
	err := c.exchange(ctx, "Set", key, func() {
		cell, g := c.mem.cellLocked(key), c.mem.nextLocked()
		c.mem.storeLocked(cell, r, g)
		*set = c.mem.splitLocked(key, cell, g)
	})
	c.tally.Call(tally.Set, err)
	if err != nil {
		return 0, err
	}
	c.overdue.Confirm([]string{key}, mark)
	return set.Generation, c.tellCopies(ctx, *set)
}

// tellCopies leaves tombstones in the copies of a key that was set.
func (c *Client[V]) tellCopies(ctx context.Context, set burial.Split) error {
	if len(set.Of) == 0 {
		return nil
	}
	owed, lost, err := c.buryOrOwe(context.WithoutCancel(ctx), []burial.Split{set})
	switch {
	case err == nil:
		return nil
	case len(lost) > 0:
		owed = nil
	}
	return &store.PendingError{Keys: owed, Lost: lost, Err: err}
}

// copied is r as it was at the call: the message may arrive later.
func (c *Client[V]) copied(r store.Record[V]) store.Record[V] {
	if r.Kind == store.Value {
		r.Value = c.mem.opts.Clone(r.Value)
	}
	return r
}

func check[V any](key string, r store.Record[V]) error {
	if (r.Kind != store.Value && r.Kind != store.Absent) || r.Life <= 0 || r.Grace < 0 {
		return &store.ValueError{Key: key, Err: fmt.Errorf("a %v record with a life of %v and a grace of %v", r.Kind, r.Life, r.Grace)}
	}
	return nil
}

// Fail is that of store.Store.
func (c *Client[V]) Fail(ctx context.Context, lease store.Lease, coolDown time.Duration) error {
	err := c.exchange(ctx, "Fail", lease.Key, func() {
		cell := c.mem.cellLocked(lease.Key)
		if cell.token != lease.Token || lease.Token == "" {
			return
		}
		cell.release()
		if coolDown > 0 {
			cell.leaseEnd = time.Now().Add(coolDown)
		}
	})
	c.tally.Call(tally.Fail, err)
	return err
}

// Stats is that of store.Store.
func (c *Client[V]) Stats() store.Stats {
	s := c.tally.Stats()
	s.Parts = 1
	s.Pending, s.Retried, s.GivenUp = c.overdue.Counts()
	s.Watched, s.Changes, s.Losses = c.watches.Counts()
	owed, done, givenUp := c.debts.Counts()
	s.Pending, s.Retried, s.GivenUp = s.Pending+owed, s.Retried+done, s.GivenUp+givenUp
	s.Told, s.Heard, s.Gaps, s.Deaf = c.bus.Counts()
	return s
}

// Close is that of store.Store.
func (c *Client[V]) Close() error {
	c.bus.Close(context.Background())
	c.mu.Lock()
	c.close()
	c.mu.Unlock()
	c.watches.Close()
	c.overdue.Close()
	c.debts.Close()
	c.messages.Wait()
	return nil
}
