package earlybird

import (
	"context"
	"errors"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

var errDown = errors.New("origin down")

// breakable is an origin that can be switched off, and counts the calls.
type breakable struct {
	down  atomic.Bool
	calls atomic.Int64
	takes time.Duration
}

func (o *breakable) load(_ context.Context, key string) (string, error) {
	o.calls.Add(1)
	time.Sleep(o.takes)
	if o.down.Load() {
		return "", errDown
	}
	return key, nil
}

// An origin that fails for a while while values are due: they are kept, it is
// asked seldom, and all are refreshed in time.
func TestOutage_costsNoGoodEntry(t *testing.T) {
	const keys = 50
	synctest.Test(t, func(t *testing.T) {
		origin := &breakable{takes: time.Second}
		opts := Options[string]{TTL: time.Minute, MaxLoads: Off}
		opts.Jitter, opts.Rand = Off, func() float64 { return 1e-6 } // a read up to 13.8 s before expiry is elected
		c := newTidy(t, origin.load, opts)
		together(keys, func(i int) { mustGet(t, c, strconv.Itoa(i)) })

		read := func(d time.Duration) {
			for start := time.Now(); time.Since(start) < d; time.Sleep(100 * time.Millisecond) {
				for i := range keys {
					r, err := c.Lookup(t.Context(), strconv.Itoa(i))
					require.NoError(t, err)
					require.Contains(t, []State{Fresh, Early}, r.State, "nobody waits")
				}
			}
		}
		read(45 * time.Second)
		require.EqualValues(t, keys, origin.calls.Load())
		origin.down.Store(true)
		read(7 * time.Second)
		tried := origin.calls.Load() - keys
		require.GreaterOrEqual(t, tried, int64(2*keys))
		require.LessOrEqual(t, tried, int64(3*keys), "refreshes back off")
		origin.down.Store(false)
		read(45 * time.Second)
		synctest.Wait()
		s := c.Stats()
		require.GreaterOrEqual(t, s.RefreshFailures, uint64(keys))
		require.Equal(t, s.RefreshFailures+keys, s.Refreshes, "each was refreshed in the end")
		require.Zero(t, s.Failed)
	})
}

// An error at the origin says nothing about the value in memory: not in a
// refresh that fails, nor one that panics or hangs.
func TestOutage_noKindOfFailureDropsAValue(t *testing.T) {
	for name, fail := range map[string]func(context.Context) error{
		"error":    func(context.Context) error { return errDown },
		"canceled": func(context.Context) error { return context.Canceled },
		"panic":    func(context.Context) error { panic("bad row") },
		"hang":     func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var calls atomic.Int64
				opts := eager[string](time.Minute)
				opts.LoadTimeout = 2 * time.Second
				c := newTidy(t, func(ctx context.Context, key string) (string, error) {
					if calls.Add(1) > 1 {
						return "", fail(ctx)
					}
					time.Sleep(time.Second)
					return key, nil
				}, opts)
				mustGet(t, c, "k")
				for start := time.Now(); time.Since(start) < time.Minute; time.Sleep(50 * time.Millisecond) {
					require.Equal(t, "k", mustGet(t, c, "k"))
				}
				synctest.Wait()
				require.Positive(t, c.Stats().RefreshFailures)
				require.LessOrEqual(t, calls.Load(), int64(12))
				time.Sleep(time.Minute)
			})
		})
	}
}

// traffic sends rate reads a second of keys drawn at random, by clients with
// so much patience, for d. It returns the keys read and in which second, from
// the start, a read last failed.
func traffic(t *testing.T, c *Cache[string], keys, rate int, patience, d time.Duration) (read map[string]bool, lastFailure int) {
	rnd := rand.New(rand.NewPCG(1, 2))
	read = make(map[string]bool)
	var clients sync.WaitGroup
	var last atomic.Int64
	start := time.Now()
	for time.Since(start) < d {
		key := strconv.Itoa(rnd.IntN(keys))
		read[key] = true
		clients.Go(func() {
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			defer cancel()
			second := int64(time.Since(start) / time.Second)
			switch v, err := c.Get(ctx, key); {
			case err == nil && v == key:
			case errors.Is(err, context.DeadlineExceeded), errors.Is(err, ErrOverloaded), errors.Is(err, errDown):
				last.Store(max(last.Load(), second))
			default:
				t.Errorf("%q, %v", v, err)
			}
		})
		time.Sleep(time.Second / time.Duration(rate))
	}
	clients.Wait()
	return read, int(last.Load())
}

// After a flush the clients are less patient than the origin is fast, and ask
// for five times what it can do. It recovers all the same, because every load
// is stored though its reader has left, and none is made twice.
func TestFlush_underLoadIsRecoveredFrom(t *testing.T) {
	const keys = 400
	synctest.Test(t, func(t *testing.T) {
		origin := &breakable{takes: 100 * time.Millisecond}
		opts := plain[string](time.Hour)
		opts.MaxLoads = 10 // a hundred loads a second: four seconds for all
		c := newTidy(t, origin.load, opts)
		for i := range keys {
			require.NoError(t, c.Set(t.Context(), strconv.Itoa(i), strconv.Itoa(i)))
		}
		_, failed := traffic(t, c, keys, 500, 50*time.Millisecond, 2*time.Second)
		require.Zero(t, failed+int(origin.calls.Load()))

		require.NoError(t, c.InvalidateAll(t.Context()))
		read, lastFailure := traffic(t, c, keys, 500, 50*time.Millisecond, 20*time.Second)
		s := c.Stats()
		require.Less(t, lastFailure, 8, "seconds until nobody fails any more")
		require.EqualValues(t, len(read), origin.calls.Load(), "one load per key")
		require.Equal(t, 10, s.LoadsMost)
		require.Equal(t, 1, s.LoadsMostOneKey)
		require.InDelta(t, 1, s.Amplification(), 1e-9)
	})
}

// An origin that fails for good feels MaxLoads and one load per key at a time,
// whatever the crowd; and is used again as soon as it works.
func TestOutage_ofEverythingIsBoundedByTheGate(t *testing.T) {
	const keys, limit = 200, 8
	synctest.Test(t, func(t *testing.T) {
		origin := &breakable{takes: 500 * time.Millisecond}
		origin.down.Store(true)
		opts := plain[string](time.Hour)
		opts.MaxLoads = limit
		c := newTidy(t, origin.load, opts)
		traffic(t, c, keys, 1000, time.Second, 20*time.Second)
		s := c.Stats()
		require.LessOrEqual(t, origin.calls.Load(), int64(2*limit*(20+2)), "two calls a second in each slot")
		require.Equal(t, limit, s.LoadsMost)
		require.Equal(t, 1, s.LoadsMostOneKey)
		require.Zero(t, s.Values+s.Negatives)
		require.EqualValues(t, 20_000, s.Requests())

		origin.down.Store(false)
		_, lastFailure := traffic(t, c, keys, 1000, time.Second, 30*time.Second)
		require.LessOrEqual(t, lastFailure, 20, "200 keys at 16 a second")
		require.Equal(t, keys, c.Stats().Values)
	})
}
