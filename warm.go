package earlybird

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// warmJitter is the least share by which the lives of warmed values are
// shortened: they are written together and must not expire together.
const warmJitter = 0.5

// Warmed is how far a [Cache.Warm] has come.
type Warmed struct {
	Seen   int // keys of the sequence dealt with; to resume, leave out as many
	Loaded int
	Held   int // were in memory already
	Absent int // the origin has no such key, or they were refused
	Failed int
}

// WarmError is the error of a [Cache.Warm] that could not load some keys.
type WarmError struct {
	Warmed
	First error // the first failure
}

func (e *WarmError) Error() string {
	return "earlybird: warm-up incomplete: " + e.First.Error()
}

func (e *WarmError) Unwrap() error { return e.First }

// Warm loads those of keys that are not in memory. Its loads use at most a
// tenth of MaxLoads and only what readers leave of that, and the lives of what
// it stores are spread over half of TTL at least. Malformed, refused and absent
// keys are passed over. A key whose load fails is passed over too, and Warm
// returns a *[WarmError] in the end; while the origin is overloaded, Warm waits,
// as long as ctx allows.
//
// report, if given, is called now and then, from Warm's goroutine. Warm ends
// early when ctx does, or the cache is closed, with a *WarmError that says how
// far it got.
func (c *Cache[V]) Warm(ctx context.Context, keys iter.Seq[string], report ...func(Warmed)) error {
	w := warmer[V]{cache: c}
	chunk := make([]string, 0, c.warmChunk())
	for key := range keys {
		if chunk = append(chunk, c.canon(key)); len(chunk) < cap(chunk) {
			continue
		}
		if err := w.load(ctx, chunk); err != nil {
			return &WarmError{Warmed: w.done, First: err}
		}
		for _, f := range report {
			f(w.done)
		}
		chunk = chunk[:0]
	}
	if err := w.load(ctx, chunk); err != nil {
		return &WarmError{Warmed: w.done, First: err}
	}
	for _, f := range report {
		f(w.done)
	}
	if w.first != nil {
		return &WarmError{Warmed: w.done, First: w.first}
	}
	return nil
}

const (
	warmBatch = 100 // keys in one LoadMany
	warmRound = 8   // loads for each slot, between two reports
)

// warmSlots is how many loads a warm-up has under way at once.
func (c *Cache[V]) warmSlots() int {
	if c.opts.MaxLoads < 0 {
		return 16
	}
	return max(1, c.opts.MaxLoads/10)
}

func (c *Cache[V]) warmChunk() int {
	n := c.warmSlots() * warmRound
	if c.opts.LoadMany != nil {
		n *= warmBatch
	}
	return n
}

// warmer is a Warm on its way.
type warmer[V any] struct {
	cache *Cache[V]

	mu    sync.Mutex
	done  Warmed
	first error
}

// load loads a chunk of keys and waits until all are done. It fails if ctx
// ends or the cache is closed.
func (w *warmer[V]) load(ctx context.Context, chunk []string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	var g errgroup.Group
	g.SetLimit(w.cache.warmSlots())
	batch := 1
	if w.cache.opts.LoadMany != nil {
		batch = warmBatch
	}
	missing := w.missing(chunk)
	for len(missing) > 0 {
		keys := missing[:min(batch, len(missing))]
		missing = missing[len(keys):]
		g.Go(func() error { return w.fetch(ctx, keys) })
	}
	if err := g.Wait(); err != nil {
		return err
	}
	w.done.Seen += len(chunk)
	return nil
}

// missing returns the keys that have to be loaded.
func (w *warmer[V]) missing(chunk []string) []string {
	var missing []string
	c, now := w.cache, w.cache.clock.now()
	for _, key := range chunk {
		switch {
		case c.fresh(key, now) != nil:
			w.done.Held++
		case !c.wellFormed(key) || c.isRefused(key):
			w.done.Absent++
		default:
			missing = append(missing, key)
		}
	}
	return missing
}

// fetch loads keys in one load, again and again while the origin is
// overloaded.
func (w *warmer[V]) fetch(ctx context.Context, keys []string) error {
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		var err error
		if keys, err = w.try(ctx, keys); err != nil || len(keys) == 0 {
			return err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return ctx.Err()
		case <-w.cache.life.closing:
			return ErrClosed
		}
	}
}

// try loads keys and returns those that the gate refused, and those that another
// cache is about to load.
func (w *warmer[V]) try(ctx context.Context, keys []string) (shed []string, err error) {
	c := w.cache
	l := c.newLoad(ctx, nil)
	l.warm, l.ticket.priority = true, warming
	l.many = c.opts.LoadMany != nil
	seats := make([]seat[V], 0, len(keys))
	for _, key := range keys {
		seat, err := c.flights.join(l.newFlight(key, nil))
		if err != nil {
			break // closed: the flights that were led are launched to end
		}
		seats = append(seats, seat)
	}
	if len(l.flights) > 0 {
		c.launch(l)
	}
	for _, s := range seats {
		select {
		case <-s.landed:
			if s.err == ErrOverloaded || s.again {
				shed = append(shed, s.key)
			} else {
				w.note(s)
			}
		case <-ctx.Done():
			err = ctx.Err()
		case <-c.life.closing:
			err = ErrClosed
		}
		c.flights.leave(s)
	}
	if c.life.isOver() {
		err = ErrClosed
	}
	return shed, err
}

// note counts a flight that has landed.
func (w *warmer[V]) note(s seat[V]) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case s.err == nil && !s.stale:
		w.done.Loaded++
	case errors.Is(s.err, ErrNotFound):
		w.done.Absent++
	default:
		w.done.Failed++
		if w.first == nil {
			w.first = cmp.Or(s.err, s.cause)
		}
	}
}
