package model

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/earlybird-cache/earlybird"
	"github.com/earlybird-cache/earlybird/store"
)

// RageTogether lets changes and reads collide for so long on several caches, one
// for each of the stores, which have one tier, in real time. Whoever asks the cache
// that was told of a change gets nothing from before it, and whoever asks another
// one not once near is over; in the end all tell the same.
//
// A store that does not answer in time excuses its cache from the latter, so on a
// busy machine its budget should be large.
func RageTogether(seed uint64, lasts, near time.Duration, stores []store.Store[int64]) error {
	s := &fleetStorm{near: near, last: make([]stormRow, stormKeys)}
	for _, tier := range stores {
		c, err := earlybird.New(s.load, earlybird.Options[int64]{
			TTL: time.Minute, NegativeTTL: time.Minute, NearTTL: near, Store: tier,
		})
		if err != nil {
			return err
		}
		s.caches = append(s.caches, c)
	}
	for i := range s.last {
		s.last[i].told = make([]atomic.Int64, len(stores))
	}
	s.rage(seed, lasts)
	s.settle()
	for _, c := range s.caches {
		s.fail(c.Close())
	}
	return s.broken
}

type fleetStorm struct {
	near   time.Duration
	caches []*earlybird.Cache[int64]
	last   []stormRow
	over   atomic.Bool

	mu     sync.Mutex
	broken error // the first broken promise
}

// stormRow is a row at the origin, whose versions are as in a Storm.
type stormRow struct {
	version atomic.Int64
	told    []atomic.Int64 // by cache: the last version of a change that it was told of

	mu        sync.Mutex
	confirmed []confirmed
}

// confirmed is a change that has returned without an error.
type confirmed struct {
	version int64
	at      time.Time
}

// binding returns the last version of those that every cache must know of.
func (r *stormRow) binding(before time.Time) (version int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for len(r.confirmed) > 1 && !r.confirmed[1].at.After(before) {
		r.confirmed = r.confirmed[1:]
	}
	if len(r.confirmed) > 0 && !r.confirmed[0].at.After(before) {
		version = r.confirmed[0].version
	}
	return version
}

func (s *fleetStorm) load(_ context.Context, key string) (int64, error) {
	var i int
	if _, err := fmt.Sscanf(key, "k%d", &i); err != nil {
		return 0, err
	}
	version := s.last[i].version.Load()
	time.Sleep(rand.N(3 * time.Millisecond))
	if gone(version) {
		return 0, earlybird.ErrNotFound
	}
	return version, nil
}

func (s *fleetStorm) rage(seed uint64, lasts time.Duration) {
	var readers, writers sync.WaitGroup
	for i := range s.last {
		writers.Go(func() { s.write(i, rand.New(rand.NewPCG(seed, uint64(i))), time.Now().Add(lasts)) })
		for cache := range s.caches {
			for range 2 {
				readers.Go(func() { s.read(i, cache) })
			}
		}
	}
	writers.Wait()
	s.over.Store(true)
	readers.Wait()
}

// write changes row i again and again, and tells some cache each time.
func (s *fleetStorm) write(i int, r *rand.Rand, until time.Time) {
	ctx, key, row := context.Background(), rowKey(i), &s.last[i]
	for n := int64(1); time.Now().Before(until) && !s.over.Load(); n++ {
		cache := r.IntN(len(s.caches))
		c, err := s.caches[cache], error(nil)
		switch x := r.IntN(8); {
		case gone(n-1) && x < 4:
			err = c.Creating(ctx, []string{key}, func() error { row.version.Store(n); return nil })
			err = errors.Join(err, c.Invalidate(ctx, key)) // a value from before the row was gone may be near
		case !gone(n) && x == 6:
			row.version.Store(n)
			err = c.Set(ctx, key, n)
		default:
			row.version.Store(n)
			err = c.Invalidate(ctx, key)
		}
		if err != nil && !isChangeError(Set, err) {
			s.fail(broken(Changes, "storm: version %d of %s: %v", n, key, err))
		}
		row.told[cache].Store(n)
		if err == nil {
			row.mu.Lock()
			row.confirmed = append(row.confirmed, confirmed{n, time.Now()})
			row.mu.Unlock()
		}
		time.Sleep(rand.N(2 * time.Millisecond))
		if r.IntN(100) == 0 {
			time.Sleep(rand.N(3 * s.near))
		}
	}
}

// read reads row i from a cache again and again.
func (s *fleetStorm) read(i, cache int) {
	c, row := s.caches[cache], &s.last[i]
	for !s.over.Load() {
		from, all := row.told[cache].Load(), row.binding(time.Now().Add(-s.near))
		v, err := c.Get(context.Background(), rowKey(i))
		to, reached := row.version.Load(), c.Stats().TierErrors == 0
		promise := Fence
		if all > from && reached {
			from, promise = all, NearLife
		}
		switch {
		case err != nil && !errors.Is(err, earlybird.ErrNotFound):
			s.fail(broken(Errors, "storm: %v", err))
		case err != nil && to/4*4 < from: // none of them is an absence
			s.fail(broken(promise, "storm: k%d was absent for cache %d; it was at version %d to %d", i, cache, from, to))
		case err == nil && (v < from || v > to):
			s.fail(broken(promise, "storm: k%d was at version %d for cache %d; it was at version %d to %d", i, v, cache, from, to))
		}
		time.Sleep(rand.N(time.Millisecond))
	}
}

// settle lets near pass, and asks every cache once more. Where a tier was not told of
// a change at once, it is now.
func (s *fleetStorm) settle() {
	for _, c := range s.caches {
		for range 100 {
			if c.Stats().Store.Pending == 0 {
				break
			}
			time.Sleep(100 * time.Millisecond)
		}
	}
	time.Sleep(s.near)
	for i := range s.last {
		for cache, c := range s.caches {
			want := s.last[i].version.Load()
			v, err := c.Get(context.Background(), rowKey(i))
			if isThere := err == nil; isThere == gone(want) || isThere && v != want {
				s.fail(broken(NearLife, "storm: k%d is at version %d, cache %d says %d, %v", i, want, cache, v, err))
			}
		}
	}
}

func (s *fleetStorm) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err != nil && s.broken == nil {
		s.broken = err
		s.over.Store(true)
	}
}
