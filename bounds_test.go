package earlybird

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The bound is a number of values, not of bytes, and all of it can be used. The
// bound by weight is in the unit of Weigh alone, and so can all of that.
func TestMaxEntries_countsValuesWhateverTheirSize(t *testing.T) {
	n := scaled(2000, 10_000)
	for _, size := range []int{1, 10 << 10} {
		for _, weighed := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d bytes, weighed %v", size, weighed), func(t *testing.T) {
				opts := plain[[]byte](time.Hour)
				if opts.MaxEntries = n; weighed {
					opts.MaxEntries, opts.MaxBytes = 0, int64(n*size)
					opts.Weigh = func(_ string, v []byte) int { return len(v) }
				}
				c := newTidy(t, func(context.Context, string) ([]byte, error) { return make([]byte, size), nil }, opts)
				readAll := func() {
					for i := range n {
						mustGet(t, c, strconv.Itoa(i))
					}
				}
				readAll()
				c.values.Settle()
				before := c.Stats().Hits
				readAll()
				require.GreaterOrEqual(t, float64(c.Stats().Hits-before), 0.95*float64(n))
				require.LessOrEqual(t, c.Stats().Values, n)
			})
		}
	}
}

func TestMaxEntries_holdsHoweverManyKeysPass(t *testing.T) {
	for _, bound := range []int{1, 2, 16, 1000} {
		opts := plain[string](time.Hour)
		opts.MaxEntries = bound
		c := newTidy(t, echo(0), opts)
		for i := range 5000 {
			key := strconv.Itoa(i)
			require.Equal(t, key, mustGet(t, c, key))
			if i%2 == 0 {
				require.NoError(t, c.Set(t.Context(), "set "+key, key))
			}
		}
		c.values.Settle()
		require.LessOrEqual(t, c.Stats().Values, bound)
		require.Positive(t, c.Stats().Values)
	}
}

// Keys that come to nothing leave nothing: neither failing ones, nor those
// that are only ever invalidated, nor those whose readers had no time.
func TestMemory_nothingIsKeptOfKeysThatCameToNothing(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, touch := range map[string]func(c *Cache[string], key string){
		"failing":     func(c *Cache[string], key string) { _, _ = c.Get(t.Context(), key) },
		"invalidated": func(c *Cache[string], key string) { _ = c.Invalidate(t.Context(), key) },
		"created":     func(c *Cache[string], key string) { _ = c.Created(t.Context(), key) },
		"peeked":      func(c *Cache[string], key string) { c.Peek(key) },
		"not awaited": func(c *Cache[string], key string) { _, _ = c.Get(ended, key) },
	} {
		t.Run(name, func(t *testing.T) {
			c := newTidy(t, func(context.Context, string) (string, error) { return "", errors.New("down") }, plain[string](time.Hour))
			pass := func(from, to int) uint64 {
				for i := from; i < to; i++ {
					touch(c, fmt.Sprintf("key %036d", i))
				}
				return heap()
			}
			few := scaled(2*mostEpisodes, 100_000)
			many := scaled(5*few, 2_000_000)
			atFew := pass(0, few)
			atMany := pass(few, many)
			require.LessOrEqual(t, float64(atMany), 1.2*float64(atFew))
			require.LessOrEqual(t, len(c.episodes.open), mostEpisodes)
			requireIdle(t, c)
			runtime.KeepAlive(c)
		})
	}
}

// A crawler that reads every id once must not push out what everybody reads.
func TestMaxEntries_oneShotScanLeavesTheHotSetAlone(t *testing.T) {
	hot, bound, reads := scaled(50, 1000), scaled(250, 5000), scaled(5000, 100_000)
	hitRatio := func(scansPerRead int) float64 {
		rnd := rand.New(rand.NewPCG(1, 2))
		zipf := rand.NewZipf(rnd, 1.1, 1, uint64(hot-1))
		opts := plain[string](time.Hour)
		opts.MaxEntries = bound
		c := newTidy(t, echo(0), opts)
		hits, warm := 0, reads/10 // by then the scan has filled the cache
		for i := range reads {
			if mustLookup(t, c, "hot "+strconv.FormatUint(zipf.Uint64(), 10)).State == Fresh && i >= warm {
				hits++
			}
			for s := range scansPerRead {
				mustGet(t, c, fmt.Sprintf("once %d.%d", i, s))
			}
		}
		return float64(hits) / float64(reads-warm)
	}
	quiet, scanned := hitRatio(0), hitRatio(10)
	t.Logf("hot hit ratio %.4f, beside a scan %.4f", quiet, scanned)
	require.InDelta(t, quiet, scanned, 0.05)
}
