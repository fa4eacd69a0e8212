package storetest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird/store"
)

// watching are the promises of store.Watcher, for stores that are one.
var watching = []promise{
	{"WatchIsAGet", watchIsAGet, anyLease},
	{"WatchTellsOfChanges", watchTells, anyLease},
	{"WatchMissesNothing", watchMissesNothing, anyLease},
	{"WatchIsNotForOtherKeys", watchIsNotForOthers, anyLease},
	{"WatchWithoutNotifyIsAGet", watchWithoutNotify, anyLease},
	{"WatchNoticesEnds", watchNoticesEnds, anyLease},
}

type watcher = store.Watcher[*Item]

// watcherOf returns s as a watcher; a test of a store that is none is skipped.
func (x *tier) watcherOf(s store.Store[*Item]) watcher {
	x.Helper()
	w, ok := s.(watcher)
	if !ok {
		x.Skip("it is no store.Watcher")
	}
	return w
}

// ear is what a store tells.
type ear struct {
	mu   sync.Mutex
	told map[string]int
	lost int
}

func (x *tier) listen(w watcher) *ear {
	e := &ear{told: make(map[string]int)}
	w.Notify(func(key string) {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.told[key]++
	}, func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.lost++
	})
	return e
}

// of returns how often something was told that concerns key.
func (e *ear) of(key string) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.told[key] + e.lost
}

// watch watches key until it is told that it is watched, and returns how often
// something was told before. A server that forgets, or a connection that is lost,
// is a reason to do it again.
func (x *tier) watch(w watcher, e *ear, key string) (before int) {
	x.Helper()
	x.eventually(func() bool {
		before = e.of(key)
		_, watched, err := w.Watch(x.Context(), key)
		require.NoError(x, err)
		return watched && before == e.of(key)
	}, "it must be watched")
	return before
}

// untold says what a store that cannot tell must say.
func (x *tier) untold(w watcher, key string) {
	x.Helper()
	_, watched, err := w.Watch(x.Context(), key)
	require.NoError(x, err)
	require.False(x, watched)
}

func watchIsAGet(x *tier) {
	w := x.watcherOf(x.a)
	x.listen(w)
	r, watched, err := w.Watch(x.Context(), "k")
	require.NoError(x, err)
	require.Zero(x, r)
	require.False(x, watched, "there is nothing to keep")
	require.NoError(x, x.b.Invalidate(x.Context(), "k"))
	r, watched, err = w.Watch(x.Context(), "k")
	require.NoError(x, err)
	require.Equal(x, x.get(x.a, "k"), r)
	require.False(x, watched)
	for _, in := range []store.Record[*Item]{valueOf("v"), {Kind: store.Absent, Life: long, Grace: long, Cost: 5}} {
		_, err = x.b.Set(x.Context(), "k", in)
		require.NoError(x, err)
		r, _, err = w.Watch(x.Context(), "k")
		require.NoError(x, err)
		got := x.get(x.a, "k")
		require.InDelta(x, got.Left, r.Left, float64(patient))
		r.Left, got.Left = 0, 0
		require.Equal(x, got, r)
	}
	require.EqualValues(x, 7, x.a.Stats().Gets.Done)
}

func watchTells(x *tier) {
	w := x.watcherOf(x.a)
	e := x.listen(w)
	for name, change := range map[string]func(s store.Store[*Item], key string) error{
		"Set": func(s store.Store[*Item], key string) error {
			_, err := s.Set(x.Context(), key, valueOf("w"))
			return err
		},
		"Invalidate":    func(s store.Store[*Item], key string) error { return s.Invalidate(x.Context(), key) },
		"InvalidateAll": func(s store.Store[*Item], _ string) error { return s.InvalidateAll(x.Context()) },
		"Publish": func(s store.Store[*Item], key string) error {
			l := x.grant(s, key, x.get(s, key).Generation, long)
			return s.Publish(x.Context(), l, valueOf("w"))
		},
	} {
		for who, s := range map[string]store.Store[*Item]{"another": x.b, "itself": x.a} {
			for round := range 2 {
				key := fmt.Sprint(name, " by ", who)
				_, err := x.b.Set(x.Context(), key, valueOf("v"))
				require.NoError(x, err)
				if x.suite.Unwatched {
					x.untold(w, key)
					continue
				}
				before := x.watch(w, e, key)
				require.NoError(x, change(s, key))
				x.eventually(func() bool { return e.of(key) > before }, fmt.Sprint(key, " must be told, round ", round))
			}
		}
	}
}

