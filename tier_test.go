package earlybird_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird"
	"github.com/earlybird-cache/earlybird/store"
	"github.com/earlybird-cache/earlybird/storetest"
)

// fleet is several caches over one tier and one origin.
type fleet struct {
	tier    *storetest.Memory[string]
	clients []*storetest.Client[string]
	caches  []*earlybird.Cache[string]

	delay   time.Duration // of a load
	loads   atomic.Int64
	running atomic.Int64
	most    atomic.Int64 // loads at once
	mu      sync.Mutex
	rows    map[string]string
	broken  error
}

func (f *fleet) load(ctx context.Context, key string) (string, error) {
	f.loads.Add(1)
	now := f.running.Add(1)
	defer f.running.Add(-1)
	for most := f.most.Load(); now > most && !f.most.CompareAndSwap(most, now); most = f.most.Load() {
	}
	f.mu.Lock()
	v, ok := f.rows[key]
	err := f.broken
	f.mu.Unlock()
	if f.delay > 0 {
		time.Sleep(f.delay)
	}
	switch {
	case err != nil:
		return "", err
	case !ok:
		return "", earlybird.ErrNotFound
	}
	return v, nil
}

func (f *fleet) write(key, v string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rows[key] = v
}

func (f *fleet) breakOrigin(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.broken = err
}

func newFleet(t *testing.T, n int, opts earlybird.Options[string], net storetest.Options[string]) *fleet {
	f := &fleet{tier: storetest.NewMemory(net), rows: map[string]string{"k": "v1"}, delay: 20 * time.Millisecond}
	for range n {
		client := f.tier.Client()
		o := opts
		o.Store = client
		if o.TTL == 0 {
			o.TTL = time.Minute
		}
		c, err := earlybird.New(f.load, o)
		require.NoError(t, err)
		f.clients = append(f.clients, client)
		f.caches = append(f.caches, c)
	}
	t.Cleanup(func() {
		for i, c := range f.caches {
			require.NoError(t, c.Close())
			require.NoError(t, f.clients[i].Close())
		}
	})
	return f
}

var someNetwork = storetest.Options[string]{Latency: 200 * time.Microsecond, Jitter: 100 * time.Microsecond}

func TestTier_coldCrowdsLoadOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 50, earlybird.Options[string]{}, someNetwork)
		var wg sync.WaitGroup
		for i := range 200 {
			wg.Go(func() {
				v, err := f.caches[i%50].Get(t.Context(), "k")
				require.NoError(t, err)
				require.Equal(t, "v1", v)
			})
		}
		wg.Wait()
		require.EqualValues(t, 1, f.loads.Load())
		s := f.caches[7].Stats()
		require.EqualValues(t, 4, s.Requests())
	})
}

func TestTier_answersWithoutTheOrigin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 2, earlybird.Options[string]{}, someNetwork)
		r, err := f.caches[0].Lookup(t.Context(), "k")
		require.NoError(t, err)
		require.Equal(t, earlybird.Loaded, r.State)
		time.Sleep(time.Second)
		r, err = f.caches[1].Lookup(t.Context(), "k")
		require.NoError(t, err)
		require.Equal(t, earlybird.Shared, r.State)
		require.InDelta(t, time.Second, r.Age, float64(10*time.Millisecond))
		r, err = f.caches[1].Lookup(t.Context(), "k")
		require.NoError(t, err)
		require.Equal(t, earlybird.Fresh, r.State)

		_, err = f.caches[0].Get(t.Context(), "absent")
		require.ErrorIs(t, err, earlybird.ErrNotFound)
		_, err = f.caches[1].Get(t.Context(), "absent")
		require.ErrorIs(t, err, earlybird.ErrNotFound)
		require.EqualValues(t, 2, f.loads.Load())
	})
}

