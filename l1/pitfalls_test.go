package l1

import (
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dgraph-io/ristretto/v2"
	"github.com/stretchr/testify/require"
)

// Each test here is about one thing that ristretto does and its users do not
// expect.

// Ristretto's Set takes effect later.
func TestPut_isReadableWhenItReturns(t *testing.T) {
	keys := names(10_000)
	tier := newOpen[int](t, len(keys))
	for i, key := range keys {
		require.True(t, tier.Put(key, i, 1, never))
		requireValue(t, tier, key, i)
	}
	require.Equal(t, len(keys), tier.Len())
}

// Of two quick Sets of a key that is not there yet ristretto keeps the first.
func TestPut_twoQuickOnesKeepTheSecond(t *testing.T) {
	keys := names(2000)
	tier := newOpen[int](t, len(keys))
	for _, key := range keys {
		require.True(t, tier.Put(key, 1, 1, never))
		require.True(t, tier.Put(key, 2, 1, never))
		requireValue(t, tier, key, 2)
	}
	t.Run("at the same time", func(t *testing.T) {
		for i := range 500 {
			tier.Clear()
			var wg sync.WaitGroup
			for v := range 4 {
				wg.Go(func() { tier.Put("k", v, uint64(v), never) })
			}
			wg.Wait()
			v, ok := tier.Get("k", 0)
			require.True(t, ok, "round %d", i)
			require.Equal(t, 3, v, "the newest must have won, round %d", i)
		}
	})
}

// A Set of ristretto's that was put into its queue before a Del brings the
// value back for a moment, with nothing to find before.
func TestDelete_isOverWhenItReturns(t *testing.T) {
	tier := newOpen[int](t, 100)
	for i := range 20_000 {
		tier.Put("k", i, uint64(i), never)
		tier.Delete("k")
		requireNone(t, tier, "k")
		tier.Put("k", i, uint64(i), never)
		tier.Demote("k")
		requireNone(t, tier, "k")
	}
	t.Run("among eight writers", func(t *testing.T) {
		var wg sync.WaitGroup
		for _, key := range names(8) {
			wg.Go(func() {
				for i := range 5000 {
					tier.Put(key, i, uint64(i), never)
					tier.Delete(key)
					if _, ok := tier.Get(key, 0); ok {
						t.Errorf("%s came back", key)
						return
					}
				}
			})
		}
		wg.Wait()
	})
}

// Ristretto compares hashes, not keys.
func TestTier_comparesKeysNotHashes(t *testing.T) {
	tier, err := newTier[string](Options{}, func(string) uint64 { return 7 })
	require.NoError(t, err)
	defer tier.Close()

	require.True(t, tier.Put("u1", "one", 1, never))
	requireNone(t, tier, "u2")
	require.False(t, tier.Put("u2", "two", 9, never), "the only place is taken")
	requireNone(t, tier, "u2")
	tier.Delete("u2")
	requireValue(t, tier, "u1", "one")

	tier.Demote("u2")
	requireValue(t, tier, "u1", "one")
	tier.Demote("u1")
	requireNone(t, tier, "u1")
	require.True(t, tier.Put("u2", "two", 1, never))
	requireValue(t, tier, "u2", "two")
	requireNone(t, tier, "u1")

	t.Run("also under load", func(t *testing.T) {
		var wg sync.WaitGroup
		for _, key := range names(8) {
			wg.Go(func() {
				for i := range 3000 {
					tier.Put(key, key, uint64(i), never)
					if v, ok := tier.Get(key, 0); ok && v != key {
						t.Errorf("%s holds %s's value", key, v)
						return
					}
					tier.Delete(key)
				}
			})
		}
		wg.Wait()
	})
}

// Ristretto's lives are judged by its own clock, and bring a ticker with them.
func TestGet_judgesALifeByTheTimeItIsGiven(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tier, err := New[int](Options{})
		require.NoError(t, err)
		defer tier.Close()
		tier.Put("k", 1, 1, 1000)
		time.Sleep(time.Hour)
		for now, alive := range map[int64]bool{-1: true, 0: true, 999: true, 1000: false, never: false} {
			_, ok := tier.Get("k", now)
			require.Equal(t, alive, ok, "at %d", now)
		}
		tier.Put("k", 2, 1, -5)
		requireNone(t, tier, "k")
		_, ok := tier.Get("k", -6)
		require.True(t, ok)
	})
}

