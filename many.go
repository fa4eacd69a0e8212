package earlybird

import (
	"context"
	"slices"
)

// GetMany is Get for several keys at once. It returns the values that were
// found, under the keys as they were given, and a *[ManyError] with the error
// of each other key, or nil if there is none.
//
// Keys whose loads are under way are joined; the rest are loaded by one call
// of Options.LoadMany, or, without that, by one loader call each. A key that is
// given twice is asked for once.
func (c *Cache[V]) GetMany(ctx context.Context, keys []string) (map[string]V, error) {
	b := batch[V]{cache: c, found: make(map[string]V, len(keys))}
	now, epoch, hits := c.clock.coarse.now(), c.fence.epoch.Load(), 0
	for _, given := range keys {
		key := c.canon(given)
		e := c.near(key)
		if e != nil && e.isQuiet(now, epoch) {
			n := len(b.found)
			b.found[given] = c.out(e.value)
			hits += len(b.found) - n
			c.opts.HotKeys.Touch(key)
			continue
		}
		b.look(ctx, given, key, e)
	}
	c.hits(hits)
	c.refreshMany(ctx, false, b.elected)
	c.refreshMany(ctx, true, b.renewed)
	for len(b.missing) > 0 {
		b.fetch(ctx)
	}
	if len(b.errors) > 0 {
		return b.found, &ManyError{Errors: b.errors, nested: errandOf(ctx) != nil}
	}
	return b.found, nil
}

// batch is a GetMany on its way.
type batch[V any] struct {
	cache   *Cache[V]
	found   map[string]V
	errors  map[string]error
	elected []election[V]
	renewed []election[V] // elected, but only to have the shared tier asked
	missing []missing[V]
	told    bool                // the shared tier has been asked, and those still missing are not in it
	asked   map[string]struct{} // keys in missing
}

// missing is a key that is to be loaded, and its place on a flight.
type missing[V any] struct {
	given, key string
	seat       seat[V]
}

// look does for one key what can be done without the origin.
func (b *batch[V]) look(ctx context.Context, given, key string, e *entry[V]) {
	if b.knows(given) {
		return
	}
	a := b.cache.look(ctx, key, e)
	switch {
	case a.renews:
		b.renewed = append(b.renewed, election[V]{key, a.elected})
	case a.elected != nil:
		b.elected = append(b.elected, election[V]{key, a.elected})
	}
	if !a.missing {
		b.put(given, a.Result, a.err)
		return
	}
	if b.asked == nil {
		b.asked = make(map[string]struct{})
	}
	b.asked[given] = struct{}{}
	b.missing = append(b.missing, missing[V]{given: given, key: key})
}

// knows reports whether given came before.
func (b *batch[V]) knows(given string) bool {
	if _, ok := b.found[given]; ok {
		return true
	}
	if _, ok := b.errors[given]; ok {
		return true
	}
	_, ok := b.asked[given]
	return ok
}

func (b *batch[V]) put(given string, r Result[V], err error) {
	if err == nil {
		b.found[given] = r.Value
		return
	}
	if b.errors == nil {
		b.errors = make(map[string]error)
	}
	b.errors[given] = err
}

// fetch joins the flights of the missing keys or leads them, and waits. Those that
// land without an answer are missing still, and the next time around they are
// loads of their own.
func (b *batch[V]) fetch(ctx context.Context) {
	c := b.cache
	if err := ctx.Err(); err != nil {
		for _, m := range b.missing {
			_, err := c.end(left, err)
			b.put(m.given, Result[V]{}, err)
		}
		b.missing = nil
		return
	}
	for _, l := range b.join(ctx) {
		if len(l.flights) > 0 {
			c.launch(l)
		}
	}
	b.await(ctx)
}

// join takes seats on the flights of the missing keys, and returns the loads of
// those it leads. A key that is refused a seat is missing no more.
func (b *batch[V]) join(ctx context.Context) (loads []*load[V]) {
	c, seated := b.cache, b.missing[:0]
	together := !b.told && (c.opts.LoadMany != nil || c.tier != nil)
	for _, m := range b.missing {
		if len(loads) == 0 || !together {
			l := c.newLoad(ctx, errandOf(ctx))
			l.many, l.told = together, b.told
			loads = append(loads, l)
		}
		seat, err := c.flights.join(loads[len(loads)-1].newFlight(m.key, nil))
		if err != nil {
			_, err = c.refuse(err)
			b.put(m.given, Result[V]{}, err)
			continue
		}
		c.urge(seat)
		m.seat = seat
		seated = append(seated, m)
	}
	b.missing = seated
	return loads
}

// await waits for the flights of the missing keys, one after the other. Each
// seat is given up as soon as its flight has landed, and all of them should a
// Clone panic.
func (b *batch[V]) await(ctx context.Context) {
	c, rest := b.cache, b.missing
	b.missing, b.told = nil, true
	defer func() {
		for _, m := range rest {
			c.flights.leave(m.seat)
		}
	}()
	for len(rest) > 0 {
		m := rest[0]
		r, err := c.await(ctx, m.seat)
		rest = rest[1:]
		c.flights.leave(m.seat)
		if err == errAgain {
			b.missing = append(b.missing, m)
			continue
		}
		b.put(m.given, r, err)
	}
}

// refreshMany refreshes what a GetMany was elected to, in one batch if it can. Hot
// keys are asked about one by one, for the tier to tell of their changes.
func (c *Cache[V]) refreshMany(ctx context.Context, renews bool, elected []election[V]) {
	if renews && c.hot != nil {
		elected = slices.DeleteFunc(elected, func(e election[V]) (isHot bool) {
			if isHot = c.hot.isWatchable(e.key); isHot {
				c.refresh(ctx, true, e)
			}
			return isHot
		})
	}
	switch {
	case len(elected) == 0:
	case renews || c.opts.LoadMany != nil:
		c.refresh(ctx, renews, elected...)
	default:
		for _, e := range elected {
			c.refresh(ctx, false, e)
		}
	}
}
