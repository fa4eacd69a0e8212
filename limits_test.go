package earlybird

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird/bloom"
	"github.com/earlybird-cache/earlybird/hotkeys"
	"github.com/earlybird-cache/earlybird/keyshape"
)

type versions = atomic.Uint64

// scaled returns short, or full where the tests are to run at full size.
func scaled(short, full int) int {
	if os.Getenv("EARLYBIRD_SOAK") != "" {
		return full
	}
	return short
}

func TestGet_hitsAndRejectionsDoNotAllocate(t *testing.T) {
	guard, err := bloom.New(bloom.Options{})
	require.NoError(t, err)
	require.NoError(t, guard.Build(context.Background(), func(yield func(string, error) bool) {
		_ = yield("user:1", nil) && yield("user:404", nil)
	}))
	c := newCache(t, func(_ context.Context, key string) (string, error) {
		if key == "user:1" {
			return "one", nil
		}
		return "", ErrNotFound
	}, Options[string]{Guard: guard, Shapes: keyshape.MustCompile("user:{uint}")})
	ctx := context.Background()
	long := strings.Repeat("9", 2000)
	for name, read := range map[string]struct {
		key string
		err error
	}{
		"hit":       {"user:1", nil},
		"too long":  {long, ErrMalformedKey},
		"malformed": {"user:x", ErrMalformedKey},
		"refused":   {"user:2", ErrNotFound},
		"absent":    {"user:404", ErrNotFound},
	} {
		_, err := c.Get(ctx, read.key)
		require.ErrorIs(t, err, read.err, name)
		require.Zero(t, testing.AllocsPerRun(1000, func() { c.Get(ctx, read.key) }), name)
	}
}

// A miss starts a goroutine, a channel and a context, and stores an entry in a map:
// nine allocations. The race detector adds some.
func TestGet_missesAllocateLittle(t *testing.T) {
	c := newCache(t, func(_ context.Context, key string) (string, error) { return "v", nil }, Options[string]{})
	ctx := context.Background()
	const runs = 1000
	keys := make([]string, 0, runs+1) // one more for a run before
	for i := range cap(keys) {
		keys = append(keys, strconv.Itoa(i))
	}
	allocs := testing.AllocsPerRun(runs, func() {
		c.Get(ctx, keys[0])
		keys = keys[1:]
	})
	require.Empty(t, keys)
	require.LessOrEqual(t, allocs, 12.0)
}

func TestGet_coldKeyIsLoadedOnceForEverybody(t *testing.T) {
	readers, rounds := scaled(1000, 10_000), scaled(50, 200)
	var loads [200]atomic.Int64
	c := newCache(t, func(_ context.Context, key string) (string, error) {
		i, _ := strconv.Atoi(key)
		loads[i].Add(1)
		return key, nil
	}, Options[string]{})
	for round := range rounds {
		key := strconv.Itoa(round)
		start := make(chan struct{})
		var wg sync.WaitGroup
		for range readers {
			wg.Go(func() {
				<-start
				if v, err := c.Get(context.Background(), key); v != key || err != nil {
					t.Error(v, err)
				}
			})
		}
		close(start)
		wg.Wait()
		require.EqualValues(t, 1, loads[round].Load(), "round %d", round)
	}
}

func TestGet_readersOfAHotKeyStartNoGoroutines(t *testing.T) {
	refreshing, let := make(chan struct{}), make(chan struct{})
	var loads atomic.Int64
	var now atomic.Int64
	c := newCache(t, func(context.Context, string) (int, error) {
		if loads.Add(1) > 1 {
			refreshing <- struct{}{}
			<-let
		}
		now.Add(int64(time.Second)) // what the load costs
		return 1, nil
	}, Options[int]{
		TTL:  time.Minute,
		Now:  func() time.Time { return time.Unix(0, now.Load()) },
		Rand: func() float64 { return 1e-9 },
	})
	_, err := c.Get(context.Background(), "k")
	require.NoError(t, err)
	now.Add(int64(40 * time.Second))

	before := runtime.NumGoroutine()
	var most atomic.Int64
	for i := range scaled(5000, 50_000) {
		_, err := c.Get(context.Background(), "k")
		require.NoError(t, err)
		if i == 0 {
			<-refreshing
		}
		most.Store(max(most.Load(), int64(runtime.NumGoroutine())))
	}
	require.EqualValues(t, 2, loads.Load())
	require.LessOrEqual(t, most.Load(), int64(before+5))
	close(let)
}

