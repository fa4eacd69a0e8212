package earlybird

import (
	"context"
	"hash/maphash"
	"sync/atomic"
	"time"

	"github.com/earlybird-cache/earlybird/hotkeys"
	"github.com/earlybird-cache/earlybird/l1"
	"github.com/earlybird-cache/earlybird/memstore"
	"github.com/earlybird-cache/earlybird/store"
	"github.com/earlybird-cache/earlybird/xfetch"
)

// hot are the keys that are read so much that more is done for them than for
// others. The shared tier tells when one is changed, so that its copy near goes at
// once; with NearTTL off, it alone has a copy near; and if that is not enough, the
// tier keeps several copies. A nil *hot has no such keys.
//
// Who is hot is looked up a few times a second by whoever comes by; nothing runs.
type hot[V any] struct {
	cache    *Cache[V]
	plan     *hotkeys.Plan
	watcher  store.Watcher[V]    // nil: the tier does not tell
	splitter store.Splitter[V]   // nil: it keeps no copies
	copies   *l1.Tier[*entry[V]] // nil: they lie near, like all others

	next atomic.Int64 // when to look again

	// How often the tier has told that a key has changed, or that any may have.
	// Keys share marks; what was asked for before such a word and comes after it
	// is not believed.
	marks  [1 << 10]atomic.Uint32
	losses atomic.Uint32
}

const (
	hotSweep = 250 * time.Millisecond

	// changeGrace is how long a copy near outlives the word that its key has
	// changed, so that it can be replaced before a reader waits for it.
	changeGrace = 20 * time.Millisecond
)