// A key that all read all the time costs one load in each of its lives, and
// nobody ever waits.
func TestTier_hotKeyIsLoadedOncePerLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 50, earlybird.Options[string]{TTL: time.Second, NearTTL: 300 * time.Millisecond}, someNetwork)
		_, err := f.caches[0].Get(t.Context(), "k")
		require.NoError(t, err)
		var waited atomic.Int64
		var wg sync.WaitGroup
		for _, c := range f.caches {
			wg.Go(func() {
				_, err := c.Get(t.Context(), "k")
				require.NoError(t, err)
				for range 10 * 100 {
					time.Sleep(10 * time.Millisecond)
					before := time.Now()
					_, err := c.Get(t.Context(), "k")
					require.NoError(t, err)
					if time.Since(before) > 5*time.Millisecond {
						waited.Add(1)
					}
				}
			})
		}
		wg.Wait()
		require.EqualValues(t, 1, f.most.Load())
		require.Zero(t, waited.Load())
		require.LessOrEqual(t, f.loads.Load(), int64(12))
	})
}

func TestTier_changesBindOthersWithinNearTTL(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 3, earlybird.Options[string]{NearTTL: time.Second}, someNetwork)
		get := func(i int) string {
			v, err := f.caches[i].Get(t.Context(), "k")
			require.NoError(t, err)
			return v
		}
		for i := range 300 {
			v := fmt.Sprint("v", i)
			f.write("k", v)
			if i%2 == 0 {
				require.NoError(t, f.caches[0].Invalidate(t.Context(), "k"))
			} else {
				require.NoError(t, f.caches[0].Set(t.Context(), "k", v))
			}
			require.Equal(t, v, get(0))
			until := time.Now().Add(time.Second)
			for time.Now().Before(until) {
				get(1)
				get(2)
				time.Sleep(70 * time.Millisecond)
			}
			require.Equal(t, v, get(1))
			require.Equal(t, v, get(2))
		}
	})
}

func TestTier_outageIsASlowDay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 2, earlybird.Options[string]{NearTTL: time.Second}, someNetwork)
		a, b := f.caches[0], f.caches[1]
		_, err := b.Get(t.Context(), "k")
		require.NoError(t, err)
		f.tier.Cut(1)
		time.Sleep(3 * time.Second)
		r, err := b.Lookup(t.Context(), "k")
		require.NoError(t, err, "what is near serves as long as it lives")
		require.Equal(t, earlybird.Shared, r.State)

		f.write("new", "n1")
		v, err := b.Get(t.Context(), "new")
		require.NoError(t, err, "what is not near comes from the origin")
		require.Equal(t, "n1", v)
		require.True(t, b.Stats().TierDown)

		f.write("new", "n2")
		require.NoError(t, a.Invalidate(t.Context(), "new"))
		f.tier.Heal()
		time.Sleep(1100 * time.Millisecond)
		_, err = b.Get(t.Context(), "other")
		require.ErrorIs(t, err, earlybird.ErrNotFound)
		v, err = b.Get(t.Context(), "new")
		require.NoError(t, err)
		require.Equal(t, "n2", v)
		require.False(t, b.Stats().TierDown)
	})
}

func TestTier_outagePolicies(t *testing.T) {
	for _, p := range []earlybird.Outage{earlybird.Origin, earlybird.StaleOnly, earlybird.Fail} {
		t.Run(p.String(), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFleet(t, 1, earlybird.Options[string]{TTL: time.Second, NearTTL: 100 * time.Millisecond, Outage: p, StaleIfError: time.Minute}, someNetwork)
				c := f.caches[0]
				_, err := c.Get(t.Context(), "k")
				require.NoError(t, err)
				f.tier.Cut(0)
				f.write("k", "v2")
				time.Sleep(2 * time.Second)
				v, err := c.Get(t.Context(), "k")
				_, missed := c.Get(t.Context(), "cold")
				switch p {
				case earlybird.Origin:
					require.NoError(t, err)
					require.Equal(t, "v2", v)
					require.ErrorIs(t, missed, earlybird.ErrNotFound)
				case earlybird.StaleOnly:
					require.NoError(t, err)
					require.Equal(t, "v1", v)
					require.ErrorIs(t, missed, store.ErrUnavailable)
				default:
					require.ErrorIs(t, err, store.ErrUnavailable)
					require.ErrorIs(t, missed, store.ErrUnavailable)
				}
			})
		})
	}
}

