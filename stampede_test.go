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

// A load that returns at once leaves the shortest moment for a crowd to share
// it: a reader who missed just before it landed must not load again.
func TestGet_crowdsOnColdKeysLoadOnceEach(t *testing.T) {
	readers, rounds := scaled(300, 10_000), scaled(60, 200)
	var loads atomic.Int64
	opts := Options[int64]{TTL: 5 * time.Minute}
	opts.LoadMany = func(_ context.Context, keys []string) (map[string]int64, error) {
		return map[string]int64{keys[0]: loads.Add(1)}, nil
	}
	c := newTidy(t, counted(&loads), opts)
	for round := range rounds {
		key := "k" + strconv.Itoa(round)
		together(readers, func(i int) {
			v, err := int64(0), error(nil)
			if i%8 == 0 {
				many := map[string]int64(nil)
				many, err = c.GetMany(context.Background(), []string{key})
				v = many[key]
			} else {
				v, err = c.Get(context.Background(), key)
			}
			if err != nil || v != int64(round+1) {
				t.Errorf("round %d: got %d, %v", round, v, err)
			}
		})
		require.EqualValues(t, round+1, loads.Load())
	}
	s := c.Stats()
	require.EqualValues(t, rounds*readers, s.Hits+s.Loaded+s.Joined+s.Early)
	require.EqualValues(t, rounds, s.Loaded)
	require.Equal(t, 1, s.LoadsMostOneKey)
	require.EqualValues(t, rounds, s.EpisodeLoads)
}

// together calls f from n goroutines that start at one moment, and waits.
func together(n int, f func(i int)) {
	var wg sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		wg.Go(func() {
			<-start
			f(i)
		})
	}
	close(start)
	wg.Wait()
}

// Crowds also gather where a value was: after it expired, was invalidated, or
// was flushed.
func TestGet_crowdsOnLostValuesLoadOnce(t *testing.T) {
	for name, lose := range map[string]func(*Cache[int64]) error{
		"expired":     func(*Cache[int64]) error { time.Sleep(time.Minute); return nil },
		"invalidated": func(c *Cache[int64]) error { return c.Invalidate(context.Background(), "k") },
		"flushed":     func(c *Cache[int64]) error { return c.InvalidateAll(context.Background()) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var loads atomic.Int64
				c := newTidy(t, func(context.Context, string) (int64, error) {
					time.Sleep(time.Second)
					return loads.Add(1), nil
				}, plain[int64](time.Minute))
				for round := range 5 {
					together(500, func(int) {
						if v, err := c.Get(context.Background(), "k"); err != nil || v != int64(round+1) {
							t.Errorf("round %d: got %d, %v", round, v, err)
						}
					})
					require.EqualValues(t, round+1, loads.Load())
					require.NoError(t, lose(c))
				}
			})
		})
	}
}

// missThenWait returns options that hold back the first read of key after it
// missed and before it joins a flight, until the returned function is called.
func missThenWait(key string) (opts Options[int64], missed <-chan struct{}, goOn func()) {
	held, let := make(chan struct{}), make(chan struct{})
	var later atomic.Bool
	opts = plain[int64](time.Minute)
	opts.GuardPart = func(k string) string { // every miss comes by here
		if k == key && !later.Swap(true) {
			close(held)
			<-let
		}
		return k
	}
	return opts, held, func() { close(let) }
}

func TestGet_looksAgainBeforeItLoads(t *testing.T) {
	var loads atomic.Int64
	opts, missed, goOn := missThenWait("k")
	c := newTidy(t, counted(&loads), opts)

	late := make(chan Result[int64])
	go func() { late <- mustLookup(t, c, "k") }()
	<-missed
	require.NoError(t, c.Set(t.Context(), "k", 42))
	goOn()
	require.Equal(t, Result[int64]{Value: 42, State: Joined}, <-late)
	require.Zero(t, loads.Load())
}

