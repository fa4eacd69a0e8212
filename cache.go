package earlybird

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/earlybird-cache/earlybird/hotkeys"
	"github.com/earlybird-cache/earlybird/memstore"
	"github.com/earlybird-cache/earlybird/store"
)

// Loader asks the origin for key's value. It returns ErrNotFound, possibly
// wrapped, if there is none. What it returns goes to everyone who asked for
// the key, so it must depend on nothing but the key; ctx carries the values of
// one of the callers' contexts, for tracing, but not its deadline: ctx ends
// after Options.LoadTimeout and when the cache is closed. A loader that reads
// other keys of the cache passes ctx on.
type Loader[V any] func(ctx context.Context, key string) (V, error)

// Cache stands between readers and a slow origin. Make one with [New]; all its
// methods may be called from any goroutine.
//
// Values are shared between all who read them and must not be modified, unless
// V is a type that is copied by assignment. A nil pointer, map or interface
// returned without an error is a value like any other.
type Cache[V any] struct {
	// What a hit needs, side by side.
	table     *table[V]
	values    *memstore.Map[*entry[V]]
	fence     *fence
	clock     *clock
	tally     *tally
	maxKey    int
	canonical func(string) string
	clone     func(V) V

	loader    Loader[V]
	opts      Options[V] // filled
	negatives *memstore.Map[*negative]
	flights   *flights[V]
	gate      *gate
	calls     *calls
	episodes  *episodes
	reporter  *reporter
	life      *life
	mean      meanCost
	tier      *tier[V]
	hot       *hot[V]
	bus       store.Bus // nil if the tier has none

	refreshes, refreshFailures, fenced atomic.Uint64
	guardLoads, guardSaves             atomic.Uint64
}

// New makes a cache over the origin that load asks. The error, if any, is an
// *[OptionError]. Close it when it is done with.
func New[V any](load Loader[V], opts Options[V]) (*Cache[V], error) {
	if load == nil {
		return nil, &OptionError{Field: "load", Value: nil, Reason: "is required"}
	}
	opts, err := opts.filled()
	if err != nil {
		return nil, err
	}
	c := &Cache[V]{
		fence:     newFence(),
		clock:     newClock(opts.Now),
		tally:     newTally(),
		maxKey:    opts.MaxKeyLen,
		canonical: opts.Canonical,
		clone:     opts.Clone,
		loader:    load,
		opts:      opts,
		flights:   newFlights[V](),
		gate:      newGate(opts.MaxLoads, opts.MaxLoadRate, opts.Ramp),
		calls:     newCalls(),
		episodes:  newEpisodes(),
		reporter:  newReporter(opts.Name, opts.OnError, opts.Logger),
		life:      newLife(),
	}
	c.tier = newTier(opts, c.clock.now, c.reporter.report)
	c.table = newTable[V](opts.MaxEntries)
	if c.values, err = c.newValues(); err != nil {
		return nil, err
	}
	if opts.MaxNegatives > 0 && (opts.NegativeTTL > 0 || opts.Validate != nil) {
		if c.negatives, err = memstore.New[*negative](opts.MaxNegatives); err != nil {
			return nil, &OptionError{Field: "MaxNegatives", Value: opts.MaxNegatives, Reason: err.Error()}
		}
	}
	if c.tier != nil && c.opts.HotKeys == nil {
		c.opts.HotKeys, _ = hotkeys.New(hotkeys.Options{}) // these options are fine
	}
	if c.hot, err = newHot(c); err != nil {
		return nil, err
	}
	c.listen()
	return c, nil
}

// newValues makes the map of values, bounded by weight if MaxBytes is set.
func (c *Cache[V]) newValues() (*memstore.Map[*entry[V]], error) {
	bury := func(key string, e *entry[V]) {
		e.retire()
		c.table.drop(key, e)
	}
	if c.opts.MaxBytes > 0 {
		m, err := memstore.NewWeighted(c.opts.MaxBytes, func(e *entry[V]) uint32 { return e.weight() }, bury)
		if err != nil {
			err = &OptionError{Field: "MaxBytes", Value: c.opts.MaxBytes, Reason: err.Error()}
		}
		return m, err
	}
	m, err := memstore.NewNotifying(c.opts.MaxEntries, bury)
	if err != nil {
		err = &OptionError{Field: "MaxEntries", Value: c.opts.MaxEntries, Reason: err.Error()}
	}
	return m, err
}

// Get returns the value of key, loading it if it must.
//
// A value in memory is served even if ctx has ended. Otherwise Get waits for a
// load, which it shares with everyone who asks for the key meanwhile, until
// ctx ends; the load goes on and is stored for the next reader.
//
// Errors: ErrNotFound if there is no such key; ErrMalformedKey;
// ErrOverloaded; ErrLoadTimeout; *PanicError; *InvalidError; ErrRecursiveLoad;
// ErrClosed; ctx's own; anything else is the loader's. Only ErrNotFound is
// remembered, and *InvalidError for a moment.
func (c *Cache[V]) Get(ctx context.Context, key string) (V, error) {
	key = c.canon(key)
	e := c.near(key)
	if e != nil && e.isQuiet(c.clock.coarse.now(), c.fence.epoch.Load()) {
		c.hit(key, e)
		return c.out(e.value), nil
	}
	r, err := c.read(ctx, key, e)
	return r.Value, err
}