// near is a copy of one key, kept as package store says.
type near struct {
	mu     sync.Mutex
	kept   bool
	copied int64
	count  int // that changed and lost raise
}

func (n *near) drop() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.count++
	n.kept = false
}

func (n *near) has(version int64) (kept, same bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.kept, n.copied == version
}

// fill watches key and keeps what it gets.
func (n *near) fill(x *tier, w watcher, key string) {
	n.mu.Lock()
	count := n.count
	n.mu.Unlock()
	r, watched, err := w.Watch(x.Context(), key)
	if err != nil {
		x.Errorf("Watch: %v", err)
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if watched && count == n.count {
		n.kept, n.copied = true, r.Value.Number
	}
}

// Whatever the order in which changes, reads and messages fall, no copy outlives
// a change for long.
func watchMissesNothing(x *tier) {
	w := x.watcherOf(x.a)
	if x.suite.Unwatched {
		return
	}
	seed := rand.Uint64()
	x.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	var n near
	w.Notify(func(string) { n.drop() }, n.drop)
	var version atomic.Int64
	change := func() {
		_, err := x.b.Set(x.Context(), "k", versioned(version.Add(1)))
		require.NoError(x, err)
	}
	change()
	ctx, cancel := context.WithCancel(x.Context())
	var filling sync.WaitGroup
	defer filling.Wait()
	defer cancel()
	for range 3 {
		filling.Go(func() {
			for ctx.Err() == nil {
				if kept, _ := n.has(0); !kept {
					n.fill(x, w, "k")
				}
				time.Sleep(50 * time.Microsecond)
			}
		})
	}
	for range 100 {
		for range 1 + rng.IntN(4) {
			change()
			time.Sleep(time.Duration(rng.IntN(int(time.Millisecond))))
		}
		x.eventually(func() bool { kept, same := n.has(version.Load()); return kept && same }, "the copy is out of date")
	}
}

func watchIsNotForOthers(x *tier) {
	w := x.watcherOf(x.a)
	e := x.listen(w)
	if x.suite.Unwatched {
		return
	}
	const keys = 50
	before := make([]int, keys)
	for i := range keys {
		_, err := x.b.Set(x.Context(), fmt.Sprint(i), valueOf("v"))
		require.NoError(x, err)
		before[i] = x.watch(w, e, fmt.Sprint(i))
	}
	require.Positive(x, x.a.Stats().Watched)
	for range 20 {
		_, err := x.b.Set(x.Context(), "0", valueOf("w"))
		require.NoError(x, err)
		x.watch(w, e, "0")
	}
	told := 0
	for i := 1; i < keys; i++ {
		told += e.of(fmt.Sprint(i)) - before[i]
	}
	require.Less(x, told, keys, "for nothing is now and then")
}

func watchWithoutNotify(x *tier) {
	w := x.watcherOf(x.a)
	_, err := x.b.Set(x.Context(), "k", valueOf("v"))
	require.NoError(x, err)
	x.untold(w, "k")
	w.Unwatch("k")
	require.Zero(x, x.a.Stats().Watched)
}

func watchNoticesEnds(x *tier) {
	w := x.watcherOf(x.a)
	e := x.listen(w)
	_, err := x.a.Set(x.Context(), "k", valueOf("v"))
	require.NoError(x, err)
	ctx, cancel := context.WithCancel(x.Context())
	cancel()
	_, watched, err := w.Watch(ctx, "k")
	require.ErrorIs(x, err, context.Canceled)
	require.False(x, watched)
	require.Zero(x, x.a.Stats().Watched)

	if !x.suite.Unwatched {
		x.watch(w, e, "k")
		require.Equal(x, 1, x.a.Stats().Watched)
		w.Unwatch("k")
		require.Zero(x, x.a.Stats().Watched)
		x.watch(w, e, "k")
	}
	require.NoError(x, x.a.Close())
	before := e.of("k")
	_, err = x.b.Set(x.Context(), "k", valueOf("w"))
	require.NoError(x, err)
	_, watched, err = w.Watch(x.Context(), "k")
	require.ErrorIs(x, err, store.ErrClosed)
	require.False(x, watched)
	w.Unwatch("k")
	require.Equal(x, before, e.of("k"), "nothing is told after Close")
	require.Zero(x, x.a.Stats().Watched)
}
