package storetest

import (
	"context"
	"time"

	"github.com/earlybird-cache/earlybird/internal/burial"
	"github.com/earlybird-cache/earlybird/internal/tally"
	"github.com/earlybird-cache/earlybird/store"
)

var _ store.Splitter[int] = (*Client[int])(nil)

// copyName is copy i of n of a key.
type copyName struct {
	key  string
	i, n int
}

// duplicate is what the server has of a copy. Tombstones stay for ever.
type duplicate[V any] struct {
	record store.Record[V] // Missing if there is none
	floor  store.Generation
	stale  time.Time // when the record's Life ends
	gone   time.Time // when the copy ends
	end    time.Time // and the base, had it been left alone
}

const (
	splitLife   = time.Minute        // of the note that a key has copies
	justSpread  = store.CopyLife / 4 // copies as young as this are not made again
	dueToSpread = store.CopyLife / 2 // with this left they should be
)

// GetCopy is that of store.Splitter.
func (c *Client[V]) GetCopy(ctx context.Context, key string, i, n int) (store.Copy[V], error) {
	store.CheckCopy(i, n)
	if i == 0 {
		r, err := c.Get(ctx, key)
		return store.Copy[V]{Record: r}, err
	}
	void := c.overdue.Has(key) || c.debts.Has(key)
	reply := new(store.Copy[V])
	err := c.exchange(ctx, "GetCopy", key, func() { *reply = c.mem.readCopyLocked(copyName{key, i, n}) })
	c.tally.Call(tally.Copy, err)
	switch {
	case err != nil:
		return store.Copy[V]{}, err
	case void:
		return store.Copy[V]{}, nil
	case reply.Kind != store.Missing:
		c.tally.CopiesFound.Add(1)
	}
	return *reply, nil
}

func (m *Memory[V]) readCopyLocked(name copyName) store.Copy[V] {
	d := m.copies[name]
	left := time.Until(d.gone)
	if d.record.Kind == store.Missing || left <= 0 {
		return store.Copy[V]{Record: store.Record[V]{Generation: max(d.floor, m.floor)}, Due: true}
	}
	r := d.record
	if r.Kind == store.Value {
		r.Value = m.opts.Clone(r.Value)
	}
	r.Left = time.Until(d.stale)
	return store.Copy[V]{Record: r, Due: left <= dueToSpread && d.gone.Before(d.end)}
}

// Spread is that of store.Splitter: a message to the base and one to the copies.
func (c *Client[V]) Spread(ctx context.Context, key string, n int) error {
	store.CheckCopy(0, n)
	found := new(duplicate[V])
	err := c.exchange(ctx, "Spread", key, func() { *found = c.mem.spreadLocked(key, n) })
	if err == nil && found.record.Kind != store.Missing {
		err = c.exchange(ctx, "PutCopies", key, func() { c.mem.putCopiesLocked(key, n, *found) })
	}
	c.tally.Call(tally.Spread, err)
	return err
}

// spreadLocked returns what copies 1 to n-1 should be, and notes that they may
// be; Missing if there is nothing to do.
func (m *Memory[V]) spreadLocked(key string, n int) duplicate[V] {
	base, now := m.cellLocked(key), time.Now()
	if base.record.Kind == store.Missing {
		return duplicate[V]{}
	}
	g := base.record.Generation
	if base.spread == g && base.splits[n].Sub(now) > splitLife-justSpread {
		return duplicate[V]{}
	}
	if base.splits == nil {
		base.splits = make(map[int]time.Time)
	}
	base.spread, base.splits[n] = g, now.Add(splitLife)
	r := base.record
	if r.Kind == store.Value {
		r.Value = m.opts.Clone(r.Value)
	}
	return duplicate[V]{record: r, stale: base.stale, end: base.gone}
}

func (m *Memory[V]) putCopiesLocked(key string, n int, d duplicate[V]) {
	d.gone = time.Now().Add(store.CopyLife)
	if d.end.Before(d.gone) {
		d.gone = d.end
	}
	for i := 1; i < n; i++ {
		name := copyName{key, i, n}
		if old := m.copies[name]; max(old.floor, old.record.Generation) <= d.record.Generation {
			m.copies[name] = d
		}
	}
}

// splitLocked returns which copies of key, just changed, there may be.
func (m *Memory[V]) splitLocked(key string, c *cell[V], g store.Generation) burial.Split {
	s := burial.Split{Key: key, Generation: g}
	for n, until := range c.splits {
		if time.Now().Before(until) {
			s.Of = append(s.Of, n)
		} else {
			delete(c.splits, n)
		}
	}
	return s
}

func (m *Memory[V]) buryLocked(s burial.Split) {
	for _, n := range s.Of {
		for i := 1; i < n; i++ {
			name := copyName{s.Key, i, n}
			if old := m.copies[name]; max(old.floor, old.record.Generation) < s.Generation {
				m.copies[name] = duplicate[V]{floor: s.Generation}
			}
		}
	}
}

// bury leaves tombstones in the copies of splits.
func (c *Client[V]) bury(ctx context.Context, splits []burial.Split) error {
	if len(splits) == 0 {
		return nil
	}
	return c.exchange(ctx, "BuryCopies", splits[0].Key, func() {
		for _, s := range splits {
			c.mem.buryLocked(s)
		}
	})
}

// buryOrOwe is bury of what was just changed. What it can not do is owed, and the
// keys are returned, and those among them that there is no room for.
func (c *Client[V]) buryOrOwe(ctx context.Context, splits []burial.Split) (owed, lost []string, err error) {
	if err = c.bury(ctx, splits); err == nil {
		return nil, nil, nil
	}
	return keysOf(splits), c.debts.Add(splits), err
}

// buryAgain is for the debts.
func (c *Client[V]) buryAgain(ctx context.Context, splits []burial.Split) (failed []string) {
	if c.bury(ctx, splits) != nil {
		return keysOf(splits)
	}
	return nil
}

func keysOf(splits []burial.Split) []string {
	keys := make([]string, len(splits))
	for i, s := range splits {
		keys[i] = s.Key
	}
	return keys
}
