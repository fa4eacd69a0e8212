package model

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/earlybird-cache/earlybird/store"
)

// Question is one call of a cache to the tier.
type Question struct {
	Span
	Cache  int
	Method string // of store.Store
	Keys   []string

	Told       store.Record[Value] // by Publish and Set
	Lease      store.Lease         // that Publish used, and Fail
	Found      []store.Record[Value]
	Claim      store.Claim[Value]
	Generation store.Generation // that Set was told
	Err        error
}

// failed reports whether the tier was not reached, or did not answer.
func (q *Question) failed() bool {
	if q.Method == "Wait" { // may end with its context
		return isOutage(q.Err)
	}
	return q.Err != nil && !errors.Is(q.Err, store.ErrLost)
}

// asks reports whether it is about what the tier holds, or its leave to load.
func (q *Question) asks() bool {
	return q.Method == "Get" || q.Method == "GetMany" || q.Method == "Acquire"
}

// Trouble is what befell the tier, or a client's way to it.
type Trouble struct {
	Stamp
	Verb  Verb
	Cache int
	Keys  []string
}

func (h *History) beginQuestion(q *Question) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.Questions = append(h.Questions, q)
	q.Start = h.stampLocked()
}

func (h *History) trouble(t Trouble) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t.Stamp = h.stampLocked()
	h.Troubles = append(h.Troubles, t)
}

// witness writes down what a cache asks the tier.
type witness struct {
	store.Store[Value]
	cache   int
	history *History
}

// ask writes down a call, whose answer f fills in.
func (w *witness) ask(method string, keys []string, f func(*Question)) *Question {
	q := &Question{Cache: w.cache, Method: method, Keys: keys}
	w.history.beginQuestion(q)
	a := *q
	f(&a)
	w.history.end(&q.Span, func() { a.Span, *q = q.Span, a })
	return q
}

func (w *witness) Get(ctx context.Context, key string) (store.Record[Value], error) {
	q := w.ask("Get", []string{key}, func(q *Question) {
		q.Found = make([]store.Record[Value], 1)
		q.Found[0], q.Err = w.Store.Get(ctx, key)
	})
	return q.Found[0], q.Err
}

func (w *witness) GetMany(ctx context.Context, keys []string) (replies []store.Reply[Value]) {
	w.ask("GetMany", append([]string(nil), keys...), func(q *Question) {
		replies = w.Store.GetMany(ctx, keys)
		for _, r := range replies {
			q.Found = append(q.Found, r.Record)
			q.Err = r.Err // a Memory has one for all
		}
	})
	return replies
}

func (w *witness) Acquire(ctx context.Context, key string, have store.Generation, life time.Duration) (store.Claim[Value], error) {
	q := w.ask("Acquire", []string{key}, func(q *Question) {
		q.Claim, q.Err = w.Store.Acquire(ctx, key, have, life)
		if q.Claim.Outcome == store.Found {
			q.Found = []store.Record[Value]{q.Claim.Record}
		}
	})
	return q.Claim, q.Err
}

func (w *witness) Publish(ctx context.Context, l store.Lease, r store.Record[Value]) error {
	return w.ask("Publish", []string{l.Key}, func(q *Question) {
		q.Lease, q.Told = l, r
		q.Err = w.Store.Publish(ctx, l, r)
	}).Err
}

func (w *witness) Set(ctx context.Context, key string, r store.Record[Value]) (store.Generation, error) {
	q := w.ask("Set", []string{key}, func(q *Question) {
		q.Told = r
		q.Generation, q.Err = w.Store.Set(ctx, key, r)
	})
	return q.Generation, q.Err
}

func (w *witness) Wait(ctx context.Context, key string, have store.Generation) error {
	return w.ask("Wait", []string{key}, func(q *Question) { q.Err = w.Store.Wait(ctx, key, have) }).Err
}

func (w *witness) Fail(ctx context.Context, l store.Lease, coolDown time.Duration) error {
	return w.ask("Fail", []string{l.Key}, func(q *Question) {
		q.Lease = l
		q.Err = w.Store.Fail(ctx, l, coolDown)
	}).Err
}

func (w *witness) Invalidate(ctx context.Context, keys ...string) error {
	return w.ask("Invalidate", keys, func(q *Question) { q.Err = w.Store.Invalidate(ctx, keys...) }).Err
}

func (w *witness) InvalidateAll(ctx context.Context) error {
	return w.ask("InvalidateAll", nil, func(q *Question) { q.Err = w.Store.InvalidateAll(ctx) }).Err
}

func (q *Question) String() string {
	return fmt.Sprintf("cache %d: %s %s", q.Cache, q.Method, strings.Join(q.Keys, " "))
}

func (q *Question) outcome() string {
	var b strings.Builder
	switch {
	case q.Err != nil:
		return q.Err.Error()
	case q.Method == "Acquire":
		fmt.Fprintf(&b, "%v %s ", q.Claim.Outcome, q.Claim.Lease.Token)
		if q.Claim.Outcome == store.Busy {
			fmt.Fprintf(&b, "for %v, cooling %v ", q.Claim.Left, q.Claim.Cooling)
		}
	case q.Told.Kind != store.Missing:
		fmt.Fprintf(&b, "told %v %v ", q.Told.Kind, q.Told.Value)
	}
	if g := max(q.Generation, q.Lease.Generation); g > 0 {
		fmt.Fprintf(&b, "generation %d %s ", g, q.Lease.Token)
	}
	for _, r := range q.Found {
		fmt.Fprintf(&b, "[%v %v generation %d left %v] ", r.Kind, r.Value, r.Generation, r.Left)
	}
	return b.String()
}
