package earlybird

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestClose_underFireIsCleanAndFinal(t *testing.T) {
	for range scaled(20, 300) {
		var closed atomic.Bool
		c, err := New(func(ctx context.Context, key string) (string, error) {
			if closed.Load() {
				t.Error("a load began after Close had returned")
			}
			if len(key)%2 == 0 {
				select { // as a query to the origin that heeds its context
				case <-ctx.Done():
					return "", ctx.Err()
				case <-time.After(time.Second):
				}
			}
			return key, nil
		}, Options[string]{
			TTL:  time.Millisecond,
			Rand: func() float64 { return 0 },
			LoadMany: func(ctx context.Context, keys []string) (map[string]string, error) {
				select {
				case <-ctx.Done():
					return nil, ctx.Err()
				case <-time.After(time.Duration(len(keys)%2) * time.Second):
					return map[string]string{keys[0]: keys[0]}, nil
				}
			},
		})
		require.NoError(t, err)

		var wg sync.WaitGroup
		for g := range 64 {
			wg.Go(func() {
				ctx := context.Background()
				for i := 0; ; i++ {
					key := "k" + strconv.Itoa((g+i)%20)
					err := anyCall(ctx, c, i, key)
					c.Stats()
					c.Peek(key)
					if errors.Is(err, ErrClosed) {
						return
					}
					if err != nil && !errors.Is(err, ErrNotFound) {
						t.Error(err)
						return
					}
				}
			})
		}
		time.Sleep(time.Millisecond)
		together(3, func(int) {
			if err := c.Close(); err != nil {
				t.Error(err)
			}
			closed.Store(true)
			if n := c.Stats().Values; n != 0 {
				t.Errorf("%d values after Close", n)
			}
		})
		wg.Wait()
		requireIdle(t, c)
		require.Zero(t, c.values.Len()+c.negatives.Len(), "nothing was stored after Close")
	}
}

// anyCall makes one of all the calls there are. Of several errors it returns
// ErrClosed if that is among them.
func anyCall(ctx context.Context, c *Cache[string], i int, key string) error {
	switch i % 12 {
	case 3:
		_, err := c.Lookup(ctx, key)
		return err
	case 4:
		_, err := c.GetMany(ctx, []string{key, "k", key + "'"})
		return worst(err)
	case 5:
		return c.Invalidate(ctx, key, "k")
	case 6:
		return c.Set(ctx, key, key)
	case 7:
		return c.Creating(ctx, []string{key}, func() error { return nil })
	case 8:
		return c.Created(ctx, key, "k")
	case 9:
		return c.Warm(ctx, slices.Values([]string{key, "k"}))
	case 10:
		if i%24 == 10 {
			return c.InvalidateAll(ctx)
		}
	}
	_, err := c.Get(ctx, key)
	return err
}

// worst returns the most telling of a ManyError's errors.
func worst(err error) error {
	var each *ManyError
	if !errors.As(err, &each) {
		return err
	}
	for _, e := range each.Errors {
		if err = e; !errors.Is(e, ErrNotFound) {
			break
		}
	}
	return err
}

func TestClose_everyLaterCallSaysSo(t *testing.T) {
	ctx := t.Context()
	c := newTidy(t, echo(0), plain[string](time.Hour))
	mustGet(t, c, "k")
	require.NoError(t, c.Close())
	require.NoError(t, c.Close(), "again is no harm")

	for name, call := range map[string]func() error{
		"Get a value": func() error { _, err := c.Get(ctx, "k"); return err },
		"Get another": func() error { _, err := c.Get(ctx, "other"); return err },
		"Lookup":      func() error { _, err := c.Lookup(ctx, "k"); return err },
		"GetMany": func() error {
			found, err := c.GetMany(ctx, []string{"k", "other"})
			require.Empty(t, found)
			require.ErrorIs(t, err.(*ManyError).Errors["k"], ErrClosed)
			require.ErrorIs(t, err.(*ManyError).Errors["other"], ErrClosed)
			return worst(err)
		},
		"Warm":          func() error { return c.Warm(ctx, slices.Values([]string{"k"})) },
		"Set":           func() error { return c.Set(ctx, "k", "v") },
		"Invalidate":    func() error { return c.Invalidate(ctx, "k") },
		"InvalidateAll": func() error { return c.InvalidateAll(ctx) },
		"Created":       func() error { return c.Created(ctx, "k") },
		"Creating":      func() error { return c.Creating(ctx, []string{"k"}, func() error { return nil }) },
	} {
		require.ErrorIs(t, call(), ErrClosed, name)
	}
	_, ok := c.Peek("k")
	require.False(t, ok)
	require.EqualValues(t, 5, c.Stats().Closed)
	require.EqualValues(t, 1, c.Stats().Loads)
}

// Everybody who waits is let go at once: for a call, for a turn at the gate, or
// for a call that a loader waits for.
func TestClose_releasesEverybodyWhoWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := plain[string](time.Hour)
		opts.MaxLoads = 1
		var c *Cache[string]
		c = newTidy(t, func(ctx context.Context, key string) (string, error) {
			if key == "page" {
				return c.Get(ctx, "part")
			}
			<-ctx.Done()
			return "", ctx.Err()
		}, opts)
		var wg sync.WaitGroup
		for i := range 30 {
			key := []string{"page", "part", "a", "b", "c"}[i%5]
			wg.Go(func() {
				if _, err := c.Get(context.Background(), key); err != ErrClosed {
					t.Errorf("%s: %v", key, err)
				}
			})
			synctest.Wait()
		}
		require.Equal(t, 3, c.Stats().GateQueue)
		start := time.Now()
		require.NoError(t, c.Close())
		wg.Wait()
		require.Zero(t, time.Since(start))
		require.EqualValues(t, 31, c.Stats().Closed) // and the page's read of its part
		require.Zero(t, c.Stats().Shed)
	})
}

