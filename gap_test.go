package earlybird

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A value that is replaced is never missing in between: there is no moment at
// which its readers would have to ask the origin.
func TestChanges_replaceAValueWithoutAGap(t *testing.T) {
	var loads atomic.Int64
	c := newTidy(t, counted(&loads), plain[int64](time.Hour))
	mustGet(t, c, "k")

	var reading sync.WaitGroup
	var done atomic.Bool
	for range 3 {
		reading.Go(func() {
			for !done.Load() {
				if _, ok := c.Peek("k"); !ok {
					t.Error("a gap")
					return
				}
				if r, err := c.Lookup(context.Background(), "k"); err != nil || r.State != Fresh {
					t.Errorf("%+v, %v", r, err)
					return
				}
			}
		})
	}
	for i := range int64(scaled(20_000, 1_000_000)) {
		require.NoError(t, c.Set(t.Context(), "k", i))
	}
	done.Store(true)
	reading.Wait()
	require.EqualValues(t, 1, loads.Load())
}
