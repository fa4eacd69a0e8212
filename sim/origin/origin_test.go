package origin

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird"
)

// steady is an origin of two servers, 100 ms a call, without randomness.
var steady = Params{Servers: 2, Service: 100 * time.Millisecond, Crowd: 1, Slowdown: 1}

func newSteady(p Params) *Origin { return New(p, func(key string) bool { return key != "absent" }, 1) }

func TestLoad_answersWhatExists(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := newSteady(steady)
		v, err := o.Load(t.Context(), "a")
		require.NoError(t, err)
		require.Equal(t, Product{Key: "a"}, v)
		_, err = o.Load(t.Context(), "absent")
		require.ErrorIs(t, err, earlybird.ErrNotFound)
		_, err = o.Load(t.Context(), "absent")
		require.ErrorIs(t, err, earlybird.ErrNotFound)
		require.Equal(t, Tally{Calls: 3, MaxConcurrent: 1, AbsentIDs: 1}, o.Tally())
	})
}

func TestLoad_serversAreFinite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		took := crowd(t, newSteady(steady), 6)
		for i, want := range []time.Duration{1, 1, 2, 2, 3, 3} {
			require.Equal(t, want*100*time.Millisecond, took[i], "call %d", i)
		}
	})
}

func TestLoad_slowsDownWhenCallsWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := steady
		slow.Servers, slow.Crowd, slow.Slowdown = 1, 2, 5
		took := crowd(t, newSteady(slow), 5)
		// The first starts before anybody waits; the second leaves three waiting, the
		// third two, and two are a crowd.
		for i, want := range []time.Duration{1, 1 + 5, 1 + 5 + 5, 1 + 5 + 5 + 3, 1 + 5 + 5 + 3 + 1} {
			require.Equal(t, want*100*time.Millisecond, took[i], "call %d", i)
		}
	})
}

func TestLoad_whoLeavesTheQueueCostsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one := steady
		one.Servers = 1
		o := newSteady(one)
		start := time.Now()
		var group sync.WaitGroup
		group.Go(func() { _, _ = o.Load(t.Context(), "a") })
		synctest.Wait()
		for range 3 {
			group.Go(func() {
				ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
				defer cancel()
				_, err := o.Load(ctx, "b")
				require.ErrorIs(t, err, context.DeadlineExceeded)
			})
		}
		synctest.Wait()
		_, err := o.Load(t.Context(), "c")
		require.NoError(t, err)
		require.Equal(t, 200*time.Millisecond, time.Since(start), "c comes right after a")
		group.Wait()
		require.Equal(t, Tally{Calls: 5, Dropped: 3, MaxConcurrent: 5}, o.Tally())
	})
}

func TestLoad_workForWhoHasLeftIsWasted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one := steady
		one.Servers = 1
		o := newSteady(one)
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		start := time.Now()
		_, err := o.Load(ctx, "a")
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, 50*time.Millisecond, time.Since(start))

		_, err = o.Load(t.Context(), "b")
		require.NoError(t, err)
		require.Equal(t, 200*time.Millisecond, time.Since(start), "b waits for a, which nobody wants")
		require.Equal(t, Tally{Calls: 2, Wasted: 1, MaxConcurrent: 2}, o.Tally())
	})
}

func TestLoad_serviceTimesAreErlang(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := Params{Servers: 1, Service: time.Second, Stages: 4, Crowd: 1, Slowdown: 1}
		o := newSteady(p)
		const n = 4000
		var sum, squares float64
		for range n {
			start := time.Now()
			_, err := o.Load(t.Context(), "a")
			require.NoError(t, err)
			took := time.Since(start).Seconds()
			sum, squares = sum+took, squares+took*took
		}
		mean := sum / n
		require.InEpsilon(t, 1, mean, 0.05)
		require.InEpsilon(t, 0.25, squares/n-mean*mean, 0.2, "an Erlang variance is 1/stages")
		require.InEpsilon(t, 1, p.Capacity(), 1e-9)
	})
}

// crowd makes n calls at the same moment and returns how long each took, in the
// order in which they came.
func crowd(t *testing.T, o *Origin, n int) []time.Duration {
	took := make([]time.Duration, n)
	start := time.Now()
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() {
			_, err := o.Load(t.Context(), "a")
			require.NoError(t, err)
			took[i] = time.Since(start)
		})
		synctest.Wait() // so that the origin meets them in this order
	}
	group.Wait()
	return took
}
