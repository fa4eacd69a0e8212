package earlybird

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestRamp_makesLoadsWaitAndShedsNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := plain[string](time.Hour)
		opts.MaxLoads, opts.Ramp = 64, 2*time.Second
		var mu sync.Mutex
		var now, most int
		var marks [4]int
		start := time.Now()
		c := newTidy(t, func(_ context.Context, key string) (string, error) {
			mu.Lock()
			now++
			most = max(most, now)
			if i := int(time.Since(start) / (500 * time.Millisecond)); i < len(marks) {
				marks[i] = max(marks[i], now)
			}
			mu.Unlock()
			time.Sleep(10 * time.Millisecond)
			mu.Lock()
			now--
			mu.Unlock()
			return key, nil
		}, opts)
		var wg sync.WaitGroup
		for i := range 3000 {
			wg.Go(func() { mustGet(t, c, strconv.Itoa(i)) })
		}
		wg.Wait()
		require.LessOrEqual(t, marks[0], 24)
		require.Greater(t, marks[2], marks[0])
		require.LessOrEqual(t, most, 64)
		require.Zero(t, c.Stats().GateSheds)
	})
}

func TestRamp_followsAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := plain[string](time.Hour)
		opts.MaxLoads, opts.Ramp = 64, 2*time.Second
		var failing atomic.Bool
		c := newTidy(t, func(_ context.Context, key string) (string, error) {
			if failing.Load() {
				return "", errors.New("down")
			}
			return key, nil
		}, opts)
		limit := func() int {
			c.gate.mu.Lock()
			defer c.gate.mu.Unlock()
			return c.gate.pace.narrow(64, time.Now())
		}
		time.Sleep(5 * time.Second)
		require.Equal(t, 64, limit())
		failing.Store(true)
		for i := range outage {
			_, err := c.Get(t.Context(), strconv.Itoa(i))
			require.Error(t, err)
		}
		require.Equal(t, 64, limit())
		failing.Store(false)
		mustGet(t, c, "k")
		require.Equal(t, 16, limit())
		time.Sleep(2 * time.Second)
		require.Equal(t, 64, limit())
	})
}

func TestMaxLoadRate_spacesLoads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := plain[string](time.Hour)
		opts.MaxLoadRate, opts.Ramp, opts.LoadTimeout = 100, Off, time.Minute
		c := newTidy(t, echo(time.Millisecond), opts)
		start := time.Now()
		var wg sync.WaitGroup
		for i := range 510 {
			wg.Go(func() { mustGet(t, c, strconv.Itoa(i)) })
		}
		wg.Wait()
		took := time.Since(start)
		require.InDelta(t, 5, took.Seconds(), 0.2)
	})
}
