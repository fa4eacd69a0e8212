package earlybird

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// polite is echo for a loader that gives up when its context ends.
func polite(d time.Duration) Loader[string] {
	return func(ctx context.Context, key string) (string, error) {
		select {
		case <-time.After(d):
			return key, nil
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
}

func TestGet_leaderLeavingHarmsNobody(t *testing.T) {
	for name, leave := range map[string]func(context.Context) (context.Context, context.CancelFunc, error){
		"deadline": func(ctx context.Context) (context.Context, context.CancelFunc, error) {
			ctx, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
			return ctx, cancel, context.DeadlineExceeded
		},
		"cancel": func(ctx context.Context) (context.Context, context.CancelFunc, error) {
			ctx, cancel := context.WithCancel(ctx)
			time.AfterFunc(20*time.Millisecond, cancel)
			return ctx, cancel, context.Canceled
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newTidy(t, polite(200*time.Millisecond), plain[string](time.Minute))
				start := time.Now()
				ctx, cancel, want := leave(t.Context())
				defer cancel()
				var wg sync.WaitGroup
				wg.Go(func() {
					_, err := c.Get(ctx, "k")
					if !errors.Is(err, want) || time.Since(start) != 20*time.Millisecond {
						t.Errorf("after %v: %v", time.Since(start), err)
					}
				})
				time.Sleep(5 * time.Millisecond)
				for range 50 {
					wg.Go(func() {
						v, err := c.Get(context.Background(), "k")
						if v != "k" || err != nil || time.Since(start) != 200*time.Millisecond {
							t.Errorf("after %v: %q, %v", time.Since(start), v, err)
						}
					})
				}
				wg.Wait()
				s := c.Stats()
				require.EqualValues(t, 1, s.Loads)
				require.EqualValues(t, 1, s.Left)
				require.EqualValues(t, 50, s.Joined)
			})
		})
	}
}

// Anyone may leave at any time; whoever stays is served by the one load.
func TestGet_waitersLeaveOneByOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newTidy(t, polite(100*time.Millisecond), plain[string](time.Minute))
		var served atomic.Int64
		together(200, func(i int) {
			patience := time.Duration(i+1) * time.Millisecond
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			defer cancel()
			start := time.Now()
			_, err := c.Get(ctx, "k")
			switch waited := time.Since(start); {
			case err == nil && waited == 100*time.Millisecond && patience >= waited:
				served.Add(1)
			case errors.Is(err, context.DeadlineExceeded) && waited == patience && waited <= 100*time.Millisecond:
			default:
				t.Errorf("patience %v: %v after %v", patience, err, waited)
			}
		})
		require.GreaterOrEqual(t, served.Load(), int64(100))
		require.EqualValues(t, 1, c.Stats().Loads)
	})
}

func TestGet_loadGoesOnWhenEverybodyHasLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newTidy(t, polite(time.Second), plain[string](time.Minute))
		together(10, func(int) {
			ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
			defer cancel()
			if _, err := c.Get(ctx, "k"); !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
		})
		time.Sleep(time.Second)
		synctest.Wait()
		require.Equal(t, Fresh, mustLookup(t, c, "k").State, "and is stored for the next")
		require.EqualValues(t, 1, c.Stats().Loads)
	})
}

func TestGet_endedContextStartsAndPoisonsNothing(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	c := newTidy(t, func(ctx context.Context, key string) (string, error) { return key, ctx.Err() }, Options[string]{TTL: time.Minute})
	n := scaled(2000, 10_000)
	for i := range n {
		key := "one by one " + strconv.Itoa(i)
		_, err := c.Get(ended, key)
		require.ErrorIs(t, err, context.Canceled)
		_, err = c.GetMany(ended, []string{key})
		require.ErrorIs(t, worst(err), context.Canceled)
		require.EqualValues(t, i, c.Stats().Loads)
		require.Equal(t, key, mustGet(t, c, key))
	}
	for i := range n {
		key := "at once " + strconv.Itoa(i)
		together(2, func(who int) {
			if who == 0 {
				if _, err := c.Get(ended, key); err != nil && !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
				return
			}
			if v, err := c.Get(context.Background(), key); v != key || err != nil {
				t.Errorf("%q, %v", v, err)
			}
		})
	}
	require.EqualValues(t, 2*n, c.Stats().Loads)
}

func TestLoader_isGivenValuesOfTheCallersContextAndItsOwnDeadline(t *testing.T) {
	type traceKey struct{}
	synctest.Test(t, func(t *testing.T) {
		opts := plain[string](time.Minute)
		opts.LoadTimeout = 3 * time.Second
		c := newTidy(t, func(ctx context.Context, key string) (string, error) {
			deadline, ok := ctx.Deadline()
			return fmt.Sprint(key, ctx.Value(traceKey{}), ok, time.Until(deadline)), ctx.Err()
		}, opts)
		ctx, cancel := context.WithTimeout(context.WithValue(t.Context(), traceKey{}, "trace-7"), time.Second)
		defer cancel()
		v, err := c.Get(ctx, "k")
		require.NoError(t, err)
		require.Equal(t, fmt.Sprint("k", "trace-7", true, 3*time.Second), v)
	})
}

