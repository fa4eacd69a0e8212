package earlybird_test

import (
	"fmt"
	"math"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird"
	"github.com/earlybird-cache/earlybird/hotkeys"
	"github.com/earlybird-cache/earlybird/storetest"
)

func newTracker(t *testing.T, threshold float64) *hotkeys.Tracker {
	tracker, err := hotkeys.New(hotkeys.Options{Threshold: threshold})
	require.NoError(t, err)
	return tracker
}

// A copy of a hot key goes when another cache changes the key, long before its
// time near is over, and nobody waits for more than a question to the tier.
func TestHot_copiesAreToldOfChanges(t *testing.T) {
	for _, near := range []time.Duration{10 * time.Second, earlybird.Off} {
		t.Run(fmt.Sprint("near ", near), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tracker := newTracker(t, 100)
				f := newFleet(t, 2, earlybird.Options[string]{NearTTL: near, Hot: hotkeys.Rule{Life: 5 * time.Second}, HotKeys: tracker}, someNetwork)
				read := func(d time.Duration) (in map[earlybird.State]int, last string) {
					in = make(map[earlybird.State]int)
					for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(time.Millisecond) {
						r, err := f.caches[1].Lookup(t.Context(), "k")
						require.NoError(t, err)
						in[r.State]++
						last = r.Value
					}
					return in, last
				}
				read(2 * time.Second)
				states, _ := read(time.Second)
				require.Zero(t, states[earlybird.Shared])
				for i := range 30 {
					v := fmt.Sprint("v", i)
					f.write("k", v)
					if i%2 == 0 {
						require.NoError(t, f.caches[0].Set(t.Context(), "k", v))
					} else {
						require.NoError(t, f.caches[0].Invalidate(t.Context(), "k"))
					}
					states, last := read(50 * time.Millisecond)
					require.Equal(t, v, last)
					require.LessOrEqual(t, states[earlybird.Shared]+states[earlybird.Joined]+states[earlybird.Loaded], 3)
				}
			})
		})
	}
}

// However a cache came by its copy of a hot key, be it that another loaded it, that
// its own GetMany found it, or that it has just set it, it is told of the next change.
func TestHot_everyCopyIsToldOfChanges(t *testing.T) {
	for _, near := range []time.Duration{10 * time.Second, earlybird.Off} {
		t.Run(fmt.Sprint("near ", near), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFleet(t, 3, earlybird.Options[string]{NearTTL: near, Hot: hotkeys.Rule{Life: 5 * time.Second}, HotKeys: newTracker(t, 100)}, someNetwork)
				read := func(d time.Duration, many bool) (last [3]string) {
					var readers sync.WaitGroup
					for i, c := range f.caches {
						readers.Go(func() {
							for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(time.Millisecond) {
								var err error
								if many {
									var found map[string]string
									found, err = c.GetMany(t.Context(), []string{"k", "other"})
									last[i] = found["k"]
								} else {
									last[i], err = c.Get(t.Context(), "k")
								}
								require.NoError(t, err)
							}
						})
					}
					readers.Wait()
					return last
				}
				f.write("other", "v")
				read(3*time.Second, false)
				for i := range 30 {
					v := fmt.Sprint("v", i)
					f.write("k", v)
					if c := f.caches[i%3]; i%2 == 0 {
						require.NoError(t, c.Set(t.Context(), "k", v))
					} else {
						require.NoError(t, c.Invalidate(t.Context(), "k"))
					}
					require.Equal(t, [3]string{v, v, v}, read(60*time.Millisecond, i%6 > 2))
				}
			})
		})
	}
}