// canon returns the one spelling of key.
func (c *Cache[V]) canon(key string) string {
	if c.canonical == nil {
		return key
	}
	return c.canonical(key)
}

// Lookup is Get for those who want to know more than the value.
func (c *Cache[V]) Lookup(ctx context.Context, key string) (Result[V], error) {
	key = c.canon(key)
	return c.read(ctx, key, c.near(key))
}

// Peek returns what a Get would find in memory, if it is fresh. It never
// loads, starts no refresh, and is not counted in Stats.
func (c *Cache[V]) Peek(key string) (Result[V], bool) {
	now := c.clock.now()
	e := c.fresh(c.canon(key), now)
	if e == nil {
		return Result[V]{}, false
	}
	return c.result(e, Fresh, now), true
}

// read is a read that could not be answered at a glance at e, which is what is
// near.
func (c *Cache[V]) read(ctx context.Context, key string, e *entry[V]) (Result[V], error) {
	a := c.look(ctx, key, e)
	if a.elected != nil {
		c.refresh(ctx, a.renews, election[V]{key, a.elected})
	}
	if a.missing {
		return c.fetch(ctx, key)
	}
	return a.Result, a.err
}

// glance is what can be said of a key without asking the origin.
type glance[V any] struct {
	Result[V]
	err     error
	missing bool      // nothing
	elected *entry[V] // the reader is to refresh this
	renews  bool      // by asking the shared tier again, no more
}

// look goes from the cheapest answer to the dearest: the value in memory, the
// key's shape, the guard, a remembered absence. If they are silent, the key is
// missing.
func (c *Cache[V]) look(ctx context.Context, key string, e *entry[V]) glance[V] {
	if len(key) > c.maxKey {
		return c.without(malformed, ErrMalformedKey)
	}
	now := c.clock.now()
	if e = c.living(key, e); e != nil && c.servable(e, now) {
		return c.serve(key, e, now)
	}
	if e := c.hot.find(key, now); e != nil {
		return c.serve(key, e, now)
	}
	switch {
	case c.life.isOver():
		return c.without(closed, ErrClosed)
	case !c.opts.Shapes.MatchAt(key, c.clock.calendar(now)):
		return c.without(malformed, ErrMalformedKey)
	case c.isRefused(key):
		return c.without(refusedByGuard, notFound(ctx))
	}
	if n := c.negative(key, now); n != nil {
		if n.invalid > 0 {
			return c.without(failed, n.err)
		}
		return c.without(negativeHit, notFound(ctx))
	}
	c.opts.HotKeys.Touch(key)
	return glance[V]{missing: true}
}

// without counts and returns an answer without a value.
func (c *Cache[V]) without(how class, err error) glance[V] {
	c.tally.count(how)
	return glance[V]{err: err}
}

// servable reports whether e answers a read: while it is fresh, and past its expiry
// as long as it may, if what the tier said of it is not too long ago.
func (c *Cache[V]) servable(e *entry[V], now int64) bool {
	return e.isFresh(now) || e.isBelieved(now) && c.outlives(e, now)
}

// outlives reports whether e answers reads although it has expired: within
// StaleWhileRevalidate, and within StaleIfError while loads fail.
func (c *Cache[V]) outlives(e *entry[V], now int64) bool {
	past := time.Duration(now - e.expiry)
	return past >= 0 && (past < c.opts.StaleWhileRevalidate ||
		past < c.opts.StaleIfError && e.isBackingOff(now))
}

// serve answers a read of key with e. If the read draws well, it is elected to
// refresh e, unless somebody is at it.
func (c *Cache[V]) serve(key string, e *entry[V], now int64) glance[V] {
	state, how := Fresh, hit
	if now >= e.expiry {
		state, how = Stale, staleHit
	}
	e.hear(now)
	a := glance[V]{Result: c.result(e, state, now)}
	due := c.draw(e, now)
	if (due || e.isToRenew(now)) && e.elect(now, satAdd(now, c.leaseLife())) {
		a.elected, a.renews = e, !due
		if how == hit && due {
			a.State, how = Early, earlyHit
		}
	}
	if how == hit {
		c.hit(key, e)
	} else {
		c.opts.HotKeys.Touch(key)
		c.tally.count(how)
	}
	return a
}

// draw reports whether this read is due to refresh e. What has expired always
// is.
func (c *Cache[V]) draw(e *entry[V], now int64) bool {
	aim, left := e.aim(c.opts.Beta), time.Duration(e.expiry-now)
	return left <= aim.Window() && e.isSpared(now) && aim.Due(left, c.opts.Rand())
}

// leaseLife is how long the election to refresh lasts if nothing ends it: as
// long as the refresh can take, at the gate and then at the origin.
func (c *Cache[V]) leaseLife() int64 {
	return satAdd(int64(c.opts.LoadTimeout), int64(c.opts.LoadTimeout))
}

// wellFormed reports whether key may be stored.
func (c *Cache[V]) wellFormed(key string) bool {
	return len(key) <= c.maxKey && c.opts.Shapes.MatchAt(key, c.clock.calendar(c.clock.now()))
}

// guardPart returns the part of key that the guard knows.
func (c *Cache[V]) guardPart(key string) string {
	if c.opts.GuardPart == nil {
		return key
	}
	return c.opts.GuardPart(key)
}
