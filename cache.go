package earlybird

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/earlybird-cache/earlybird/memstore"
	"github.com/earlybird-cache/earlybird/xfetch"
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
	values   *memstore.Map[*entry[V]]
	fence    *fence
	clock    *clock
	tally    *tally
	maxKey   int
	loader   Loader[V]
	opts     Options[V] // filled
	absences *memstore.Map[*absence]
	flights  *flights[V]
	gate     *gate
	calls    *calls
	episodes *episodes
	life     *life
	mean     meanCost

	refreshes, refreshFailures, fenced atomic.Uint64
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
	values, err := memstore.New[*entry[V]](opts.MaxEntries)
	if err != nil {
		return nil, &OptionError{Field: "MaxEntries", Value: opts.MaxEntries, Reason: err.Error()}
	}
	var absences *memstore.Map[*absence] // nil remembers nothing
	if opts.NegativeTTL > 0 && opts.MaxNegatives > 0 {
		if absences, err = memstore.New[*absence](opts.MaxNegatives); err != nil {
			return nil, &OptionError{Field: "MaxNegatives", Value: opts.MaxNegatives, Reason: err.Error()}
		}
	}
	g := newGate(opts.MaxLoads)
	return &Cache[V]{
		values:   values,
		fence:    newFence(),
		clock:    newClock(opts.Now),
		tally:    newTally(),
		maxKey:   opts.MaxKeyLen,
		loader:   load,
		opts:     opts,
		absences: absences,
		flights:  newFlights[V](),
		gate:     g,
		calls:    newCalls(),
		episodes: newEpisodes(),
		life:     newLife(),
	}, nil
}

// Get returns the value of key, loading it if it must.
//
// A value in memory is served even if ctx has ended. Otherwise Get waits for a
// load, which it shares with everyone who asks for the key meanwhile, until
// ctx ends; the load goes on and is stored for the next reader.
//
// Errors: ErrNotFound if there is no such key; ErrMalformedKey;
// ErrOverloaded; ErrLoadTimeout; *PanicError; ErrRecursiveLoad; ErrClosed;
// ctx's own; anything else is the loader's. None but ErrNotFound is
// remembered.
func (c *Cache[V]) Get(ctx context.Context, key string) (V, error) {
	if len(key) <= c.maxKey {
		if e, ok := c.values.Get(key); ok && e.isQuiet(c.clock.coarse.now(), c.fence.epoch.Load()) {
			c.hit(e)
			return e.value, nil
		}
	}
	r, err := c.read(ctx, key)
	return r.Value, err
}

// State says where a result comes from.
type State uint8

const (
	Fresh  State = iota // memory
	Early               // memory, and this read started a refresh behind it
	Loaded              // a load that this read started
	Joined              // a load that another read started
)

// Result is a value and what is known of it.
type Result[V any] struct {
	Value V
	State State
	Age   time.Duration // since it was stored, at most TTL; 0 for one just loaded
}

// Lookup is Get for those who want to know more than the value.
func (c *Cache[V]) Lookup(ctx context.Context, key string) (Result[V], error) {
	return c.read(ctx, key)
}

// Peek returns what a Get would find in memory. It never loads, starts no
// refresh, and is not counted in Stats.
func (c *Cache[V]) Peek(key string) (Result[V], bool) {
	now := c.clock.now()
	e := c.fresh(key, now)
	if e == nil {
		return Result[V]{}, false
	}
	return e.result(Fresh, now), true
}

// read is a read that could not be answered at a glance. It goes from the
// cheapest answer to the dearest: the value in memory, the key's shape, the
// guard, a remembered absence, the origin.
func (c *Cache[V]) read(ctx context.Context, key string) (Result[V], error) {
	if len(key) > c.maxKey {
		return c.end(malformed, ErrMalformedKey)
	}
	now := c.clock.now()
	if e := c.fresh(key, now); e != nil {
		return c.serve(ctx, key, e, now), nil
	}
	switch {
	case c.life.isOver():
		return c.end(closed, ErrClosed)
	case !c.opts.Shapes.MatchAt(key, c.clock.wall()):
		return c.end(malformed, ErrMalformedKey)
	case !c.opts.Guard.MayContain(c.guardPart(key)):
		return c.end(refusedByGuard, notFound(ctx))
	case c.knownAbsent(key, now):
		return c.end(negative, notFound(ctx))
	}
	return c.fetch(ctx, key)
}

