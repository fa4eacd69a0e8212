package earlybird

import (
	"context"
	"runtime"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// A process idles while its date is put forward by a quarter of a century, then
// back by an hour, and is then suspended. Nothing has to be made up for: the
// next reads cost what reads cost, and no value outlives its life.
func TestCache_idlesThroughJumpsAndSuspends(t *testing.T) {
	synctest.Test(t, idleThroughJumpsAndSuspends)
}

func idleThroughJumpsAndSuspends(t *testing.T) {
	const keys = 10
	var h hands
	var looks, loads atomic.Int64
	opts := plain[string](time.Minute)
	opts.NegativeTTL, opts.StaleIfError = time.Minute, Off
	c := newTidy(t, func(_ context.Context, key string) (string, error) {
		loads.Add(1)
		return sometimesAbsent(t.Context(), key)
	}, opts)
	c.clock.read = func() (mono, wall int64) { looks.Add(1); return h.read() }
	read := func() (loaded int64) {
		before := loads.Load()
		for i := range keys {
			mustGet(t, c, strconv.Itoa(i))
		}
		_, err := c.Get(t.Context(), "absent")
		require.ErrorIs(t, err, ErrNotFound)
		return loads.Load() - before
	}
	require.EqualValues(t, keys+1, read())
	used, running := heap(), runtime.NumGoroutine()
	for _, s := range []struct {
		what       string
		mono, wall time.Duration
		loads      int64
	}{
		{"the date goes from 2000 to 2024", time.Second, 24 * year, keys + 1},
		{"two ticks pass", 2 * time.Second, 2 * time.Second, 0},
		{"the date goes back by an hour", time.Second, -time.Hour, 0},
		{"the rest of the life but a moment", 57*time.Second - 1, 57*time.Second - 1, 0},
		{"that moment", 1, 1, keys + 1},
		{"a suspend stops the monotonic clock", 0, 10 * time.Minute, keys + 1},
		{"a short suspend", 0, 59 * time.Second, 0},
		{"and a second awake", time.Second, time.Second, keys + 1},
		{"the date goes back by all those years", 0, -24 * year, 0},
		{"and forward again", 0, 24 * year, keys + 1},
	} {
		time.Sleep((drowsy + 2) * tick) // until the published clock sleeps, as it does in an idle process
		synctest.Wait()
		require.Equal(t, int64(asleep), c.clock.coarse.now())
		h.move(s.mono, s.wall)
		before := looks.Load()
		require.Equal(t, s.loads, read(), s.what)
		require.LessOrEqual(t, looks.Load()-before, int64(12*(keys+1)), "%s: looks at the clock, which grow with reads alone", s.what)
		require.Less(t, int64(heap())-int64(used), int64(1<<20), s.what)
		require.LessOrEqual(t, runtime.NumGoroutine(), running+3, s.what)
	}
}
