package redisstore

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestLane_opensAfterFailuresInARow(t *testing.T) {
	var l lane
	for range 3 {
		for range mostInARow - 1 {
			require.False(t, l.fail(7))
			require.True(t, l.admits(0, false))
			require.True(t, l.doubt.Load())
		}
		l.succeed()
		require.False(t, l.doubt.Load())
	}
	for range mostInARow - 1 {
		require.False(t, l.fail(7))
	}
	require.True(t, l.fail(8), "who opens it is told")
	require.False(t, l.fail(9), "once")
	require.False(t, l.admits(1<<60, false))
	require.EqualValues(t, 9, l.slot.Load())
}

func TestLane_comesBackByAndBy(t *testing.T) {
	var l lane
	for range mostInARow {
		l.fail(1)
	}
	l.resume(1000)
	share := func(now int64) (n int) {
		for range 10_000 {
			if l.admits(now, false) {
				n++
			}
		}
		return n
	}
	require.InDelta(t, 1000, share(1000), 400)
	require.InDelta(t, 5500, share(1000+int64(rampingTime/2)), 500)
	require.Equal(t, 10_000, share(1000+int64(rampingTime)))
	require.Equal(t, closed, l.state.Load())

	for range mostInARow {
		l.fail(1)
	}
	l.resume(0)
	for range mostInARow {
		l.fail(1)
	}
	require.Equal(t, open, l.state.Load(), "it may fail again at once")
}

func TestRota_givesEveryCallItsBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var r rota
		const budget = 80 * time.Millisecond
		seen := map[any]bool{}
		for range 100 {
			now := time.Since(began)
			ctx := r.context(int64(now), budget)
			seen[ctx] = true
			end, ok := ctx.Deadline()
			require.True(t, ok)
			require.GreaterOrEqual(t, end.Sub(began)-now, budget)
			require.LessOrEqual(t, end.Sub(began)-now, budget*9/8)
			time.Sleep(time.Millisecond)
		}
		require.Less(t, len(seen), 12)
		time.Sleep(time.Second)
		for ctx := range seen {
			require.Error(t, ctx.(interface{ Err() error }).Err())
		}
	})
}