func TestGet_looksAgainForAnAbsenceToo(t *testing.T) {
	var loads atomic.Int64
	opts, missed, goOn := missThenWait("k")
	c := newTidy(t, func(context.Context, string) (int64, error) {
		loads.Add(1)
		return 0, ErrNotFound
	}, opts)

	late := make(chan error)
	go func() { _, err := c.Get(t.Context(), "k"); late <- err }()
	<-missed
	_, err := c.Get(t.Context(), "k")
	require.ErrorIs(t, err, ErrNotFound)
	goOn()
	require.ErrorIs(t, <-late, ErrNotFound)
	require.EqualValues(t, 1, loads.Load())
}

// Results that are not kept are shared all the same. Were waiters sent back to
// try for themselves, one after another, sharing would be the outage.
func TestGet_crowdsShareResultsThatAreNotKept(t *testing.T) {
	failure := errors.New("down")
	for name, origin := range map[string]struct {
		load func() (string, error)
		want error
	}{
		"a value":         {func() (string, error) { return "v", nil }, nil},
		"an invalid one":  {func() (string, error) { return "corrupt", nil }, failure},
		"a cancellation":  {func() (string, error) { return "", context.Canceled }, context.Canceled},
		"an error":        {func() (string, error) { return "", failure }, failure},
		"an absence":      {func() (string, error) { return "", fmt.Errorf("row: %w", ErrNotFound) }, ErrNotFound},
		"its own timeout": {func() (string, error) { return "", context.DeadlineExceeded }, context.DeadlineExceeded},
		"a panic":         {func() (string, error) { panic("bad row") }, &PanicError{}},
		"a Goexit":        {func() (string, error) { runtime.Goexit(); return "", nil }, &PanicError{}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var loads atomic.Int64
				c := newTidy(t, func(context.Context, string) (string, error) {
					loads.Add(1)
					time.Sleep(50 * time.Millisecond)
					return origin.load()
				}, Options[string]{
					TTL: time.Minute, NegativeTTL: Off, MaxNegatives: Off,
					TTLFor: func(string, string) time.Duration { return Off },
					Validate: func(_, v string) error {
						if v == "corrupt" {
							return failure
						}
						return nil
					},
				})

				start := time.Now()
				together(200, func(i int) {
					var err error
					if i%4 == 0 {
						_, err = c.GetMany(context.Background(), []string{"k"})
						err = worst(err)
					} else {
						_, err = c.Get(context.Background(), "k")
					}
					if _, panics := origin.want.(*PanicError); panics {
						requirePanicError(t, err)
					} else if !errors.Is(err, origin.want) {
						t.Errorf("got %v, want %v", err, origin.want)
					}
				})
				require.EqualValues(t, 1, loads.Load())
				require.Equal(t, 50*time.Millisecond, time.Since(start))
				require.Zero(t, c.Stats().Values+c.Stats().Negatives)
			})
		})
	}
}

// Readers that come one by one while loads fail join whichever runs; nobody
// waits for more than one.
func TestGet_readersOfAFailingKeyNeverQueueUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var loads atomic.Int64
		c := newTidy(t, func(context.Context, string) (string, error) {
			loads.Add(1)
			time.Sleep(50 * time.Millisecond)
			return "", errors.New("down")
		}, plain[string](time.Minute))
		var wg sync.WaitGroup
		for range 1000 {
			wg.Go(func() {
				start := time.Now()
				_, err := c.Get(context.Background(), "k")
				if err == nil || time.Since(start) > 50*time.Millisecond {
					t.Errorf("waited %v for %v", time.Since(start), err)
				}
			})
			time.Sleep(time.Millisecond)
		}
		wg.Wait()
		require.LessOrEqual(t, loads.Load(), int64(1000/50+1), "one load at a time")
		require.Equal(t, 1, c.Stats().LoadsMostOneKey)
	})
}

func TestGet_keysDoNotWaitForOneAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newTidy(t, echo(time.Second), plain[string](time.Minute))
		start := time.Now()
		together(100, func(i int) { mustGet(t, c, strconv.Itoa(i)) })
		require.Equal(t, time.Second, time.Since(start))
		require.Equal(t, 100, c.Stats().LoadsMost)
	})
}
