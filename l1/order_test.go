package l1

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// Readers of a key see its versions rise, however many write it.
func TestPut_versionsOnlyRise(t *testing.T) {
	const perWriter = 3000
	keys := names(4)
	tier := newOpen[uint64](t, 100)
	var versions atomic.Uint64
	var writers, readers sync.WaitGroup
	done := make(chan struct{})
	for range 4 {
		readers.Go(func() {
			seen := map[string]uint64{}
			for {
				select {
				case <-done:
					return
				default:
				}
				for _, key := range keys {
					v, _ := tier.Get(key, 0)
					if v < seen[key] {
						t.Errorf("%s went back from %d to %d", key, seen[key], v)
						return
					}
					seen[key] = v
				}
			}
		})
	}
	for range 4 {
		writers.Go(func() {
			for i := range perWriter {
				v := versions.Add(1)
				if tier.Put(keys[i%len(keys)], v, v, never) {
					if got, ok := tier.Get(keys[i%len(keys)], 0); !ok || got < v {
						t.Errorf("wrote %d, read %d", v, got)
						return
					}
				}
			}
		})
	}
	writers.Wait()
	close(done)
	readers.Wait()
	require.EqualValues(t, 4*perWriter, tier.Stats().Kept+tier.Stats().Overtaken)
	require.Zero(t, tier.Stats().Refused)
}

// A Delete that starts while the condition is being asked ends after the
// store, and takes what was stored.
func TestPutIf_asksInsideTheSectionThatDeletePasses(t *testing.T) {
	for _, already := range []bool{false, true} {
		tier := newOpen[int](t, 10)
		if already {
			tier.Put("k", 1, 1, never)
		}
		asked, deleted := make(chan struct{}), make(chan struct{})
		go func() {
			<-asked
			tier.Delete("k")
			close(deleted)
		}()
		stored := tier.PutIf("k", 2, 2, never, func() bool {
			close(asked)
			for range 10_000 { // nothing to wait for: Delete must not come through
				runtime.Gosched()
			}
			return true
		})
		require.True(t, stored)
		select {
		case <-asked:
		default:
			t.Fatal("nobody asked")
		}
		<-deleted
		requireNone(t, tier, "k")
	}
}

// Fills race with invalidations: raise, delete, raise. After an invalidation
// has returned no older value may be found.
func TestPutIf_fenceKeepsStaleFillsOut(t *testing.T) {
	tier := newOpen[uint64](t, 100)
	for _, key := range names(4) {
		var fence, origin, invalidated atomic.Uint64
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() { // a reader that fills
				for range 4000 {
					least := invalidated.Load()
					if v, ok := tier.Get(key, 0); ok {
						if v < least {
							t.Errorf("%s: found %d after %d was invalidated", key, v, least-1)
							return
						}
						continue
					}
					pass := fence.Load()
					v := origin.Load()
					runtime.Gosched()
					tier.PutIf(key, v, 1, never, func() bool { return fence.Load() == pass })
				}
			})
		}
		wg.Go(func() {
			for range 2000 {
				now := origin.Add(1)
				fence.Add(1)
				tier.Delete(key)
				fence.Add(1)
				invalidated.Store(now)
			}
		})
		wg.Wait()
	}
}

// The same, all keys at once.
func TestClear_leavesNothingFromBefore(t *testing.T) {
	tier := newOpen[uint64](t, 100)
	keys := names(4)
	var epoch, cleared atomic.Uint64
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := range 4000 {
				key := keys[i%len(keys)]
				least := cleared.Load()
				if v, ok := tier.Get(key, 0); ok && v < least {
					t.Errorf("found %d after %d was cleared", v, least-1)
					return
				}
				e := epoch.Load()
				tier.PutIf(key, e, e, never, func() bool { return epoch.Load() == e })
			}
		})
	}
	for range 2 {
		wg.Go(func() {
			for range 200 {
				e := epoch.Add(1)
				tier.Clear()
				for old := cleared.Load(); old < e && !cleared.CompareAndSwap(old, e); old = cleared.Load() {
				}
				runtime.Gosched()
			}
		})
	}
	wg.Wait()
}
