package earlybird

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// lists records the lists of keys that a LoadMany was called with.
type lists struct {
	mu   sync.Mutex
	keys [][]string
}

func (l *lists) add(keys []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.keys = append(l.keys, slices.Clone(keys))
}

func (l *lists) all() [][]string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.keys)
}

// batches is a cache of all names whose batches take a second, but for
// "absent", and for "down" whose shard is.
func batches(t *testing.T, l *lists, opts Options[string]) *Cache[string] {
	opts.LoadMany = func(_ context.Context, keys []string) (map[string]string, error) {
		l.add(keys)
		time.Sleep(time.Second)
		found := map[string]string{"uninvited": "guest"}
		var fails error
		for _, k := range keys {
			switch k {
			case "absent":
			case "down":
				fails = fmt.Errorf("batch: %w", &ManyError{Errors: map[string]error{k: errDown}})
			default:
				found[k] = k
			}
		}
		return found, fails
	}
	return newTidy(t, echo(time.Second), opts)
}

func TestGetMany_loadsWhatIsMissingInOneCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l lists
		c := batches(t, &l, plain[string](time.Minute))
		mustGet(t, c, "near")

		found, err := c.GetMany(t.Context(), []string{"a", "near", "b", "a"})
		require.NoError(t, err)
		require.Equal(t, map[string]string{"a": "a", "near": "near", "b": "b"}, found)
		require.Equal(t, [][]string{{"a", "b"}}, l.all())

		found, err = c.GetMany(t.Context(), []string{"a", "b"})
		require.NoError(t, err)
		require.Len(t, found, 2)
		require.Len(t, l.all(), 1, "what was loaded is in memory")
		_, ok := c.Peek("uninvited")
		require.False(t, ok, "what nobody asked for is ignored")
	})
}

func TestGetMany_eachKeyHasItsOwnFate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l lists
		c := batches(t, &l, plain[string](time.Minute))
		found, err := c.GetMany(t.Context(), []string{"2", "absent", "down"})
		require.Equal(t, map[string]string{"2": "2"}, found)
		var each *ManyError
		require.ErrorAs(t, err, &each)
		require.Len(t, each.Errors, 2)
		require.ErrorIs(t, each.Errors["absent"], ErrNotFound)
		require.ErrorIs(t, each.Errors["down"], errDown)

		before := len(l.all())
		require.Equal(t, "2", mustGet(t, c, "2"))
		_, err = c.Get(t.Context(), "absent")
		require.ErrorIs(t, err, ErrNotFound)
		require.Len(t, l.all(), before)
		require.EqualValues(t, 1, c.Stats().NegativeHits)
		require.Equal(t, "down", mustGet(t, c, "down"), "an error is not remembered")
	})
}

func TestGetMany_joinsWhatIsUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l lists
		var single atomic.Int64
		opts := plain[string](time.Minute)
		opts.LoadMany = func(_ context.Context, keys []string) (map[string]string, error) {
			l.add(keys)
			time.Sleep(time.Second)
			return map[string]string{keys[0]: "batch"}, nil
		}
		c := newTidy(t, func(context.Context, string) (string, error) {
			single.Add(1)
			time.Sleep(2 * time.Second)
			return "single", nil
		}, opts)
		first := ask(c, "a")
		synctest.Wait()
		other := make(chan map[string]string)
		go func() {
			found, _ := c.GetMany(context.Background(), []string{"b", "a"})
			other <- found
		}()
		synctest.Wait()
		require.Equal(t, "batch", mustGet(t, c, "b"), "a reader joins a batch's flight")
		require.Equal(t, map[string]string{"a": "single", "b": "batch"}, <-other)
		require.Equal(t, answer{"single", nil}, <-first)
		require.Equal(t, [][]string{{"b"}}, l.all())
		require.EqualValues(t, 1, single.Load())
	})
}

func TestGetMany_earlyRefreshesGoOutAsOneBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var l lists
		c := batches(t, &l, eager[string](time.Minute))
		keys := []string{"a", "b", "c"}
		_, err := c.GetMany(t.Context(), keys)
		require.NoError(t, err)
		time.Sleep(58 * time.Second)

		start := time.Now()
		found, err := c.GetMany(t.Context(), keys)
		require.NoError(t, err)
		require.Len(t, found, 3)
		require.Zero(t, time.Since(start), "nobody waits for a refresh")
		synctest.Wait()
		require.Equal(t, [][]string{keys, keys}, l.all())
		require.EqualValues(t, 3, c.Stats().Early)
		time.Sleep(3 * time.Second)
		require.EqualValues(t, 3, c.Stats().Refreshes)
	})
}