func TestTier_failingOriginIsNotHammered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 20, earlybird.Options[string]{}, someNetwork)
		f.breakOrigin(errors.New("down"))
		var wg sync.WaitGroup
		for _, c := range f.caches {
			wg.Go(func() {
				_, err := c.Get(t.Context(), "k")
				if err != earlybird.ErrLoadFailed {
					require.EqualError(t, err, "down")
				}
			})
		}
		wg.Wait()
		require.EqualValues(t, 1, f.most.Load())
		require.LessOrEqual(t, f.loads.Load(), int64(3))
	})
}

// Who can not be told when another's load is over asks now and then.
func TestTier_waitThatFailsIsNoReasonToWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := someNetwork
		net.Fault = func(c storetest.Call) storetest.Fault {
			return storetest.Fault{LoseRequest: c.Method == "Wait"}
		}
		f := newFleet(t, 2, earlybird.Options[string]{}, net)
		var wg sync.WaitGroup
		wg.Go(func() { _, _ = f.caches[0].Get(t.Context(), "k") })
		time.Sleep(f.delay / 2)
		began := time.Now()
		v, err := f.caches[1].Get(t.Context(), "k")
		require.NoError(t, err)
		require.Equal(t, "v1", v)
		require.Less(t, time.Since(began), 200*time.Millisecond)
		wg.Wait()
		require.EqualValues(t, 1, f.loads.Load())
	})
}

// With NearTTL off each read asks the tier, and sees what others have changed.
func TestTier_nearOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 2, earlybird.Options[string]{NearTTL: earlybird.Off, TTL: 10 * time.Second}, someNetwork)
		for i := range 50 {
			v := fmt.Sprint("v", i)
			f.write("k", v)
			if i%2 == 0 {
				require.NoError(t, f.caches[0].Invalidate(t.Context(), "k"))
			} else {
				require.NoError(t, f.caches[0].Set(t.Context(), "k", v))
			}
			for _, c := range f.caches {
				got, err := c.Get(t.Context(), "k")
				require.NoError(t, err)
				require.Equal(t, v, got)
			}
		}
		require.Zero(t, f.caches[0].Stats().Values)
		require.EqualValues(t, 25, f.loads.Load())

		// It is refreshed early all the same.
		begin := f.loads.Load()
		waited := 0
		for range 20 * 200 {
			time.Sleep(5 * time.Millisecond)
			r, err := f.caches[1].Lookup(t.Context(), "k")
			require.NoError(t, err)
			if r.State != earlybird.Shared {
				waited++
			}
		}
		require.Zero(t, waited)
		require.LessOrEqual(t, f.loads.Load()-begin, int64(3))

		// An outage keeps in memory what there is no other copy of.
		f.tier.Cut(1)
		for range 10 {
			_, err := f.caches[1].Get(t.Context(), "k")
			require.NoError(t, err)
		}
		require.Equal(t, 1, f.caches[1].Stats().Values)
		f.tier.Heal()
		time.Sleep(time.Second)
		f.write("k", "healed")
		require.NoError(t, f.caches[0].Invalidate(t.Context(), "k"))
		_, _ = f.caches[1].Get(t.Context(), "other")
		got, err := f.caches[1].Get(t.Context(), "k")
		require.NoError(t, err)
		require.Equal(t, "healed", got)
	})
}

// Who comes when a load has been under way for longer than NearTTL is not given
// what it read before a change of another cache.
func TestTier_slowLoadsBindOthersWithinNearTTL(t *testing.T) {
	for _, absence := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			f := newFleet(t, 2, earlybird.Options[string]{NearTTL: 100 * time.Millisecond}, someNetwork)
			f.delay = time.Second
			if absence {
				f.mu.Lock()
				delete(f.rows, "k")
				f.mu.Unlock()
			}
			var readers sync.WaitGroup
			readers.Go(func() { // began before the change, and may have either
				_, err := f.caches[1].Get(t.Context(), "k")
				require.Equal(t, absence, err != nil)
			})
			time.Sleep(100 * time.Millisecond)
			f.write("k", "v2")
			require.NoError(t, f.caches[0].Invalidate(t.Context(), "k"))
			for range 3 {
				time.Sleep(200 * time.Millisecond)
				readers.Go(func() {
					v, err := f.caches[1].Get(t.Context(), "k")
					require.NoError(t, err)
					require.Equal(t, "v2", v)
				})
			}
			readers.Wait()
			require.EqualValues(t, 2, f.loads.Load())
		})
	}
}
