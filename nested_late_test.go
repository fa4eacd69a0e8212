package earlybird

import (
	"context"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// What a loader leaves running may read the loader's key once the load is
// over: nothing waits for it any more.
func TestNested_readAfterTheLoadIsNoCycle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c *Cache[int64]
		var loads atomic.Int64
		late := make(chan error, 1)
		c = newTidy(t, func(ctx context.Context, key string) (int64, error) {
			if loads.Add(1) == 1 {
				go func() {
					time.Sleep(time.Second)
					_, err := c.Get(context.WithoutCancel(ctx), key)
					late <- err
				}()
			}
			return loads.Load(), nil
		}, plain[int64](time.Millisecond))
		mustGet(t, c, "k")
		require.NoError(t, <-late)
		require.EqualValues(t, 2, loads.Load())
	})
}

// A nested load runs in its parent's slot, and keeps it when the parent does
// not wait for the end of it. Loaders that give up on a slow part would
// otherwise pile calls of it on the origin.
func TestNested_loadThatOutlivesItsParentKeepsTheSlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := plain[string](time.Hour)
		opts.MaxLoads, opts.LoadTimeout = 2, time.Minute
		var c *Cache[string]
		c = newTidy(t, func(ctx context.Context, key string) (string, error) {
			if key[0] == 'p' {
				time.Sleep(time.Second)
				return key, nil
			}
			ctx, cancel := context.WithTimeout(ctx, 10*time.Millisecond)
			defer cancel()
			if _, err := c.Get(ctx, "p"+key); err != nil {
				return key + " without its part", nil
			}
			return key, nil
		}, opts)
		together(16, func(i int) {
			if _, err := c.Get(context.Background(), strconv.Itoa(i)); err != nil {
				t.Error(err)
			}
		})
		require.LessOrEqual(t, c.Stats().LoadsMost, 2*opts.MaxLoads, "in each slot a page and its part")
		time.Sleep(time.Minute)
		require.Zero(t, c.Stats().LoadsNow)
	})
}
