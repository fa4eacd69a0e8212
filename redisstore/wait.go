package redisstore

import (
	"context"
	"sync"
	"time"

	"github.com/redis/rueidis"

	"github.com/earlybird-cache/earlybird/internal/tally"
	"github.com/earlybird-cache/earlybird/store"
)

// Wait is that of [store.Store]. It reads the key once more, in a way that makes
// the server tell when it changes, and sleeps until then. It looks again now and
// then all the same, because the server may forget to tell, as when the slot
// moves to another one.
func (s *Store[V]) Wait(ctx context.Context, key string, have store.Generation) error {
	t := s.tier
	k := t.namespace.keysOf(key)
	w := t.waiters.enter(k)
	defer t.waiters.leave(k, w)
	for looks := 0; ; looks++ {
		look, err := t.look(ctx, k, have)
		if err != nil || looks == 0 {
			t.tally.Call(tally.Wait, err)
		}
		if err != nil || look.enough {
			return err
		}
		pause := lookAgain
		if !look.told {
			pause = poll
		}
		told, err := w.sleep(ctx, t.ctx, min(jittered(pause), look.left))
		if err != nil || told {
			return err
		}
	}
}

const (
	lookAgain = 200 * time.Millisecond // where the server tells
	poll      = 15 * time.Millisecond  // where it does not
)

// looked is what a waiter sees.
type looked struct {
	enough bool          // there is nothing to wait for
	told   bool          // the server will tell what changes
	left   time.Duration // of the lease
}

func (t *tier) look(ctx context.Context, k keys, have store.Generation) (looked, error) {
	x, err := t.begin(ctx, k.slot, t.Timeout)
	if err != nil {
		return looked{}, err
	}
	b := x.client.B()
	commands := []rueidis.Completed{
		b.ClientCaching().Yes().Build(),
		b.Mget().Key(k.value, k.lease, k.epoch).Build(),
		b.Pttl().Key(k.lease).Build(),
	}
	if !x.client.tracking {
		commands = commands[1:]
	}
	replies, err := x.do(commands...)
	if err != nil {
		return looked{}, err
	}
	l := looked{told: x.client.tracking && replies[0].Error() == nil}
	replies = replies[len(replies)-2:]
	found, err := replies[0].ToArray()
	if err != nil {
		return l, refusal(err)
	}
	left, err := replies[1].ToInt64()
	if err != nil {
		return l, refusal(err)
	}
	if len(found) != 3 {
		return l, errNonsense
	}
	l.left = max(time.Duration(min(left, 1<<40))*time.Millisecond, time.Millisecond)
	l.enough = left < 0 || enough(found, have)
	return l, nil
}

// enough reports whether a value, a lease and an epoch leave nothing to wait for.
func enough(found []rueidis.RedisMessage, have store.Generation) bool {
	value, _, _ := text(found[0])
	lease, _, _ := text(found[1])
	epoch, _ := epochOf(found[2])
	if h, _, err := parseHead(value); err == nil && h.kind == kindFrame && h.epoch == epoch && h.generation > have {
		return true
	}
	return !isHeld(lease, epoch)
}

// isHeld reports whether somebody is loading under the lease. Its format is that
// of the scripts: L, or C while cooling down, a stamp, and the token.
func isHeld(lease string, epoch uint64) bool {
	if len(lease) < 33 || lease[0] != 'L' {
		return false
	}
	of, ok := checked(lease[9:], lease[25:])
	return ok && of == epoch
}

// waiters are those who wait for keys of the server to change.
type waiters struct {
	mu sync.Mutex
	of map[string]map[*waiter]struct{}
}

// waiter is one of them.
type waiter struct{ woken chan struct{} }

func (k keys) all() [3]string { return [...]string{k.value, k.lease, k.epoch} }

func (w *waiters) enter(k keys) *waiter {
	x := &waiter{woken: make(chan struct{}, 1)}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, key := range k.all() {
		if w.of[key] == nil {
			w.of[key] = make(map[*waiter]struct{})
		}
		w.of[key][x] = struct{}{}
	}
	return x
}

func (w *waiters) leave(k keys, x *waiter) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, key := range k.all() {
		if delete(w.of[key], x); len(w.of[key]) == 0 {
			delete(w.of, key)
		}
	}
}

// push is what the server says has changed; nil is that all may have, because a
// connection was lost or the server was emptied. It runs on the goroutine that
// reads replies.
func (w *waiters) push(changed []rueidis.RedisMessage) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if changed == nil {
		for _, xs := range w.of {
			wake(xs)
		}
		return
	}
	for i := range changed {
		if key, ok, _ := text(changed[i]); ok {
			wake(w.of[key])
		}
	}
}

func wake(xs map[*waiter]struct{}) {
	for x := range xs {
		select {
		case x.woken <- struct{}{}:
		default:
		}
	}
}

// sleep reports whether the waiter was woken within d.
func (w *waiter) sleep(ctx, closing context.Context, d time.Duration) (bool, error) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-w.woken:
		if closing.Err() != nil {
			return false, store.ErrClosed
		}
		return true, nil
	case <-t.C:
		return false, nil
	case <-ctx.Done():
		return false, ctx.Err()
	case <-closing.Done():
		return false, store.ErrClosed
	}
}
