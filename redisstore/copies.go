package redisstore

import (
	"context"
	"strconv"
	"time"

	"github.com/redis/rueidis"

	"github.com/earlybird-cache/earlybird/internal/tally"
	"github.com/earlybird-cache/earlybird/store"
)

// A copy is what its base was, with a head of its own: kind C, the generation of
// the base, and where that has the epoch, by how many milliseconds the copy ends
// before the base would, so that what is left of the record's life can be told
// from the copy's. Its keeping is never prolonged beyond store.CopyLife.
//
// Copies have no epoch: it would be another server's, and clocks of different
// servers are not compared. Tombstones alone make them void, also for
// InvalidateAll. That whoever changes a key knows where to leave them is noted in
// its slot, by the script that reads what is to be copied: before a change it has
// been noted, or after it there is nothing to copy.

var _ store.Splitter[int] = (*Store[int])(nil)

var (
	copyLife    = milliseconds(store.CopyLife)
	dueToSpread = copyLife / 2 // a copy that has this left should be made again
	justSpread  = copyLife / 4 // and one that is younger than this not yet
)

// GetCopy is that of [store.Splitter]: one round trip, no script.
func (s *Store[V]) GetCopy(ctx context.Context, key string, i, n int) (store.Copy[V], error) {
	store.CheckCopy(i, n)
	if i == 0 {
		r, err := s.Get(ctx, key)
		return store.Copy[V]{Record: r}, err
	}
	void := s.tier.overdue.Has(key) || s.tier.debts.Has(key)
	c, err := s.getCopy(ctx, key, s.tier.namespace.copyOf(key, i, n))
	s.tier.tally.Call(tally.Copy, err)
	switch {
	case err != nil || void:
		return store.Copy[V]{}, err
	case c.Kind != store.Missing:
		s.tier.tally.CopiesFound.Add(1)
	}
	return c, nil
}

func (s *Store[V]) getCopy(ctx context.Context, key string, k keys) (c store.Copy[V], err error) {
	x, err := s.tier.begin(ctx, k.slot, s.tier.Timeout)
	if err != nil {
		return c, err
	}
	b := x.client.B()
	replies, err := x.do(askLife(b, k), b.Get().Key(k.value).Build()) // in this order, as for a base
	if err != nil {
		return c, err
	}
	pttl, err := replies[0].ToInt64()
	if err != nil {
		return c, refusal(err)
	}
	raw, err := replies[1].ToString()
	switch {
	case rueidis.IsRedisNil(err):
		return store.Copy[V]{Due: true}, nil
	case err != nil:
		return c, refusal(err)
	}
	return s.openCopy(key, raw, pttl), nil
}

// openCopy makes a copy of what is stored. What does not verify is missing.
func (s *Store[V]) openCopy(key, raw string, pttl int64) (c store.Copy[V]) {
	h, body, err := parseHead(raw)
	ahead := int64(h.epoch)
	switch {
	case err == nil && h.kind == kindTombstone:
		c.Generation = h.generation
	case err != nil:
		c.Record = s.damaged(err, 0)
	case h.kind != kindCopy || ahead > milliseconds(2*longest):
		c.Record = s.damaged(errDamaged, 0)
	case pttl < 0: // just going, or not ours
		c.Record = s.openBody(key, h, body, pttl, 0)
	default:
		c.Record = s.openBody(key, h, body, pttl+ahead, 0)
	}
	c.Due = c.Kind == store.Missing || pttl <= dueToSpread && ahead > 0
	return c
}

// Spread is that of [store.Splitter]: a script at the base and one at each copy.
func (s *Store[V]) Spread(ctx context.Context, key string, n int) error {
	store.CheckCopy(0, n)
	err := s.tier.spread(ctx, key, n)
	s.tier.tally.Call(tally.Spread, err)
	return err
}

func (t *tier) spread(ctx context.Context, key string, n int) error {
	began := time.Now()
	m, err := t.run(ctx, spreadScript, t.namespace.changeKeysOf(key), t.Timeout,
		strconv.Itoa(n), strconv.FormatInt(justSpread, 10))
	if err != nil {
		return err
	}
	args, err := putArgs(m, key, began)
	if err != nil || args == nil {
		return err
	}
	work := make([]job, n-1)
	for i := range work {
		work[i] = job{keys: t.namespace.copyOf(key, i+1, n), args: args}
	}
	replies, errs := t.runApart(ctx, putScript, work, t.WriteTimeout)
	for i := range work {
		if _, why := yes(replies[i], errs[i]); why != nil {
			err = why
		}
	}
	return err
}

// putArgs are what copies are made of, nil if there is nothing to copy. What the
// base has kept while the reply was on its way is taken off.
func putArgs(m rueidis.RedisMessage, key string, began time.Time) ([]string, error) {
	parts, err := m.ToArray()
	if err != nil || len(parts) != 0 && len(parts) != 2 {
		return nil, errNonsense
	}
	if len(parts) == 0 {
		return nil, nil
	}
	left, err := parts[0].ToInt64()
	if err != nil || left > milliseconds(2*longest) {
		return nil, errNonsense
	}
	raw, _, err := text(parts[1])
	if err != nil {
		return nil, err
	}
	h, body, err := parseHead(raw)
	if err == nil {
		_, err = parseBody(bytesOf(body), key)
	}
	left -= milliseconds(time.Since(began))
	if err != nil || left <= 0 { // damaged, as each reader of the base finds
		return nil, nil
	}
	kept := min(left, copyLife)
	return []string{
		strconv.FormatUint(uint64(h.generation), 10),
		strconv.FormatInt(left-kept, 10),
		strconv.FormatInt(kept, 10),
		body,
	}, nil
}
