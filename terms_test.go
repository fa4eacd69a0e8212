package earlybird

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
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

func TestValidate_keepsBadValuesOutAndBacksOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bad := errors.New("corrupt")
		var calls atomic.Int64
		var fixed atomic.Bool
		opts := plain[string](time.Minute)
		opts.Validate = func(_, v string) error {
			if v == "bad" {
				return bad
			}
			return nil
		}
		c := newTidy(t, func(context.Context, string) (string, error) {
			calls.Add(1)
			if fixed.Load() {
				return "good", nil
			}
			return "bad", nil
		}, opts)
		// A thousand clients a second, for ten seconds.
		for range 10_000 {
			_, err := c.Get(t.Context(), "k")
			require.ErrorIs(t, err, bad)
			var ie *InvalidError
			require.ErrorAs(t, err, &ie)
			time.Sleep(time.Millisecond)
		}
		require.LessOrEqual(t, calls.Load(), int64(10))
		fixed.Store(true)
		n := c.negative("k", c.clock.now())
		time.Sleep(time.Duration(n.expiry - c.clock.now()))
		require.Equal(t, "good", mustGet(t, c, "k"))

		time.Sleep(2 * time.Minute)
		fixed.Store(false)
		_, err := c.Get(t.Context(), "k")
		require.ErrorIs(t, err, bad)
	})
}

func TestValidate_badRefreshKeepsTheGoodValue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int64
		opts := eager[string](time.Minute)
		opts.Validate = func(_, v string) error {
			if v == "bad" {
				return errors.New("corrupt")
			}
			return nil
		}
		c := newTidy(t, func(context.Context, string) (string, error) {
			time.Sleep(time.Second)
			if calls.Add(1) == 1 {
				return "good", nil
			}
			return "bad", nil
		}, opts)
		mustGet(t, c, "k")
		for range 58 {
			time.Sleep(time.Second)
			require.Equal(t, "good", mustGet(t, c, "k"))
		}
		require.Greater(t, calls.Load(), int64(1))
		require.NotZero(t, c.Stats().RefreshFailures)
	})
}

func TestValidate_mayCallAValueAbsent(t *testing.T) {
	opts := plain[string](time.Minute)
	opts.Validate = func(_, v string) error {
		if v == "tombstone" {
			return ErrNotFound
		}
		return nil
	}
	c := newTidy(t, func(context.Context, string) (string, error) { return "tombstone", nil }, opts)
	for range 2 {
		_, err := c.Get(t.Context(), "k")
		require.ErrorIs(t, err, ErrNotFound)
	}
	require.EqualValues(t, 1, c.Stats().NegativeHits)
}

func TestClone_readersCannotTouchOneAnother(t *testing.T) {
	opts := plain[[]byte](time.Minute)
	opts.Clone = bytes.Clone
	mine := []byte("origin")
	c := newTidy(t, func(context.Context, string) ([]byte, error) { return mine, nil }, opts)
	spoil := func() {
		v := mustGet(t, c, "k")
		require.Equal(t, "origin", string(v))
		copy(v, "XXXXXX")
	}
	var wg sync.WaitGroup
	for range 32 {
		wg.Go(spoil)
	}
	wg.Wait()
	copy(mine, "YYYYYY")
	spoil()
	many, err := c.GetMany(t.Context(), []string{"k"})
	require.NoError(t, err)
	copy(many["k"], "ZZZZZZ")
	r, _ := c.Peek("k")
	require.Equal(t, "origin", string(r.Value))
	copy(r.Value, "XXXXXX")

	given := []byte("set by")
	require.NoError(t, c.Set(t.Context(), "k", given))
	copy(given, "XXXXXX")
	require.Equal(t, "set by", string(mustGet(t, c, "k")))
}