func newHot[V any](c *Cache[V]) (*hot[V], error) {
	if c.tier == nil || c.opts.HotKeys == nil {
		return nil, nil
	}
	plan, err := hotkeys.NewPlan(c.opts.Hot)
	if err != nil {
		return nil, &OptionError{Field: "Hot", Value: c.opts.Hot, Reason: err.Error()}
	}
	h := &hot[V]{cache: c, plan: plan}
	h.next.Store(never)
	h.splitter, _ = c.opts.Store.(store.Splitter[V])
	if c.opts.NearTTL < 0 && c.opts.Hot.Life > 0 {
		if h.copies, err = l1.New[*entry[V]](l1.Options{}); err != nil {
			return nil, err
		}
	}
	keeps := c.opts.NearTTL > 0 || h.copies != nil
	if w, ok := c.opts.Store.(store.Watcher[V]); ok && keeps { // else there is nothing to take away
		h.watcher = w
		w.Notify(h.changed, h.lost)
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

func (h *hot[V]) sweep(now int64) {
	listed := h.cache.opts.HotKeys.Above(h.plan.Floor())
	for _, k := range h.plan.Update(time.Duration(now), listed, h.cache.instances()) {
		switch k.State {
		case hotkeys.Promoted:
			h.promote(k.Key, now)
		case hotkeys.Cold:
			h.demote(k.Key)
		}
	}
}

// instances is about how many caches are read as this one is.
func (c *Cache[V]) instances() int {
	switch {
	case c.opts.Instances > 0:
		return c.opts.Instances
	case c.bus == nil:
		return 1
	}
	return max(c.bus.Listeners(), 1)
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
	h.copies.Demote(key)
}

// isHot reports whether key is hot.
func (h *hot[V]) isHot(key string) bool {
	if h == nil {
		return false
	}
	s, _ := h.plan.State(key)
	return s != hotkeys.Cold
}

// find returns the copy that is near because key is hot, or nil.
func (h *hot[V]) find(key string, now int64) *entry[V] {
	if h == nil || h.copies == nil {
		return nil
	}
	if e, ok := h.copies.Get(key, now); ok && e.alive(h.cache.fence.epoch.Load()) && e.isFresh(now) {
		return e
	}
	return nil
}

// sight is how the tier was asked about a hot key. The zero value is any key's.
type sight struct {
	hot     bool
	found   bool // there was a record
	watched bool // the tier will tell of changes
	mark    mark // what it had told before
}

type mark struct{ changes, losses uint32 }

func (h *hot[V]) mark(key string) mark {
	return mark{h.markOf(key).Load(), h.losses.Load()}
}

func (h *hot[V]) markOf(key string) *atomic.Uint32 {
	return &h.marks[maphash.String(h.cache.fence.seed, key)%uint64(len(h.marks))]
}

// ask asks the tier about f's key, if that is hot.
func (h *hot[V]) ask(ctx context.Context, f *flight[V]) (r store.Reply[V], isHot bool) {
	if h == nil {
		return r, false
	}
	state, n := h.plan.State(f.key)
	if state == hotkeys.Cold {
		return r, false
	}
	f.sight = sight{hot: true, mark: h.mark(f.key)}
	r.Err = h.cache.tier.call(f.key, func() (err error) {
		if i := h.copyFor(n); i > 0 {
			r.Record, err = h.askCopy(ctx, f.key, i, n)
			return err
		}
		r.Record, f.sight.watched, err = h.askBase(ctx, f.key)
		return err
	})
	f.sight.found = r.Kind == store.Value
	return r, true
}

// isWatchable reports whether the tier, asked about key, would tell of its changes.
// What comes of a load or a change of this cache's own, or of another's that was
// waited for, has not been asked for in that way, and is to be once it is near.
func (h *hot[V]) isWatchable(key string) bool { return h != nil && h.watcher != nil && h.isHot(key) }

// isUnwatched reports whether that holds for what f has found.
func (h *hot[V]) isUnwatched(f *flight[V]) bool { return !f.sight.found && h.isWatchable(f.key) }

func (h *hot[V]) askBase(ctx context.Context, key string) (store.Record[V], bool, error) {
	if h.watcher == nil {
		r, err := h.cache.tier.store.Get(ctx, key)
		return r, false, err
	}
	return h.watcher.Watch(ctx, key)
}

// askCopy asks copy i of n, and the base if there is none. Copies that are missing
// or soon will be are made anew.
func (h *hot[V]) askCopy(ctx context.Context, key string, i, n int) (store.Record[V], error) {
	t := h.cache.tier
	c, err := h.splitter.GetCopy(ctx, key, i, n)
	if err == nil && c.Due {
		t.said.Go(func() {
			_ = t.call(key, func() error { return h.splitter.Spread(context.Background(), key, n) })
		})
	}
	if err == nil && c.Kind != store.Missing {
		return c.Record, nil
	}
	return t.store.Get(ctx, key)
}

// copyFor draws which of n copies of a key is read.
func (h *hot[V]) copyFor(n int) int {
	if h.splitter == nil || n < 2 {
		return 0
	}
	return hotkeys.CopyFor(h.cache.opts.Rand(), n)
}

// copyLife draws how long what the tier has said of f's key is believed.
func (c *Cache[V]) copyLife(f *flight[V]) int64 {
	life := max(c.opts.NearTTL, 0)
	if f.sight.watched || f.sight.hot && life == 0 {
		life = max(life, c.opts.Hot.Life)
	}
	return int64(xfetch.Life(life, c.jitter(), c.opts.Rand()))
}

// holds reports whether no change of f's key was told since the tier was asked. It
// is called where the copy is put in its place.
func (h *hot[V]) holds(f *flight[V]) bool {
	return !f.sight.hot || h.mark(f.key) == f.sight.mark
}

// keep keeps e, which lies nowhere else, if f's key is hot.
func (h *hot[V]) keep(f *flight[V], e *entry[V]) {
	if f.sight.hot {
		h.copies.PutIf(f.key, e, uint64(e.generation()), e.sharing().due.Load(), func() bool {
			return h.holds(f) && f.pass.holds()
		})
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
	if e != nil && h.isHot(key) {
		h.renew(key, e, now)
	}
}

// lost is the tier's word that it may have failed to tell of a change.
func (h *hot[V]) lost() {
	h.losses.Add(1)
	h.copies.Void()
	for _, k := range h.plan.Hot() {
		if e := h.cache.alive(k.Key); e != nil && e.sharing() != nil {
			e.doubt()
		}
	}
}

// dropOlder forgets the copy of key that is near because it is hot if that is older
// than g.
func (h *hot[V]) dropOlder(key string, g store.Generation) {
	if h == nil || h.copies == nil {
		return
	}
	if e, ok := h.copies.Get(key, never); ok && e.generation() < g {
		h.copies.Delete(key)
	}
}

// drop forgets the copy of key that is near because it is hot.
func (h *hot[V]) drop(key string) {
	if h != nil {
		h.copies.Delete(key)
	}
}

// clear forgets all such copies.
func (h *hot[V]) clear() {
	if h != nil {
		h.copies.Void()
	}
}

func (h *hot[V]) close() {
	if h != nil {
		h.copies.Close()
	}
}

// HotKey is a key for which more is done than for others because it is read so
// much.
type HotKey struct {
	hotkeys.Hot
	Watched bool // the shared tier tells this cache when the key is changed
}

// Hot lists the keys for which more is done than for others, the most read first:
// none without Options.Store. Keys are redacted if the HotKeys tracker's options
// say so.
func (c *Cache[V]) Hot() []HotKey {
	if c.hot == nil {
		return nil
	}
	plan := c.hot.plan.Hot()
	now := c.clock.now()
	list := make([]HotKey, len(plan))
	for i, k := range plan {
		e := c.alive(k.Key)
		if c.hot.copies != nil {
			e = c.hot.find(k.Key, now)
		}
		s := e.sharing()
		list[i] = HotKey{Hot: k, Watched: s != nil && s.watched}
		list[i].Key = c.opts.HotKeys.Shown(k.Key)
	}
	return list
}
