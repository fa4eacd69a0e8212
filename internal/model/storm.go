package model

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/earlybird-cache/earlybird"
)

// Storm is a kind of cache and origin to let changes and reads collide on.
type Storm struct {
	Name    string
	options earlybird.Options[int64]
	failing int // one load in so many; 0 for none
}

// Storms returns all storms.
func Storms() []Storm {
	lasting := earlybird.Options[int64]{TTL: time.Hour, NegativeTTL: time.Hour}
	fleeting := lasting
	fleeting.StaleIfError = time.Hour
	fleeting.TTLFor = func(string, int64) time.Duration { return 1 }
	return []Storm{
		{Name: "lasting", options: lasting},
		// Values expire at once, and what has expired stands in for loads that fail.
		{Name: "fleeting", options: fleeting, failing: 3},
	}
}

// Rage makes changes to a few keys as fast as it can, while readers read them
// as fast as they can, in real time and in parallel. It tests one promise,
// [Fence], in windows of some nanoseconds that virtual time cannot open: what a
// reader is told must have been so at some moment between the last change that
// had returned when he began and the one at which he was told.
func (kind Storm) Rage(seed uint64, changes int) (err error) {
	s := &storm{Storm: kind, rows: make(map[string]*row)}
	for i := range stormKeys {
		s.rows[rowKey(i)] = &row{key: rowKey(i)}
	}
	if s.cache, err = earlybird.New(s.load, kind.options); err != nil {
		return err
	}
	var readers, writers sync.WaitGroup
	for _, w := range s.rows {
		writers.Go(func() { s.write(w, rand.New(rand.NewPCG(seed, 0)), changes) })
		for range stormReaders {
			readers.Go(func() { s.read(w) })
		}
	}
	writers.Wait()
	s.over.Store(true)
	readers.Wait()
	return errors.Join(s.broken, s.cache.Close())
}

const (
	stormKeys    = 2
	stormReaders = 6 // of each key
)

type storm struct {
	Storm
	cache *earlybird.Cache[int64]
	rows  map[string]*row // not written to
	over  atomic.Bool

	once   sync.Once
	broken error // the first broken promise
}

// row is one at the origin. Its versions count up from 1 and stand for its
// values, but every fourth says that it does not exist.
type row struct {
	key     string
	version atomic.Int64
	settled atomic.Int64 // the last version whose change has returned
}

func gone(version int64) bool { return version%4 == 0 } // also before the first

// load sees the row at its beginning and then dawdles.
func (s *storm) load(_ context.Context, key string) (int64, error) {
	version := s.rows[key].version.Load()
	for range rand.IntN(8) {
		runtime.Gosched()
	}
	if s.failing > 0 && rand.IntN(s.failing) == 0 {
		return 0, errDown
	}
	if gone(version) {
		return 0, earlybird.ErrNotFound
	}
	return version, nil
}

// write changes the row again and again, and tells the cache each time, in one
// of the ways that suit the change.
func (s *storm) write(w *row, r *rand.Rand, changes int) {
	ctx := context.Background()
	for n := int64(1); n <= int64(changes) && !s.over.Load(); n++ {
		var err error
		switch x := r.IntN(8); {
		case gone(n-1) && x < 4:
			err = s.cache.Creating(ctx, []string{w.key}, func() error { w.version.Store(n); return nil })
		case !gone(n) && x == 6:
			w.version.Store(n)
			err = s.cache.Set(ctx, w.key, n)
		case x == 7:
			w.version.Store(n)
			err = s.cache.InvalidateAll(ctx)
		default:
			w.version.Store(n)
			err = s.cache.Invalidate(ctx, w.key)
		}
		if err != nil {
			s.fail(broken(Changes, "storm: version %d of %s: %v", n, w.key, err))
		}
		w.settled.Store(n)
		for range r.IntN(64) {
			runtime.Gosched()
		}
	}
}

// read reads the row again and again.
func (s *storm) read(w *row) {
	ctx := context.Background()
	for ; !s.over.Load(); runtime.Gosched() { // or a run of hits lasts a whole time slice
		from := w.settled.Load()
		v, err := s.cache.Get(ctx, w.key)
		to := w.version.Load()
		switch {
		case s.failing > 0 && err == errDown:
		case err != nil && !errors.Is(err, earlybird.ErrNotFound):
			s.fail(broken(Errors, "storm: %v", err))
		case err != nil && to/4*4 < from: // none of them is an absence
			s.fail(broken(Fence, "storm: %s was absent; it was at version %d to %d, and told so", w.key, from, to))
		case err == nil && (v < from || v > to):
			s.fail(broken(Fence, "storm: %s was at version %d; it had been told of version %d, and was at most at %d", w.key, v, from, to))
		}
	}
}

func (s *storm) fail(err error) {
	s.once.Do(func() { s.broken = err })
	s.over.Store(true)
}