func TestCanonical_oneKeyWhateverTheSpelling(t *testing.T) {
	var loads atomic.Int64
	opts := plain[string](time.Minute)
	opts.Canonical = func(k string) string { return strings.ToLower(strings.TrimSuffix(k, ".")) }
	c := newTidy(t, func(_ context.Context, key string) (string, error) {
		require.Equal(t, "example.com", key)
		return strconv.FormatInt(loads.Add(1), 10), nil
	}, opts)
	require.Equal(t, "1", mustGet(t, c, "Example.COM."))
	require.Equal(t, "1", mustGet(t, c, "example.com"))
	many, err := c.GetMany(t.Context(), []string{"EXAMPLE.com", "example.com."})
	require.NoError(t, err)
	require.Equal(t, map[string]string{"EXAMPLE.com": "1", "example.com.": "1"}, many)
	require.NoError(t, c.Invalidate(t.Context(), "EXAMPLE.com."))
	many, err = c.GetMany(t.Context(), []string{"EXAMPLE.com", "example.com."})
	require.NoError(t, err)
	require.Equal(t, map[string]string{"EXAMPLE.com": "2", "example.com.": "2"}, many)
	require.NoError(t, c.Set(t.Context(), "Example.com", "9"))
	r, ok := c.Peek("example.COM")
	require.True(t, ok)
	require.Equal(t, "9", r.Value)
	require.NoError(t, c.Created(t.Context(), "Example.com"))
	require.Equal(t, 1, c.Stats().Values)
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

func TestOnError_hearsOfFailuresAndMayPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var events []Event
		down := errors.New("down")
		opts := eager[string](time.Minute)
		opts.Name = "users"
		opts.OnError = func(e Event) {
			mu.Lock()
			events = append(events, e)
			mu.Unlock()
			panic("hook")
		}
		var calls atomic.Int64
		c := newTidy(t, func(context.Context, string) (string, error) {
			time.Sleep(time.Second)
			if calls.Add(1) == 2 {
				return "v", nil
			}
			return "", down
		}, opts)
		_, err := c.Get(t.Context(), "k")
		require.ErrorIs(t, err, down)
		mustGet(t, c, "k")
		time.Sleep(59 * time.Second)
		mustGet(t, c, "k")
		time.Sleep(2 * time.Second)
		mu.Lock()
		defer mu.Unlock()
		require.Equal(t, []Event{
			{Cache: "users", Key: "k", Err: down},
			{Cache: "users", Key: "k", Refresh: true, Err: down},
		}, events)
	})
}

func TestWarm_fillsWithoutCrowdingTheOrigin(t *testing.T) {
	for _, many := range []bool{false, true} {
		t.Run("LoadMany="+strconv.FormatBool(many), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				opts := Options[string]{TTL: time.Hour, MaxLoads: 40, Ramp: Off}
				var calls atomic.Int64
				one := func(_ context.Context, key string) (string, error) {
					calls.Add(1)
					time.Sleep(10 * time.Millisecond)
					if strings.HasPrefix(key, "absent") {
						return "", ErrNotFound
					}
					return key, nil
				}
				if many {
					opts.LoadMany = func(ctx context.Context, keys []string) (map[string]string, error) {
						calls.Add(1)
						time.Sleep(10 * time.Millisecond)
						found := map[string]string{}
						for _, k := range keys {
							if !strings.HasPrefix(k, "absent") {
								found[k] = k
							}
						}
						return found, nil
					}
				}
				c := newTidy(t, one, opts)
				mustGet(t, c, "k7")
				keys := []string{"absent1", strings.Repeat("x", 9999)}
				for i := range 5000 {
					keys = append(keys, "k"+strconv.Itoa(i))
				}
				var reports []Warmed
				require.NoError(t, c.Warm(t.Context(), slices.Values(keys), func(w Warmed) { reports = append(reports, w) }))
				require.Equal(t, Warmed{Seen: 5002, Loaded: 4999, Held: 1, Absent: 2}, reports[len(reports)-1])
				require.LessOrEqual(t, c.Stats().LoadsMost, 4)
				if many {
					require.LessOrEqual(t, calls.Load(), int64(60))
				}

				lives := map[time.Duration]int{}
				for i := range 5000 {
					e := c.fresh("k"+strconv.Itoa(i), c.clock.now())
					require.NotNil(t, e)
					lives[time.Duration(e.expiry-e.written)/(10*time.Minute)]++
				}
				require.GreaterOrEqual(t, len(lives), 3, "lives are spread over half of TTL: %v", lives)
				before := calls.Load()
				require.NoError(t, c.Warm(t.Context(), slices.Values(keys[2:])))
				require.Equal(t, before, calls.Load(), "what is held is not loaded again")
			})
		})
	}
}

