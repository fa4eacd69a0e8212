package l1

import (
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// What was read of a store before an invalidation is not kept, whether or not the
// key was held when the invalidation came.
func TestFill_racedByAnInvalidationIsDropped(t *testing.T) {
	for name, invalidate := range map[string]func(*Tier[string]){
		"deleted": func(tier *Tier[string]) { tier.Delete("k") },
		"void":    (*Tier[string]).Void,
		"cleared": (*Tier[string]).Clear,
		"closed":  (*Tier[string]).Close,
	} {
		for _, held := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				tier := newOpen[string](t, 10)
				if held {
					tier.Put("k", "old", 1, never)
				}
				fill := tier.Begin("k")
				invalidate(tier)
				require.False(t, fill.Put("old", 1, never))
				requireNone(t, tier, "k")
				require.False(t, fill.Put("old", 9, never), "nor at another try")
				if name == "closed" {
					return
				}
				fill = tier.Begin("k")
				require.True(t, fill.Put("new", 1, never), "what is read later is kept")
				requireValue(t, tier, "k", "new")
				require.True(t, fill.Put("newer", 2, never))
			})
		}
	}
}

func TestFill_otherKeysDoNotMatter(t *testing.T) {
	tier, err := newTier[int](Options{}, func(key string) uint64 { n, _ := strconv.Atoi(key); return uint64(n) })
	require.NoError(t, err)
	defer tier.Close()
	fill := tier.Begin("1")
	for i := 2; i < 1000; i++ {
		tier.Delete(strconv.Itoa(i))
	}
	tier.Demote("1")
	require.True(t, fill.Put(1, 1, never))
	fill = tier.Begin("1")
	tier.Delete(strconv.Itoa(1 + stripes))
	require.False(t, fill.Put(1, 1, never), "but for one in a thousand")
}

func TestFill_zeroKeepsNothing(t *testing.T) {
	require.False(t, Fill[int]{}.Put(1, 1, never))
	var off *Tier[int]
	require.False(t, off.Begin("k").Put(1, 1, never))
}

func TestFill_doesNotAllocateToBegin(t *testing.T) {
	if underRace {
		t.Skip("the race detector throws away what ristretto would use again")
	}
	tier := newOpen[int](t, 10)
	tier.Put("k", 1, 1, never)
	require.Zero(t, testing.AllocsPerRun(1000, func() {
		tier.Begin("k")
		tier.Delete("k")
		tier.Delete("not held")
		tier.Void()
	}))
}

// Versions are compared among what counts.
func TestVoid_versionsBeforeItDoNotCount(t *testing.T) {
	tier := newOpen[string](t, 10)
	tier.Put("k", "nine", 9, never)
	tier.Put("l", "one", 1, never)
	tier.Void()
	requireNone(t, tier, "k")
	requireNone(t, tier, "l")
	require.Equal(t, 2, tier.Len(), "they keep their places")
	require.True(t, tier.Put("k", "three", 3, never))
	requireValue(t, tier, "k", "three")
	require.False(t, tier.Put("k", "two", 2, never))
	requireNone(t, tier, "l")
}

// Delete voids fills before it takes the value away: one that stores between the
// two stores what is then taken away, and the other way round it would stay.
func TestDelete_voidsFillsFirst(t *testing.T) {
	tier := newOpen[int](t, 10)
	tier.Put("k", 1, 1, never)
	p, fill := tier.find("k"), tier.Begin("k")
	p.mu.Lock()
	deleted := make(chan struct{})
	go func() {
		tier.Delete("k")
		close(deleted)
	}()
	void := false
	for deadline := time.Now().Add(10 * time.Second); !void && time.Now().Before(deadline); runtime.Gosched() {
		void = tier.Begin("k") != fill
	}
	held := p.cell.Load() != nil
	p.mu.Unlock()
	<-deleted
	require.True(t, void, "fills are not void yet")
	require.True(t, held)
	requireNone(t, tier, "k")
}

// Fills race with invalidations of all sorts. After one has returned no older
// value may be found.
func TestFill_keepsStaleValuesOut(t *testing.T) {
	for name, invalidate := range map[string]func(*Tier[uint64], string){
		"deleted": (*Tier[uint64]).Delete,
		"void":    func(tier *Tier[uint64], _ string) { tier.Void() },
		"cleared": func(tier *Tier[uint64], _ string) { tier.Clear() },
		"demoted between": func(tier *Tier[uint64], key string) {
			tier.Demote(key)
			tier.Delete(key)
			tier.Demote(key)
		},
	} {
		t.Run(name, func(t *testing.T) {
			tier := newOpen[uint64](t, 100)
			for _, key := range names(4) {
				var origin, invalidated, kept atomic.Uint64
				var wg sync.WaitGroup
				for range 3 {
					wg.Go(func() {
						for range 3000 {
							least := invalidated.Load()
							if v, ok := tier.Get(key, 0); ok {
								if v < least {
									t.Errorf("%s: found %d after %d was invalidated", key, v, least-1)
									return
								}
								continue
							}
							fill := tier.Begin(key)
							v := origin.Load()
							runtime.Gosched()
							if fill.Put(v, 1, never) {
								kept.Add(1)
							}
						}
					})
				}
				wg.Go(func() {
					for range 700 {
						now := origin.Add(1)
						invalidate(tier, key)
						invalidated.Store(now)
						runtime.Gosched()
					}
				})
				wg.Wait()
				require.Positive(t, kept.Load())
			}
		})
	}
}