// While the tier's word can not come, copies of hot keys are asked about at once.
func TestHot_lostWordMakesCopiesSuspect(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 2, earlybird.Options[string]{NearTTL: 30 * time.Second, HotKeys: newTracker(t, 100)}, someNetwork)
		read := func(d time.Duration) (last string) {
			for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(time.Millisecond) {
				v, err := f.caches[1].Get(t.Context(), "k")
				require.NoError(t, err)
				last = v
			}
			return last
		}
		read(3 * time.Second)
		f.tier.Cut(1)
		f.write("k", "v2")
		require.NoError(t, f.caches[0].Invalidate(t.Context(), "k"))
		require.Equal(t, "v1", read(5*time.Second), "it lives, and nothing better can be had")
		f.tier.Heal()
		require.Equal(t, "v2", read(6*time.Second))
	})
}

// A key that is too hot for one server is read from several copies, and a change
// reaches all of them.
func TestHot_splitKeysAreReadFromCopies(t *testing.T) {
	t.Run("Instances are given", func(t *testing.T) { splitKeysAreReadFromCopies(t, 12) })
	t.Run("and found out", func(t *testing.T) { splitKeysAreReadFromCopies(t, 0) })
}

func splitKeysAreReadFromCopies(t *testing.T, given int) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		asked := make(map[string]int)
		net := someNetwork
		net.Fault = func(c storetest.Call) storetest.Fault {
			mu.Lock()
			defer mu.Unlock()
			asked[c.Method]++
			return storetest.Fault{}
		}
		const instances = 12
		f := newFleet(t, instances, earlybird.Options[string]{
			NearTTL:   earlybird.Off,
			Instances: given,
			HotKeys:   newTracker(t, 50),
			Hot:       hotkeys.Rule{Hysteresis: hotkeys.Hysteresis{Threshold: 50}, Life: earlybird.Off, ServerReads: 500},
		}, net)
		read := func(d time.Duration) (last []string) {
			last = make([]string, instances)
			var wg sync.WaitGroup
			for i, c := range f.caches {
				wg.Go(func() {
					for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
						v, err := c.Get(t.Context(), "k")
						require.NoError(t, err)
						last[i] = v
					}
				})
			}
			wg.Wait()
			return last
		}
		read(4 * time.Second)
		hot := f.caches[0].Hot()
		require.Len(t, hot, 1)
		require.Equal(t, hotkeys.Split, hot[0].State)
		clear(asked)
		read(2 * time.Second)
		t.Log(asked)
		require.Greater(t, 4*asked["GetCopy"], asked["Get"]+asked["Watch"], "two caches in three read copies, more or less")
		for i := range 20 {
			v := fmt.Sprint("v", i)
			f.write("k", v)
			require.NoError(t, f.caches[i%instances].Invalidate(t.Context(), "k"))
			for _, got := range read(30 * time.Millisecond) {
				require.Equal(t, v, got)
			}
		}
	})
}

// A key whose rate swings round the threshold changes its state twice a minute at
// most.
func TestHot_swingingTrafficDoesNotFlap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const threshold = 100.0
		f := newFleet(t, 1, earlybird.Options[string]{NearTTL: earlybird.Off, HotKeys: newTracker(t, threshold)}, someNetwork)
		c := f.caches[0]
		state := func() hotkeys.State {
			if hot := c.Hot(); len(hot) > 0 {
				return hot[0].State
			}
			return hotkeys.Cold
		}
		const minutes = 4
		changes, was, began := 0, hotkeys.Cold, time.Now()
		for reads, due := 0.0, 0.0; time.Since(began) < minutes*time.Minute; time.Sleep(5 * time.Millisecond) {
			swing := 0.1 * math.Sin(2*math.Pi*time.Since(began).Seconds()/7)
			for due += hotkeys.Margin * threshold * (1 + swing) * 0.005; reads < due; reads++ {
				_, err := c.Get(t.Context(), "k")
				require.NoError(t, err)
			}
			if is := state(); is != was {
				changes, was = changes+1, is
			}
		}
		t.Logf("%d changes of state in %d minutes", changes, minutes)
		require.Positive(t, changes, "it was never hot")
		require.LessOrEqual(t, changes, 2*minutes)
	})
}