// The flight is over after LoadTimeout, whatever the loader does about it, and
// the reader can tell that from a deadline of his own.
func TestLoadTimeout_freesReadersAndKey(t *testing.T) {
	for name, stuck := range map[string]func(context.Context) error{
		"loader heeds its context":   func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
		"loader wraps what it heard": func(ctx context.Context) error { <-ctx.Done(); return fmt.Errorf("query: %w", ctx.Err()) },
		"loader ignores its context": func(context.Context) error { time.Sleep(time.Hour); return nil },
		"loader fails much later":    func(context.Context) error { time.Sleep(time.Hour); return errors.New("down") },
		"loader exits much later":    func(context.Context) error { time.Sleep(time.Hour); runtime.Goexit(); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var calls atomic.Int64
				opts := plain[int64](2 * time.Hour)
				opts.LoadTimeout = time.Second
				c := newTidy(t, func(ctx context.Context, _ string) (int64, error) {
					n := calls.Add(1)
					if n == 1 {
						return n, stuck(ctx)
					}
					return n, nil
				}, opts)

				start := time.Now()
				together(20, func(int) {
					_, err := c.Get(context.Background(), "k")
					if !errors.Is(err, ErrLoadTimeout) || errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Second {
						t.Errorf("after %v: %v", time.Since(start), err)
					}
				})
				require.EqualValues(t, 20, c.Stats().Failed)
				require.EqualValues(t, 2, mustGet(t, c, "k"), "the key is free")
				time.Sleep(time.Hour + time.Second)
				require.EqualValues(t, 2, mustGet(t, c, "k"), "what comes after the timeout is not stored")
				require.EqualValues(t, 2, calls.Load())
			})
		})
	}
}

// A deadline that the loader met on its own, such as that of a client's pool,
// is its error like any other.
func TestGet_loadersOwnDeadlineIsItsError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newTidy(t, func(ctx context.Context, _ string) (string, error) {
			ctx, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			<-ctx.Done()
			return "", ctx.Err()
		}, plain[string](time.Minute))
		_, err := c.Get(t.Context(), "k")
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.NotErrorIs(t, err, ErrLoadTimeout)
	})
}

func TestGet_callersDeadlineIsHisEvenWhileTheLoadTimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := plain[string](time.Minute)
		opts.LoadTimeout = time.Second
		c := newTidy(t, polite(time.Hour), opts)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second-1)
		defer cancel()
		_, err := c.Get(ctx, "k")
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.NotErrorIs(t, err, ErrLoadTimeout)
		require.EqualValues(t, 1, c.Stats().Left)
		time.Sleep(time.Second)
	})
}

// Whatever ends a refresh, its key is free afterwards. The request that
// happened to be elected ends at once.
func TestRefresh_outlivesTheRequestThatStartedIt(t *testing.T) {
	const loadTime = 150 * time.Millisecond
	for name, end := range map[string]func(context.Context) error{
		"success":  func(context.Context) error { time.Sleep(loadTime); return nil },
		"error":    func(context.Context) error { time.Sleep(loadTime); return errors.New("down") },
		"canceled": func(context.Context) error { time.Sleep(loadTime); return context.Canceled },
		"panic":    func(context.Context) error { time.Sleep(loadTime); panic("bad row") },
		"Goexit":   func(context.Context) error { time.Sleep(loadTime); runtime.Goexit(); return nil },
		"timeout":  func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
		"stuck":    func(context.Context) error { time.Sleep(10 * time.Second); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var calls atomic.Int64
				opts := eager[int64](2 * time.Second)
				opts.LoadTimeout = 200 * time.Millisecond
				c := newTidy(t, func(ctx context.Context, _ string) (int64, error) {
					n := calls.Add(1)
					if n == 2 {
						return n, end(ctx)
					}
					time.Sleep(loadTime)
					return n, nil
				}, opts)
				mustGet(t, c, "k")

				time.Sleep(1900 * time.Millisecond)
				request, cancel := context.WithCancel(t.Context())
				r, err := c.Lookup(request, "k")
				require.NoError(t, err)
				require.Equal(t, Result[int64]{1, Early, 1900 * time.Millisecond}, r)
				cancel()

				// The value has just expired, the refresh still runs, and then it ends.
				time.Sleep(101 * time.Millisecond)
				together(20, func(int) {
					soon, cancel := context.WithTimeout(context.Background(), time.Second)
					defer cancel()
					start := time.Now()
					v, err := c.Get(soon, "k")
					if name != "success" && err != nil && !errors.Is(err, context.DeadlineExceeded) {
						v, err = c.Get(soon, "k") // it had joined the refresh, and failed with it
					}
					if err != nil || v < 2 || time.Since(start) > 2*loadTime {
						t.Errorf("after %v: %d, %v", time.Since(start), v, err)
					}
				})
				require.LessOrEqual(t, calls.Load(), int64(3))
				time.Sleep(10 * time.Second) // until what is stuck returns
			})
		})
	}
}