func TestGetMany_isBoundByTheSameLaws(t *testing.T) {
	t.Run("a change fences the batch", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var l lists
			c := batches(t, &l, plain[string](time.Minute))
			done := make(chan error)
			go func() {
				_, err := c.GetMany(context.Background(), []string{"a", "b"})
				done <- err
			}()
			synctest.Wait()
			require.NoError(t, c.Invalidate(t.Context(), "a"))
			require.NoError(t, <-done)
			_, ok := c.Peek("a")
			require.False(t, ok)
			_, ok = c.Peek("b")
			require.True(t, ok)
		})
	})
	t.Run("a panic and a timeout are each key's error", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var calls atomic.Int64
			opts := plain[string](time.Minute)
			opts.LoadTimeout = time.Second
			opts.LoadMany = func(context.Context, []string) (map[string]string, error) {
				if calls.Add(1) == 1 {
					panic("bad row")
				}
				time.Sleep(3 * time.Second)
				return nil, nil
			}
			c := newTidy(t, echo(0), opts)
			for _, want := range []func(error) bool{
				func(err error) bool { var pe *PanicError; return errors.As(err, &pe) },
				func(err error) bool { return errors.Is(err, ErrLoadTimeout) },
			} {
				found, err := c.GetMany(t.Context(), []string{"a", "b"})
				require.Empty(t, found)
				var each *ManyError
				require.ErrorAs(t, err, &each)
				require.True(t, want(each.Errors["a"]), "%v", each.Errors["a"])
				require.True(t, want(each.Errors["b"]), "%v", each.Errors["b"])
			}
			time.Sleep(5 * time.Second)
		})
	})
	t.Run("it takes one slot", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var l lists
			opts := plain[string](time.Minute)
			opts.MaxLoads = 1
			c := batches(t, &l, opts)
			start := time.Now()
			_, err := c.GetMany(t.Context(), []string{"a", "b", "c", "d"})
			require.NoError(t, err)
			require.Equal(t, time.Second, time.Since(start))
			require.Equal(t, 1, c.Stats().LoadsMost)
		})
	})
	t.Run("the caller's context and malformed keys", func(t *testing.T) {
		var l lists
		c := batches(t, &l, plain[string](time.Minute))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		long := string(make([]byte, 5000))
		_, err := c.GetMany(ctx, []string{"a", long})
		var each *ManyError
		require.ErrorAs(t, err, &each)
		require.ErrorIs(t, each.Errors["a"], context.Canceled)
		require.ErrorIs(t, each.Errors[long], ErrMalformedKey)
		require.Empty(t, l.all())
	})
}

func TestGetMany_withoutLoadManyLoadsEachKeyAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := plain[string](time.Minute)
		opts.Ramp = Off
		c := newTidy(t, echo(time.Second), opts)
		start := time.Now()
		found, err := c.GetMany(t.Context(), []string{"a", "b", "c"})
		require.NoError(t, err)
		require.Len(t, found, 3)
		require.Equal(t, time.Second, time.Since(start))
		require.EqualValues(t, 3, c.Stats().Loads)
	})
}

func TestGetMany_insideALoader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c *Cache[string]
		opts := plain[string](time.Minute)
		opts.MaxLoads = 1
		opts.LoadMany = func(_ context.Context, keys []string) (map[string]string, error) {
			found := map[string]string{}
			for _, k := range keys {
				found[k] = k
			}
			return found, nil
		}
		c = newTidy(t, func(ctx context.Context, key string) (string, error) {
			found, err := c.GetMany(ctx, []string{"x", "y", key})
			var each *ManyError
			if !errors.As(err, &each) || !errors.Is(each.Errors[key], ErrRecursiveLoad) {
				return "", fmt.Errorf("own key: %v", err)
			}
			return found["x"] + found["y"], nil
		}, opts)
		require.Equal(t, "xy", mustGet(t, c, "page"))
	})
}

func TestGetMany_countsEachKeyOnce(t *testing.T) {
	c := newTidy(t, echo(0), plain[string](time.Minute))
	for range 3 {
		_, err := c.GetMany(t.Context(), []string{"a", "b", "a"})
		require.NoError(t, err)
	}
	s := c.Stats()
	require.EqualValues(t, 6, s.Requests())
	require.EqualValues(t, 2, s.Loaded)
	require.EqualValues(t, 4, s.Hits)
}
