package earlybird

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/earlybird-cache/earlybird/hotkeys"
	"github.com/earlybird-cache/earlybird/l1"
	"github.com/earlybird-cache/earlybird/memstore"
	"github.com/earlybird-cache/earlybird/store"
	"github.com/earlybird-cache/earlybird/xfetch"
)

// hot are the keys that are read so much that their copies deserve more than
// others': the shared tier tells when they change, and where nothing else has a
// copy near, they do. A nil *hot has none.
//
// Who is hot is looked up about twice a second by whoever comes by; nothing runs.
type hot[V any] struct {
	cache   *Cache[V]
	rule    hotkeys.Hysteresis
	watcher store.Watcher[V]    // nil: the tier does not tell
	copies  *l1.Tier[*entry[V]] // nil: they lie near, with all others

	next atomic.Int64 // when to look again
	mu   sync.RWMutex
	keys map[string]*hotKey

	// How often the tier has told that a key has changed, or that any may have.
	// Keys share marks; what was asked for before such a message and comes after
	// it is not believed for long.
	marks  [1 << 10]atomic.Uint32
	losses atomic.Uint32
}

// hotKey is what is known of one.
type hotKey struct {
	standing hotkeys.Standing
	since    time.Time
	watched  atomic.Bool // its latest copy is
}

const (
	mostHot     = 1024
	hotSweep    = 500 * time.Millisecond
	changeGrace = 20 * time.Millisecond // to ask again for what has changed, before readers wait for that
)

func newHot[V any](c *Cache[V]) (*hot[V], error) {
	if c.tier == nil || c.opts.HotTTL < 0 {
		return nil, nil
	}
	h := &hot[V]{cache: c, keys: make(map[string]*hotKey)}
	h.rule.Threshold = c.opts.HotKeys.Threshold()
	h.next.Store(never)
	if w, ok := c.opts.Store.(store.Watcher[V]); ok {
		h.watcher = w
		w.Notify(h.changed, h.lost)
	}
	if c.opts.NearTTL < 0 {
		copies, err := l1.New[*entry[V]](l1.Options{MaxKeys: mostHot})
		if err != nil {
			return nil, err
		}
		h.copies = copies
	}
	return h, nil
}

// mind looks who is hot, if it is time to.
func (h *hot[V]) mind(now int64) {
	if h == nil {
		return
	}
	next := h.next.Load()
	if now < next || !h.next.CompareAndSwap(next, satAdd(now, int64(hotSweep))) || !h.cache.life.begin() {
		return
	}
	go func() {
		defer h.cache.life.end()
		h.sweep(now)
	}()
}

// sweep looks who is hot.
func (h *hot[V]) sweep(now int64) {
	threshold := h.rule.Threshold
	rates := make(map[string]float64)
	for _, k := range h.cache.opts.HotKeys.Above(threshold / 3) {
		rates[k.Key] = k.Lower
	}
	for _, key := range h.update(rates, time.Duration(now)) {
		h.promote(key, now)
	}
}

// update moves every key to the standing that its rate gives it, and returns those
// that have become hot.
func (h *hot[V]) update(rates map[string]float64, now time.Duration) (promoted []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for key, k := range h.keys {
		if k.standing = h.rule.Next(k.standing, rates[key], now); !k.standing.Hot {
			delete(h.keys, key)
			h.demote(key)
		}
		delete(rates, key)
	}
	for key, rate := range rates {
		s := h.rule.Next(hotkeys.Standing{}, rate, now)
		if s.Hot && len(h.keys) < mostHot {
			h.keys[key] = &hotKey{standing: s, since: time.Now()}
			promoted = append(promoted, key)
		}
	}
	return promoted
}

// promote has the tier asked about key's copy near, which makes it a watched one.
func (h *hot[V]) promote(key string, now int64) {
	if e := h.cache.alive(key); e != nil && e.isFresh(now) {
		h.renew(key, e, now)
	}
}

func (h *hot[V]) renew(key string, e *entry[V], now int64) {
	if e.elect(now, satAdd(now, h.cache.leaseLife())) {
		h.cache.refresh(context.Background(), true, election[V]{key, e})
	}
}

