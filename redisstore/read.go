package redisstore

import (
	"context"
	"errors"
	"strconv"
	"unsafe"

	"github.com/redis/rueidis"

	"github.com/earlybird-cache/earlybird/internal/tally"
	"github.com/earlybird-cache/earlybird/store"
)

// batch is how many keys go into one write, of those of a call with many.
const batch = 256

// Get is that of [store.Store]: one round trip, no script.
func (s *Store[V]) Get(ctx context.Context, key string) (store.Record[V], error) {
	void := s.tier.overdue.Has(key)
	k := s.tier.namespace.readKeysOf(key)
	r, err := s.get(ctx, key, k)
	s.tier.tally.Call(tally.Get, err)
	if err != nil {
		return store.Record[V]{}, err
	}
	return s.seen(r, void), nil
}

func (s *Store[V]) get(ctx context.Context, key string, k keys) (store.Record[V], error) {
	x, err := s.tier.begin(ctx, k.slot, s.tier.Timeout)
	if err != nil {
		return store.Record[V]{}, err
	}
	b := x.client.B()
	replies, err := x.do(askLife(b, k), askValue(b, k))
	if err != nil {
		return store.Record[V]{}, err
	}
	return s.record(key, replies[0], replies[1])
}

// A value is read by two commands, in this order. The other way round the life
// could be that of a newer value than the one read. No script: it would cost the
// server several times as much.
func askLife(b rueidis.Builder, k keys) rueidis.Completed {
	return b.Pttl().Key(k.value).Build()
}

func askValue(b rueidis.Builder, k keys) rueidis.Completed {
	return b.Mget().Key(k.value, k.epoch).Build()
}

// seen counts what was found, and hides it if it is to be forgotten.
func (s *Store[V]) seen(r store.Record[V], void bool) store.Record[V] {
	if void {
		r = store.Record[V]{Generation: store.MaxGeneration}
	}
	s.tier.tally.Read(r.Kind)
	return r
}

// record makes a record of the replies to the two commands.
func (s *Store[V]) record(key string, life, value rueidis.RedisResult) (r store.Record[V], err error) {
	pttl, err := life.ToInt64()
	if err != nil {
		return r, refusal(err)
	}
	found, err := value.ToArray()
	if err != nil {
		return r, refusal(err)
	}
	if len(found) != 2 {
		return r, errNonsense
	}
	raw, ok, err := text(found[0])
	if err != nil {
		return r, err
	}
	epoch, err := epochOf(found[1])
	if err != nil {
		return r, err
	}
	if !ok {
		return store.Record[V]{Generation: store.Generation(epoch)}, nil
	}
	return s.open(key, raw, pttl, epoch), nil
}

// text returns a string reply; false for nil.
func text(m rueidis.RedisMessage) (string, bool, error) {
	s, err := m.ToString()
	if rueidis.IsRedisNil(err) {
		return "", false, nil
	}
	return s, err == nil, refusal(err)
}

// epochOf reads the epoch of a slot. One that makes no sense is none: then
// nothing in the slot counts, until somebody gives it a new one.
func epochOf(m rueidis.RedisMessage) (uint64, error) {
	s, _, err := text(m)
	n, bad := strconv.ParseUint(s, 10, 64)
	if bad != nil || n >= mostGeneration {
		n = 0
	}
	return n, err
}

// open makes a record of what is stored. What does not verify is a miss.
func (s *Store[V]) open(key, raw string, pttl int64, epoch uint64) store.Record[V] {
	h, body, err := parseHead(raw)
	if err == nil && h.kind == kindCopy {
		err = errDamaged
	}
	if err != nil {
		return s.damaged(err, store.Generation(epoch))
	}
	void := max(h.generation, store.Generation(epoch))
	if h.kind == kindTombstone || h.epoch != epoch {
		return store.Record[V]{Generation: void}
	}
	return s.openBody(key, h, body, pttl, store.Generation(epoch))
}

// openBody makes a record of what follows a head.
func (s *Store[V]) openBody(key string, h head, body string, pttl int64, void store.Generation) store.Record[V] {
	f, err := parseBody(bytesOf(body), key)
	if err == nil && pttl == -1 { // no longer ours: it would never end
		err = errDamaged
	}
	r := store.Record[V]{Kind: store.Absent, Generation: h.generation, Delta: f.delta, Cost: f.cost}
	if err == nil && f.flags&flagAbsent == 0 {
		r.Kind = store.Value
		r.Value, err = s.decode(f)
	}
	if err != nil {
		return s.damaged(err, void)
	}
	r.Life, r.Grace, r.Left = f.life, f.grace, f.left(pttl)
	return r
}

// damaged is a miss that is counted.
func (s *Store[V]) damaged(err error, void store.Generation) store.Record[V] {
	s.tier.tally.Damaged.Add(1)
	if errors.Is(err, errForeign) {
		s.tier.tally.Foreign.Add(1)
	}
	return store.Record[V]{Generation: void}
}

// bytesOf returns the bytes of s without copying. The client library made s for
// this reply alone.
func bytesOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

func stringOf(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