func TestWarm_saysHowFarItGot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		down := errors.New("down")
		ctx, cancel := context.WithCancel(t.Context())
		c := newTidy(t, func(_ context.Context, key string) (string, error) {
			switch key {
			case "3":
				return "", down
			case "50":
				cancel()
			}
			time.Sleep(time.Second)
			return key, nil
		}, Options[string]{TTL: time.Hour, MaxLoads: 10, Ramp: Off})
		keys := make([]string, 100)
		for i := range keys {
			keys[i] = strconv.Itoa(i)
		}
		err := c.Warm(ctx, slices.Values(keys))
		var we *WarmError
		require.ErrorAs(t, err, &we)
		require.ErrorIs(t, err, context.Canceled)
		require.GreaterOrEqual(t, we.Seen, 40)
		require.Less(t, we.Seen, 60)

		err = c.Warm(t.Context(), slices.Values(keys[we.Seen:]))
		require.NoError(t, err)
		err = c.Warm(t.Context(), slices.Values(keys))
		require.ErrorIs(t, err, down)
		require.ErrorAs(t, err, &we)
		require.Equal(t, 100, we.Seen)
		require.Equal(t, 1, we.Failed)
	})
}

func TestRamp_makesLoadsWaitAndShedsNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := plain[string](time.Hour)
		opts.MaxLoads, opts.Ramp = 64, 2*time.Second
		var mu sync.Mutex
		var now, most int
		var marks [4]int
		start := time.Now()
		c := newTidy(t, func(_ context.Context, key string) (string, error) {
			mu.Lock()
			now++
			most = max(most, now)
			if i := int(time.Since(start) / (500 * time.Millisecond)); i < len(marks) {
				marks[i] = max(marks[i], now)
			}
			mu.Unlock()
			time.Sleep(10 * time.Millisecond)
			mu.Lock()
			now--
			mu.Unlock()
			return key, nil
		}, opts)
		var wg sync.WaitGroup
		for i := range 3000 {
			wg.Go(func() { mustGet(t, c, strconv.Itoa(i)) })
		}
		wg.Wait()
		require.LessOrEqual(t, marks[0], 24)
		require.Greater(t, marks[2], marks[0])
		require.LessOrEqual(t, most, 64)
		require.Zero(t, c.Stats().GateSheds)
	})
}

func TestRamp_followsAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := plain[string](time.Hour)
		opts.MaxLoads, opts.Ramp = 64, 2*time.Second
		var failing atomic.Bool
		c := newTidy(t, func(_ context.Context, key string) (string, error) {
			if failing.Load() {
				return "", errors.New("down")
			}
			return key, nil
		}, opts)
		limit := func() int {
			c.gate.mu.Lock()
			defer c.gate.mu.Unlock()
			return c.gate.pace.narrow(64, time.Now())
		}
		time.Sleep(5 * time.Second)
		require.Equal(t, 64, limit())
		failing.Store(true)
		for i := range outage {
			_, err := c.Get(t.Context(), strconv.Itoa(i))
			require.Error(t, err)
		}
		require.Equal(t, 64, limit())
		failing.Store(false)
		mustGet(t, c, "k")
		require.Equal(t, 16, limit())
		time.Sleep(2 * time.Second)
		require.Equal(t, 64, limit())
	})
}

func TestMaxLoadRate_spacesLoads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := plain[string](time.Hour)
		opts.MaxLoadRate, opts.Ramp, opts.LoadTimeout = 100, Off, time.Minute
		c := newTidy(t, echo(time.Millisecond), opts)
		start := time.Now()
		var wg sync.WaitGroup
		for i := range 510 {
			wg.Go(func() { mustGet(t, c, strconv.Itoa(i)) })
		}
		wg.Wait()
		took := time.Since(start)
		require.InDelta(t, 5, took.Seconds(), 0.2)
	})
}