func TestMemory_doesNotGrowWithTheKeysThatPass(t *testing.T) {
	few := scaled(10_000, 100_000)
	many := scaled(60_000, 5_000_000)
	tracker, err := hotkeys.New(hotkeys.Options{})
	require.NoError(t, err)
	c := newCache(t, func(_ context.Context, key string) (string, error) {
		if key[len(key)-1] == '7' {
			return "", ErrNotFound
		}
		return key, nil
	}, Options[string]{MaxEntries: few / 10, TTL: time.Hour, HotKeys: tracker})
	pass := func(from, to int) uint64 {
		for i := from; i < to; i++ {
			_, err := c.Get(context.Background(), fmt.Sprintf("user:%035d", i))
			if i%10 != 7 {
				require.NoError(t, err)
			}
		}
		return heap()
	}
	atFew := pass(0, few)
	atMany := pass(few, many)
	t.Logf("heap after %d ids %d KiB, after %d %d KiB", few, atFew>>10, many, atMany>>10)
	require.LessOrEqual(t, float64(atMany), 1.2*float64(atFew))
	require.Empty(t, c.flights.table)
	require.Empty(t, c.calls.ofKey)
	require.Empty(t, c.episodes.open)
	require.Zero(t, c.gate.waiting)
	c.values.Settle()
	c.negatives.Settle()
	require.LessOrEqual(t, c.Stats().Values, c.opts.MaxEntries)
	require.LessOrEqual(t, c.Stats().Negatives, c.opts.MaxNegatives)
	runtime.KeepAlive(c)
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

func TestNegatives_floodOfAbsentKeysLeavesTheHotSetAlone(t *testing.T) {
	const hot = 1000
	c := newCache(t, func(_ context.Context, key string) (string, error) {
		if strings.HasPrefix(key, "hot:") {
			return key, nil
		}
		return "", ErrNotFound
	}, Options[string]{MaxEntries: 5000, TTL: time.Hour})
	read := func() {
		for i := range hot {
			_, err := c.Get(context.Background(), "hot:"+strconv.Itoa(i))
			require.NoError(t, err)
		}
	}
	read()
	before := c.Stats()
	for i := range scaled(40_000, 2_000_000) {
		_, err := c.Get(context.Background(), "gone:"+strconv.Itoa(i))
		require.ErrorIs(t, err, ErrNotFound)
	}
	read()
	after := c.Stats()
	require.GreaterOrEqual(t, after.Hits-before.Hits, uint64(0.95*hot))
	c.negatives.Settle()
	require.LessOrEqual(t, c.negatives.Len(), c.opts.MaxNegatives)
}

func TestClose_leavesNothingBehind(t *testing.T) {
	load := func(_ context.Context, key string) (string, error) { return key, nil }
	use := func() {
		c, err := New(load, Options[string]{TTL: time.Minute})
		require.NoError(t, err)
		for i := range 200 {
			_, err := c.Get(context.Background(), strconv.Itoa(i%50))
			require.NoError(t, err)
		}
		require.NoError(t, c.Close())
	}
	for range 20 {
		use()
	}
	goroutines, before := runtime.NumGoroutine(), heap()
	for range scaled(100, 500) {
		use()
	}
	for deadline := time.Now().Add(time.Minute); runtime.NumGoroutine() > goroutines; {
		require.True(t, time.Now().Before(deadline), "%d goroutines, %d before", runtime.NumGoroutine(), goroutines)
		time.Sleep(time.Millisecond)
	}
	require.LessOrEqual(t, float64(heap()), 1.2*float64(before)+1<<20)
}