// fresh returns key's entry if it is in memory and has not expired, or nil.
func (c *Cache[V]) fresh(key string, now int64) *entry[V] {
	if e, ok := c.values.Get(key); ok && now < e.expiry && e.alive(c.fence.epoch.Load()) {
		return e
	}
	return nil
}

func (c *Cache[V]) knownAbsent(key string, now int64) bool {
	a, ok := c.absences.Get(key)
	return ok && now < a.expiry && a.alive(c.fence.epoch.Load())
}

// serve answers a read with e. If the read draws well, a refresh of e begins
// behind it, unless one is under way.
func (c *Cache[V]) serve(ctx context.Context, key string, e *entry[V], now int64) Result[V] {
	scale := e.scale(c.opts.Beta)
	left := time.Duration(e.expiry - now)
	if left > xfetch.Window(scale) || now < e.resume.Load() ||
		!xfetch.Due(left, scale, c.opts.Rand()) || !e.elect(now, satAdd(now, c.leaseLife())) {
		c.hit(e)
		return e.result(Fresh, now)
	}
	c.tally.count(early)
	c.refresh(ctx, key, e)
	return e.result(Early, now)
}

// leaseLife is how long the election to refresh lasts if nothing ends it: as
// long as the refresh can take, at the gate and then at the origin.
func (c *Cache[V]) leaseLife() int64 {
	return satAdd(int64(c.opts.LoadTimeout), int64(c.opts.LoadTimeout))
}

// hit counts a hit. One in some brings the published clock up to date.
func (c *Cache[V]) hit(e *entry[V]) {
	s, sample := c.tally.hit()
	if !sample {
		return
	}
	now := c.clock.now()
	s.age(now - e.written)
	if !c.clock.coarse.help(now) && c.clock.coarse.claim() {
		c.keepTime()
	}
}

// keepTime starts the ticker of the published clock.
func (c *Cache[V]) keepTime() {
	if !c.life.begin() {
		return
	}
	go func() {
		defer c.life.end()
		c.clock.coarse.keep(c.clock.now, c.tally.hits, c.life.closing)
	}()
}

// deliver answers a read with what its flight brought.
func (c *Cache[V]) deliver(ctx context.Context, s seat[V]) (Result[V], error) {
	switch {
	case s.err == nil && s.led && !s.found:
		c.tally.count(loaded)
		return Result[V]{Value: s.value, State: Loaded}, nil
	case s.err == nil:
		c.tally.count(joined)
		return Result[V]{Value: s.value, State: Joined}, nil
	case s.err == ErrOverloaded:
		return c.end(shed, s.err)
	case s.err == ErrClosed:
		return c.end(closed, s.err)
	case absent(s.err) && errandOf(ctx) != nil:
		return c.end(originAbsent, errDependencyNotFound)
	case absent(s.err):
		return c.end(originAbsent, s.err)
	}
	return c.end(failed, s.err)
}

// end counts a read that ends without a value.
func (c *Cache[V]) end(how class, err error) (Result[V], error) {
	c.tally.count(how)
	return Result[V]{}, err
}

// notFound is the error of a key that is known to be absent.
func notFound(ctx context.Context) error {
	if errandOf(ctx) != nil {
		return errDependencyNotFound
	}
	return ErrNotFound
}

// wellFormed reports whether key may be stored.
func (c *Cache[V]) wellFormed(key string) bool {
	return len(key) <= c.maxKey && c.opts.Shapes.MatchAt(key, c.clock.wall())
}

// guardPart returns the part of key that the guard knows.
func (c *Cache[V]) guardPart(key string) string {
	if c.opts.GuardPart == nil {
		return key
	}
	return c.opts.GuardPart(key)
}
