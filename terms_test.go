package earlybird

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestStaleWhileRevalidate_nobodyWaitsPastExpiry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var n atomic.Int64
		opts := plain[int64](time.Minute)
		opts.StaleWhileRevalidate = 30 * time.Second
		c := newTidy(t, func(context.Context, string) (int64, error) {
			time.Sleep(time.Second)
			return n.Add(1), nil
		}, opts)
		mustGet(t, c, "k")
		time.Sleep(time.Minute + 10*time.Second)

		for range 5 {
			require.Equal(t, Result[int64]{1, Stale, 70 * time.Second}, mustLookup(t, c, "k"))
		}
		time.Sleep(2 * time.Second)
		require.Equal(t, Result[int64]{2, Fresh, time.Second}, mustLookup(t, c, "k"))
		require.EqualValues(t, 2, n.Load())
		require.EqualValues(t, 5, c.Stats().Stale)

		time.Sleep(time.Minute + 30*time.Second)
		require.Equal(t, Result[int64]{3, Loaded, 0}, mustLookup(t, c, "k"), "too old: wait for a new one")
	})
}

func TestStaleIfError_standsInWhileTheOriginFails(t *testing.T) {
	down := errors.New("down")
	for name, fail := range map[string]func(context.Context) (string, error){
		"error": func(context.Context) (string, error) { return "", down },
		"panic": func(context.Context) (string, error) { panic(down) },
		"hang":  func(ctx context.Context) (string, error) { <-ctx.Done(); return "", ctx.Err() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var failing atomic.Bool
				var calls atomic.Int64
				opts := plain[string](time.Minute)
				opts.StaleIfError, opts.LoadTimeout = time.Hour, time.Second
				c := newTidy(t, func(ctx context.Context, _ string) (string, error) {
					calls.Add(1)
					if failing.Load() {
						return fail(ctx)
					}
					return "good", nil
				}, opts)
				mustGet(t, c, "k")
				time.Sleep(2 * time.Minute)
				failing.Store(true)

				for range 1000 {
					r := mustLookup(t, c, "k")
					require.Equal(t, "good", r.Value)
					require.Equal(t, Stale, r.State)
					require.GreaterOrEqual(t, r.Age, 2*time.Minute)
					time.Sleep(10 * time.Millisecond)
				}
				require.LessOrEqual(t, calls.Load(), int64(12), "failures back off")

				failing.Store(false)
				time.Sleep(mostBackoff)
				require.Equal(t, Loaded, mustLookup(t, c, "k").State)
			})
		})
	}
}

func TestStaleIfError_neverOutlivesAnInvalidation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		down := errors.New("down")
		var failing atomic.Bool
		opts := plain[string](time.Minute)
		opts.StaleIfError, opts.StaleWhileRevalidate = time.Hour, time.Hour
		c := newTidy(t, func(context.Context, string) (string, error) {
			if failing.Load() {
				return "", down
			}
			return "v", nil
		}, opts)
		mustGet(t, c, "k")
		failing.Store(true)
		require.NoError(t, c.Invalidate(t.Context(), "k"))
		_, err := c.Get(t.Context(), "k")
		require.ErrorIs(t, err, down)
	})
}

func TestRevalidate_notModifiedGivesAnotherLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var loads, checks atomic.Int64
		current := "v1"
		opts := plain[string](time.Minute)
		opts.Revalidate = func(_ context.Context, key, old string) (string, error) {
			checks.Add(1)
			time.Sleep(time.Second)
			if old == current {
				return "", ErrNotModified
			}
			return current, nil
		}
		c := newTidy(t, func(context.Context, string) (string, error) {
			loads.Add(1)
			time.Sleep(5 * time.Second)
			return current, nil
		}, opts)
		mustGet(t, c, "k")
		e := c.fresh("k", c.clock.now())
		time.Sleep(time.Minute)

		require.Equal(t, Result[string]{"v1", Loaded, 0}, mustLookup(t, c, "k"))
		time.Sleep(59 * time.Second)
		require.Equal(t, Fresh, mustLookup(t, c, "k").State)
		require.Equal(t, e.delta.Load(), c.fresh("k", c.clock.now()).delta.Load(), "not modified teaches nothing of a load's cost")

		current = "v2"
		time.Sleep(time.Minute)
		require.Equal(t, "v2", mustGet(t, c, "k"))
		require.EqualValues(t, 1, loads.Load())
		require.EqualValues(t, 2, checks.Load())

		require.NoError(t, c.Invalidate(t.Context(), "k"))
		mustGet(t, c, "k")
		require.EqualValues(t, 2, loads.Load(), "nothing there to revalidate")
	})
}

func TestTTLFor_boundsEachLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var loads atomic.Int64
		opts := plain[string](time.Minute)
		opts.TTLFor = func(key string, v string) time.Duration {
			d, err := time.ParseDuration(key)
			require.NoError(t, err)
			require.Equal(t, key, v)
			return d
		}
		c := newTidy(t, func(_ context.Context, key string) (string, error) {
			loads.Add(1)
			return key, nil
		}, opts)
		for key, life := range map[string]time.Duration{"0s": time.Minute, "1s": time.Second, "1h": time.Minute, "1ns": 1} {
			mustGet(t, c, key)
			before := loads.Load()
			time.Sleep(life - 1)
			mustGet(t, c, key)
			require.Equal(t, before, loads.Load(), key)
			time.Sleep(1)
			mustGet(t, c, key)
			require.Equal(t, before+1, loads.Load(), key)
		}
	})
}

func TestTTLFor_offIsSharedAndNotStored(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var loads atomic.Int64
		opts := plain[string](time.Minute)
		opts.TTLFor = func(string, string) time.Duration { return Off }
		c := newTidy(t, func(_ context.Context, key string) (string, error) {
			loads.Add(1)
			time.Sleep(50 * time.Millisecond)
			return key, nil
		}, opts)
		start := time.Now()
		var wg sync.WaitGroup
		for range 200 {
			wg.Go(func() { mustGet(t, c, "k") })
		}
		wg.Wait()
		require.EqualValues(t, 1, loads.Load(), "they do not queue up to load one after the other")
		require.Equal(t, 50*time.Millisecond, time.Since(start))
		mustGet(t, c, "k")
		require.EqualValues(t, 2, loads.Load())
		require.NoError(t, c.Set(t.Context(), "k", "k"))
		require.Zero(t, c.Stats().Values)
	})
}

func TestMaxBytes_boundsTheWeight(t *testing.T) {
	opts := plain[[]byte](time.Minute)
	opts.MaxBytes = 1 << 20
	opts.Weigh = func(_ string, v []byte) int { return len(v) }
	c := newTidy(t, func(_ context.Context, key string) ([]byte, error) {
		return make([]byte, 10<<10), nil
	}, opts)
	for i := range 1000 {
		mustGet(t, c, strconv.Itoa(i))
	}
	c.values.Settle()
	require.LessOrEqual(t, c.values.Len(), 102)
	require.GreaterOrEqual(t, c.values.Len(), 80)
}
