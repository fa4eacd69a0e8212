package redisstore

import (
	"context"
	"strings"

	"github.com/redis/rueidis"

	"github.com/earlybird-cache/earlybird/internal/tally"
	"github.com/earlybird-cache/earlybird/store"
)

var _ store.Watcher[int] = (*Store[int])(nil)

// Notify is that of [store.Watcher].
func (s *Store[V]) Notify(changed func(key string), lost func()) {
	s.tier.watches.Notify(changed, lost)
}

// Unwatch is that of [store.Watcher].
func (s *Store[V]) Unwatch(key string) { s.tier.watches.Forget(key) }

// Watch is that of [store.Watcher]. It costs the server one command more than
// Get, and some 100 bytes until the key changes.
//
// The server tells on the connection that has read the key, this store's own
// changes included. What it tells is a key of its own, or that the connection
// was lost or the server emptied.
func (s *Store[V]) Watch(ctx context.Context, key string) (store.Record[V], bool, error) {
	t := s.tier
	if c := t.link.client.Load(); c == nil || !c.tracking {
		r, err := s.Get(ctx, key)
		return r, false, err
	}
	k := t.namespace.readKeysOf(key)
	w := t.watches.Begin(key, int(k.slot))
	if w == nil {
		r, err := s.Get(ctx, key)
		return r, false, err
	}
	void := t.overdue.Has(key)
	r, told, err := s.watch(ctx, key, k)
	t.tally.Call(tally.Get, err)
	if err != nil {
		t.watches.End(w, false, 0)
		return store.Record[V]{}, false, err
	}
	r = s.seen(r, void)
	return r, t.watches.End(w, told && r.Kind != store.Missing, r.Left+r.Grace), nil
}

// watch reads the key as Get does, and makes the server tell when the value or
// its slot's epoch changes. told is whether it will.
func (s *Store[V]) watch(ctx context.Context, key string, k keys) (r store.Record[V], told bool, err error) {
	t := s.tier
	elsewhere := t.link.elsewhere.Load()
	x, err := t.begin(ctx, k.slot, t.Timeout)
	if err != nil {
		return r, false, err
	}
	b := x.client.B()
	replies, err := x.do(
		askLife(b, k),
		b.ClientCaching().Yes().Build(), // is for the next command
		askValue(b, k),
	)
	if err != nil {
		return r, false, err
	}
	r, err = s.record(key, replies[0], replies[2])
	// A command that was sent on to another server was not tracked there.
	return r, replies[1].Error() == nil && elsewhere == t.link.elsewhere.Load(), err
}

// pushed is what the server says has changed; nil is that all may have, because a
// connection was lost or the server was emptied. It runs on the goroutine that
// reads replies.
func (t *tier) pushed(changed []rueidis.RedisMessage) {
	t.waiters.push(changed)
	if changed == nil {
		t.watches.Lost()
		return
	}
	for i := range changed {
		name, ok, _ := text(changed[i])
		if !ok {
			continue
		}
		if key, ok := t.namespace.userKeyOf(name); ok {
			t.watches.Changed(key)
		} else if slot, ok := t.namespace.slotOfEpoch(name); ok {
			t.watches.ChangedGroup(int(slot))
		}
	}
}

// moved is for the news that a slot is another server's now. More of them may
// have moved, of which the server that had them tells only while it follows.
func (t *tier) moved() { t.watches.Lost() }

// slotOfEpoch undoes epochOf.
func (n namespace) slotOfEpoch(name string) (slot uint16, ok bool) {
	tag, ok := strings.CutPrefix(name, n.epoch)
	if !ok || !strings.HasSuffix(tag, "}") {
		return 0, false
	}
	return crc16(tag[:len(tag)-1]) % slots, true
}