// Ristretto adds an overhead to each cost, so that a size of n holds a fraction
// of n.
func TestOptions_sizeIsInKeysWhateverTheValues(t *testing.T) {
	for _, size := range []int{1, 10 << 10} {
		keys := names(10_000)
		tier := newOpen[string](t, len(keys))
		value := strings.Repeat("x", size)
		for _, key := range keys {
			tier.Put(key, value, 1, never)
		}
		held := 0
		for _, key := range keys {
			if _, ok := tier.Get(key, 0); ok {
				held++
			}
		}
		require.Equal(t, len(keys), held)
	}
}

// Ristretto charges an entry whose life has ended until it gets round to it.
func TestPut_intoAnExpiredPlaceNeedsNoRoom(t *testing.T) {
	tier := newOpen[int](t, 8)
	for life := range int64(100) {
		for _, key := range names(8) {
			require.True(t, tier.Put(key, int(life), 1, life))
			_, ok := tier.Get(key, life)
			require.False(t, ok)
		}
	}
	require.Equal(t, 8, tier.Len())
}

// Get, Set and Close of ristretto's are not safe together.
func TestClose_amidEverything(t *testing.T) {
	for range 20 {
		tier, err := New[int](Options{MaxKeys: 8})
		require.NoError(t, err)
		keys := names(16)
		stop := make(chan struct{})
		var busy, closers sync.WaitGroup
		for g := range 64 {
			busy.Go(func() {
				for i := g; ; i++ {
					select {
					case <-stop:
						return
					default:
					}
					key := keys[i%len(keys)]
					tier.Get(key, 0)
					tier.Put(key, i, uint64(i), never)
					switch i % 16 {
					case 0:
						tier.Begin(key).Put(i, uint64(i), never)
					case 1:
						tier.Delete(key)
					case 4:
						tier.Demote(key)
					case 5:
						tier.Void()
					case 2:
						tier.Clear()
					case 3:
						tier.Stats()
					}
					runtime.Gosched() // closed, this loop would leave nobody else a turn
				}
			})
		}
		for range 3 {
			closers.Go(tier.Close)
		}
		closers.Wait()
		require.False(t, tier.Put("a", 1, 1, never))
		require.Zero(t, tier.Len())
		close(stop)
		busy.Wait()
		for _, key := range keys {
			requireNone(t, tier, key)
		}
		require.Zero(t, tier.Len(), "nothing is stored after Close")
		tier.Close()
	}
}

func TestClose_waitsForThoseInside(t *testing.T) {
	tier := newOpen[int](t, 8)
	lane := tier.door.enter()
	closed := make(chan struct{})
	go func() {
		tier.Close()
		close(closed)
	}()
	for !tier.door.shut.Load() {
		runtime.Gosched()
	}
	require.Nil(t, tier.door.enter(), "nobody else comes in")
	for range 10_000 {
		runtime.Gosched()
	}
	select {
	case <-closed:
		t.Fatal("closed with somebody inside")
	default:
	}
	lane.leave()
	<-closed
}

// Ristretto runs two goroutines. A bubble does not end before they do.
func TestClose_leavesNothingRunning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for range 500 {
			tier, err := New[int](Options{MaxKeys: 16})
			require.NoError(t, err)
			tier.Put("k", 1, 1, never)
			tier.Close()
		}
	})
}

// The pitfalls are real: should ristretto lose one, the tier may lose what it
// does against it.
func TestRistretto_stillHasItsPitfalls(t *testing.T) {
	r, err := ristretto.NewCache(&ristretto.Config[string, int]{
		NumCounters: 1000, MaxCost: 1000, BufferItems: 64, IgnoreInternalCost: true,
		KeyToHash: func(key string) (uint64, uint64) { return uint64(key[0]), 1 },
	})
	require.NoError(t, err)
	defer r.Close()

	late, first := 0, 0
	for range 1000 {
		r.Clear()
		r.Set("k", 1, 1)
		if _, ok := r.Get("k"); !ok {
			late++
			r.Set("k", 2, 1)
			r.Wait()
			if v, _ := r.Get("k"); v == 1 {
				first++
			}
		}
	}
	require.Positive(t, late, "Set takes effect at once")
	require.Positive(t, first, "the second of two Sets stays")
	v, ok := r.Get("kangaroo")
	require.True(t, ok && v > 0, "keys are compared")
}