func TestClose_waitsForLoadersAndStoresNothingOfThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var returned atomic.Int64
		c := newTidy(t, func(ctx context.Context, key string) (string, error) {
			<-ctx.Done()
			time.Sleep(3 * time.Second) // to roll back
			returned.Add(1)
			return key, nil
		}, plain[string](time.Hour))
		require.NoError(t, c.Set(t.Context(), "held", "v"))
		for i := range 5 {
			go c.Get(t.Context(), strconv.Itoa(i))
		}
		synctest.Wait()
		start := time.Now()
		go func() {
			time.Sleep(time.Second)
			_, err := c.Get(t.Context(), "held")
			require.ErrorIs(t, err, ErrClosed, "also while Close waits, and though the value is in memory")
		}()
		require.NoError(t, c.Close())
		require.Equal(t, 3*time.Second, time.Since(start))
		require.EqualValues(t, 5, returned.Load())
		require.Zero(t, c.values.Len())
	})
}

func TestClose_reportsLoadersThatIgnoreTheirContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := plain[string](time.Hour)
		opts.LoadTimeout = 5 * time.Second
		c, err := New(func(ctx context.Context, key string) (string, error) {
			if key == "polite" {
				<-ctx.Done()
				return "", ctx.Err()
			}
			time.Sleep(time.Minute)
			return key, nil
		}, opts)
		require.NoError(t, err)
		for _, key := range []string{"stuck 1", "stuck 2", "polite"} {
			go c.Get(t.Context(), key)
		}
		synctest.Wait()
		time.Sleep(time.Second)

		start := time.Now()
		together(3, func(int) {
			var stuck *StuckError
			if err := c.Close(); !errors.As(err, &stuck) || stuck.Loads != 2 {
				t.Errorf("%v", err)
			}
			if waited := time.Since(start); waited != 5*time.Second {
				t.Errorf("waited %v", waited)
			}
		})
		require.ErrorContains(t, c.Close(), "2 loader calls")
		require.Equal(t, 2, c.Stats().LoadsNow)

		time.Sleep(time.Minute)
		synctest.Wait()
		requireIdle(t, c)
		require.Zero(t, c.values.Len(), "what they brought is not stored")
		var stuck *StuckError
		require.ErrorAs(t, c.Close(), &stuck, "the answer stays what it was")
	})
}

func TestClose_endsRefreshes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var loads atomic.Int64
		opts := eager[string](time.Minute)
		opts.MaxLoads = 1
		c := newTidy(t, func(ctx context.Context, key string) (string, error) {
			loads.Add(1)
			select {
			case <-ctx.Done():
				return "", ctx.Err()
			case <-time.After(time.Second):
				return key, nil
			}
		}, opts)
		mustGet(t, c, "running")
		mustGet(t, c, "queued")
		time.Sleep(40 * time.Second)
		mustGet(t, c, "running")
		mustGet(t, c, "queued")
		synctest.Wait()
		require.Equal(t, 1, c.Stats().GateQueue)

		start := time.Now()
		require.NoError(t, c.Close())
		require.Zero(t, time.Since(start))
		require.EqualValues(t, 3, loads.Load())
		synctest.Wait()
	})
}

// A loader may close the cache, and so may whoever commits: it takes
// LoadTimeout, since Close cannot know that it waits for its own caller.
func TestClose_fromInsideTheCacheIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := plain[string](time.Hour)
		opts.LoadTimeout = time.Second
		var c *Cache[string]
		closed := make(chan error, 1)
		c, err := New(func(context.Context, string) (string, error) {
			closed <- c.Close()
			return "", nil
		}, opts)
		require.NoError(t, err)
		_, err = c.Get(t.Context(), "k")
		require.ErrorIs(t, err, ErrClosed)
		var stuck *StuckError
		require.ErrorAs(t, <-closed, &stuck)
		require.Equal(t, 1, stuck.Loads)
		synctest.Wait()

		d := newTidy(t, echo(0), plain[string](time.Hour))
		require.ErrorIs(t, d.Creating(t.Context(), []string{"k"}, d.Close), ErrClosed, "it was not told again")
	})
}

// Caches come and go, each with everything under way that can be. The bubble
// itself refuses to end while a goroutine of them is left.
func TestClose_leavesNoGoroutineWhateverWasUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for i := range scaled(60, 500) {
			opts := eager[string](time.Minute)
			opts.MaxLoads = 2
			c, err := New(func(ctx context.Context, key string) (string, error) {
				select {
				case <-ctx.Done():
					return "", ctx.Err()
				case <-time.After(time.Second):
					return key, nil
				}
			}, opts)
			require.NoError(t, err)
			mustGet(t, c, "k")
			time.Sleep(40 * time.Second)
			for range 1000 { // a refresh, and the ticker
				mustGet(t, c, "k")
			}
			hurried, cancel := context.WithTimeout(t.Context(), time.Duration(i)*10*time.Millisecond)
			for j := range 10 {
				go c.Get(hurried, fmt.Sprint(j))
			}
			time.Sleep(300 * time.Millisecond)
			require.NoError(t, c.Close())
			cancel()
			synctest.Wait()
			requireIdle(t, c)
		}
	})
}