func (h *hot[V]) demote(key string) {
	if h.watcher != nil {
		h.watcher.Unwatch(key)
	}
	h.copies.Delete(key)
}

// of returns what is known of key if it is hot, or nil.
func (h *hot[V]) of(key string) *hotKey {
	if h == nil {
		return nil
	}
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.keys[key]
}

// find returns the copy of key that is kept because it is hot, or nil.
func (h *hot[V]) find(key string, now int64) *entry[V] {
	if h == nil || h.copies == nil {
		return nil
	}
	if e, ok := h.copies.Get(key, now); ok && e.alive(h.cache.fence.epoch.Load()) && e.isFresh(now) {
		return e
	}
	return nil
}

// sight is what was known of a key's changes when the tier was asked about it.
type sight struct {
	key     *hotKey // nil: it was asked as about any key
	watched bool    // it will tell of changes
	mark    mark
}

type mark struct{ changes, losses uint32 }

func (h *hot[V]) mark(key string) mark {
	return mark{h.markOf(key).Load(), h.losses.Load()}
}

func (h *hot[V]) markOf(key string) *atomic.Uint32 {
	return &h.marks[h.cache.fence.index(key)%uint64(len(h.marks))]
}

// watch asks the tier about f's key, which is hot, and for word when it changes.
func (h *hot[V]) watch(ctx context.Context, f *flight[V], k *hotKey) (r store.Reply[V]) {
	f.sight = sight{key: k, mark: h.mark(f.key)}
	t := h.cache.tier
	r.Err = t.call(f.key, func() (err error) {
		if h.watcher == nil {
			r.Record, err = t.store.Get(ctx, f.key)
			return err
		}
		r.Record, f.sight.watched, err = h.watcher.Watch(ctx, f.key)
		return err
	})
	return r
}

// copyLife draws how long what the tier has said of f's key is believed.
func (c *Cache[V]) copyLife(f *flight[V]) int64 {
	if f.sight.key == nil || !f.sight.watched && c.opts.NearTTL > 0 {
		return c.nearLife(false)
	}
	return int64(xfetch.Life(c.opts.HotTTL, c.jitter(), c.opts.Rand()))
}

// holds reports whether no change of f's key was told since the tier was asked. It
// is asked where the copy is put in its place.
func (h *hot[V]) holds(f *flight[V]) bool {
	k := f.sight.key
	if k == nil {
		return true
	}
	ok := h.mark(f.key) == f.sight.mark
	k.watched.Store(ok && f.sight.watched)
	return ok
}

// keep keeps e, which lies nowhere else, if f's key is hot.
func (h *hot[V]) keep(f *flight[V], e *entry[V]) {
	if f.sight.key == nil {
		return
	}
	h.copies.PutIf(f.key, e, uint64(e.generation()), e.sharing().due.Load(), func() bool {
		return h.holds(f) && f.pass.holds()
	})
}

// drop forgets key's copy.
func (h *hot[V]) drop(key string) {
	if h != nil {
		h.copies.Delete(key)
	}
}

// clear forgets all copies.
func (h *hot[V]) clear() {
	if h != nil {
		h.copies.Clear()
	}
}

func (h *hot[V]) close() {
	if h != nil {
		h.copies.Close()
	}
}

// changed is the tier's word that key has changed. A copy near is served for a
// moment longer, while the tier is asked what there is now.
func (h *hot[V]) changed(key string) {
	h.markOf(key).Add(1)
	h.copies.Delete(key)
	now := h.cache.clock.now()
	var e *entry[V]
	h.cache.values.Update(key, func(near *entry[V], ok bool) (*entry[V], memstore.Op) {
		if ok && near.sharing() != nil && near.generation() != pending {
			e = near
			e.outdate(satAdd(now, int64(changeGrace)))
		}
		return nil, memstore.Keep
	})
	if e != nil && h.of(key) != nil {
		h.renew(key, e, now)
	}
}

// lost is the tier's word that it may have failed to tell of a change.
func (h *hot[V]) lost() {
	h.losses.Add(1)
	h.clear()
	h.mu.RLock()
	defer h.mu.RUnlock()
	for key, k := range h.keys {
		k.watched.Store(false)
		if e := h.cache.alive(key); e != nil && e.sharing() != nil {
			e.doubt()
		}
	}
}
