package earlybird

import (
	"context"
	"errors"
	"runtime"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird/xfetch"
)

// script is an origin whose nth call takes the nth step; the last step is
// repeated. It answers with the number of the call.
type script struct {
	calls atomic.Int64
	steps []step
}

type step struct {
	takes time.Duration
	err   error
}

func (s *script) load(context.Context, string) (int64, error) {
	n := s.calls.Add(1)
	step := s.steps[min(int(n), len(s.steps))-1]
	time.Sleep(step.takes)
	return n, step.err
}

func TestRefresh_electedReaderReturnsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		origin := &script{steps: []step{{takes: time.Second}}}
		c := newTidy(t, origin.load, eager[int64](time.Minute))
		mustGet(t, c, "k")

		time.Sleep(30 * time.Second)
		start := time.Now()
		require.Equal(t, Result[int64]{1, Early, 30 * time.Second}, mustLookup(t, c, "k"))
		require.Zero(t, time.Since(start))
		require.EqualValues(t, 1, mustGet(t, c, "k"), "the old value is served meanwhile")
		time.Sleep(time.Second)
		synctest.Wait()
		require.Equal(t, Result[int64]{2, Fresh, 0}, mustLookup(t, c, "k"))
		require.EqualValues(t, 1, c.Stats().Refreshes)
		require.EqualValues(t, 1, c.Stats().Loaded, "nobody has waited but the first reader")
	})
}

// However many readers draw well, one refreshes, and the others cost nothing
// but their read.
func TestRefresh_happensOncePerKeyAndTakesNoGoroutinePerReader(t *testing.T) {
	const keys = 5
	synctest.Test(t, func(t *testing.T) {
		var loads atomic.Int64
		c := newTidy(t, func(_ context.Context, key string) (string, error) {
			loads.Add(1)
			time.Sleep(time.Second)
			return key, nil
		}, eager[string](time.Minute))
		readAll := func() {
			for k := range keys {
				mustGet(t, c, strconv.Itoa(k))
			}
		}
		readAll()
		time.Sleep(50 * time.Second)

		readAll()
		synctest.Wait()
		running := runtime.NumGoroutine()
		together(8, func(int) {
			for range 500 {
				readAll()
			}
		})
		synctest.Wait()
		require.LessOrEqual(t, runtime.NumGoroutine(), running+5) // the clock's, and what else the process has running
		require.EqualValues(t, 2*keys, loads.Load())
		require.EqualValues(t, keys, c.Stats().Early)
		time.Sleep(time.Second)
		synctest.Wait()
		require.EqualValues(t, keys, c.Stats().Refreshes)
	})
}

// A value that expires while it is being refreshed sends its readers to that
// refresh, which now counts as urgent.
func TestRefresh_isJoinedOnceTheValueHasExpired(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		origin := &script{steps: []step{{takes: time.Second}, {takes: 5 * time.Second}}}
		c := newTidy(t, origin.load, eager[int64](time.Minute))
		mustGet(t, c, "k")
		time.Sleep(58 * time.Second)
		mustGet(t, c, "k") // 2 s left, the refresh takes 5
		time.Sleep(3 * time.Second)

		start := time.Now()
		together(50, func(int) {
			if r := mustLookup(t, c, "k"); r.Value != 2 || r.State != Joined {
				t.Errorf("%+v", r)
			}
		})
		require.Equal(t, 2*time.Second, time.Since(start))
		require.EqualValues(t, 2, origin.calls.Load())
	})
}

func TestRefresh_failuresKeepTheValueAndBackOff(t *testing.T) {
	down := errors.New("down")
	synctest.Test(t, func(t *testing.T) {
		origin := &script{steps: []step{{takes: time.Second}, {err: down}}}
		opts := eager[int64](time.Minute)
		c := newTidy(t, origin.load, opts)
		mustGet(t, c, "k")

		var at []time.Duration // when the refreshes were started
		for start := time.Now(); time.Since(start) < time.Minute; time.Sleep(10 * time.Millisecond) {
			r := mustLookup(t, c, "k")
			require.EqualValues(t, 1, r.Value, "an error never costs a good value")
			if r.State == Early {
				at = append(at, time.Since(start))
			}
			synctest.Wait()
		}
		synctest.Wait()
		s := c.Stats()
		require.EqualValues(t, len(at), s.RefreshFailures)
		require.EqualValues(t, len(at), origin.calls.Load()-1)

		// From the load's usual cost, doubled up to an eighth of the life. The
		// draw of 0 takes away nothing.
		require.Greater(t, len(at), 4)
		want := time.Second
		for i := 1; i < len(at); i++ {
			require.InDelta(t, float64(want), float64(at[i]-at[i-1]), float64(10*time.Millisecond), "after failure %d", i)
			want = min(2*want, time.Minute/8)
		}
	})
}

// The draw shortens a back-off by up to half, so that keys that failed
// together are not tried again together.
func TestRefresh_backOffIsDrawnAndBounded(t *testing.T) {
	for _, u := range []float64{0, 0.5, 0.999} {
		e := &entry[int]{expiry: int64(time.Hour)}
		e.delta.Store(int64(10 * time.Millisecond))
		for n := range 200 {
			e.backOff(0, u)
			wait := time.Duration(e.more().resume.Load())
			full := mostBackoff
			if n < 10 {
				full = min(leastBackoff<<n, mostBackoff)
			}
			require.InDelta(t, float64(full)*(1-u/2), float64(wait), 2, "failure %d, u=%v", n+1, u)
		}
	}
}

func TestRefresh_successEndsTheBackOff(t *testing.T) {
	down := errors.New("down")
	synctest.Test(t, func(t *testing.T) {
		origin := &script{steps: []step{{takes: time.Second}, {err: down}, {err: down}, {takes: time.Second}, {err: down}}}
		c := newTidy(t, origin.load, eager[int64](time.Minute))
		mustGet(t, c, "k")
		early := func() (n int) {
			for range 300 {
				if mustLookup(t, c, "k").State == Early {
					n++
				}
				time.Sleep(10 * time.Millisecond)
				synctest.Wait()
			}
			return n
		}
		time.Sleep(30 * time.Second)
		require.Equal(t, 2, early(), "at 0 s and 1 s; then at 3 s")
		mustGet(t, c, "k")
		time.Sleep(time.Second)
		synctest.Wait()
		require.Equal(t, Result[int64]{4, Fresh, 0}, mustLookup(t, c, "k"))
		time.Sleep(30 * time.Second)
		require.Equal(t, 2, early(), "the first failure after a success counts as the first")
	})
}

// opensAt looks for the first early read and returns how long before expiry it
// was, to the millisecond. The value must have been written now.
func opensAt(t *testing.T, c *Cache[int64], key string, ttl time.Duration) time.Duration {
	t.Helper()
	for left := ttl - time.Millisecond; left > 0; left -= time.Millisecond {
		time.Sleep(time.Millisecond)
		if mustLookup(t, c, key).State == Early {
			return left
		}
	}
	return 0
}

func window(delta time.Duration, beta float64) float64 {
	return float64(xfetch.Window(xfetch.Scale(delta, beta)))
}

func TestRefresh_windowFollowsCostAndBeta(t *testing.T) {
	for beta, want := range map[float64]time.Duration{
		Off: 0,
		0.5: 10 * time.Millisecond / 2,
		0:   10 * time.Millisecond, // the default is 1
		1:   10 * time.Millisecond,
		2:   2 * 10 * time.Millisecond,
		1e9: time.Second / 16, // clamped by the life
	} {
		synctest.Test(t, func(t *testing.T) {
			origin := &script{steps: []step{{takes: 10 * time.Millisecond}}}
			opts := eager[int64](time.Second)
			opts.Beta, opts.Now = beta, time.Now
			c := newTidy(t, origin.load, opts)
			mustGet(t, c, "k")
			got := opensAt(t, c, "k", time.Second)
			if beta == 1e9 {
				require.Less(t, got, time.Second) // 36.7 sixteenths are all of it
				require.Greater(t, got, 900*time.Millisecond)
			} else {
				require.InDelta(t, window(want, 1), float64(got), float64(time.Millisecond), "beta %v", beta)
			}
			time.Sleep(time.Second)
		})
	}
}

func TestRefresh_offMeansReadersWaitAtExpiry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		origin := &script{steps: []step{{takes: time.Second}}}
		opts := eager[int64](time.Minute)
		opts.Beta = Off
		c := newTidy(t, origin.load, opts)
		mustGet(t, c, "k")
		time.Sleep(time.Minute - 1)
		require.Equal(t, Fresh, mustLookup(t, c, "k").State)
		time.Sleep(1)
		require.Equal(t, Loaded, mustLookup(t, c, "k").State)
		require.Zero(t, c.Stats().Refreshes+c.Stats().Early)
	})
}

// What XFetch goes by is a mean that gives the newest load a quarter, handed
// from each entry to its heir.
func TestRefresh_costIsSmoothedFromHeirToHeir(t *testing.T) {
	const ttl = 20 * time.Second
	synctest.Test(t, func(t *testing.T) {
		origin := &script{steps: []step{
			{takes: 100 * time.Millisecond}, {takes: 500 * time.Millisecond}, {takes: 100 * time.Millisecond}}}
		opts := eager[int64](ttl)
		opts.Now = time.Now
		c := newTidy(t, origin.load, opts)
		mustGet(t, c, "k")
		for i, want := range []time.Duration{
			100 * time.Millisecond,
			200 * time.Millisecond, // 100 + (500-100)/4
			175 * time.Millisecond, // 200 - (200-100)/4
		} {
			require.InDelta(t, window(want, 1), float64(opensAt(t, c, "k", ttl)), float64(time.Millisecond), "generation %d", i+1)
			time.Sleep(origin.steps[min(i+1, 2)].takes)
			synctest.Wait()
		}
	})
}

func TestSet_bringsACostForTheRefreshThatFollows(t *testing.T) {
	const ttl = 20 * time.Second
	synctest.Test(t, func(t *testing.T) {
		origin := &script{steps: []step{{takes: 100 * time.Millisecond}, {takes: 300 * time.Millisecond}}}
		opts := eager[int64](ttl)
		opts.Now = time.Now
		c := newTidy(t, origin.load, opts)
		mustGet(t, c, "cheap")
		mustGet(t, c, "dear")

		require.NoError(t, c.Set(t.Context(), "dear", 0))
		require.InDelta(t, window(300*time.Millisecond, 1), float64(opensAt(t, c, "dear", ttl)), float64(time.Millisecond),
			"that of the entry it replaces")
		time.Sleep(time.Second)
		require.Equal(t, 187500*time.Microsecond, c.Stats().LoadTimeMean) // 100, then 300 twice
		require.NoError(t, c.Set(t.Context(), "unknown", 0))
		require.InDelta(t, window(187500*time.Microsecond, 1), float64(opensAt(t, c, "unknown", ttl)), float64(time.Millisecond),
			"the cache's mean, for want of a better")
		time.Sleep(time.Second)
	})
}

// A load that timed out was at least as dear as LoadTimeout: the next refresh
// starts so much earlier.
func TestRefresh_timeoutCountsAsItsWholeCost(t *testing.T) {
	const ttl = time.Minute
	synctest.Test(t, func(t *testing.T) {
		origin := &script{steps: []step{
			{takes: 100 * time.Millisecond}, {takes: time.Hour}, {takes: 325 * time.Millisecond}}}
		opts := eager[int64](ttl)
		opts.Now, opts.LoadTimeout = time.Now, time.Second
		c := newTidy(t, origin.load, opts)
		mustGet(t, c, "k")
		require.InDelta(t, window(100*time.Millisecond, 1), float64(opensAt(t, c, "k", ttl)), float64(time.Millisecond))
		time.Sleep(2 * time.Second) // the timeout, and the back-off after it
		require.EqualValues(t, 1, c.Stats().RefreshFailures)
		require.EqualValues(t, 1, c.Stats().Abandoned)

		require.Equal(t, Early, mustLookup(t, c, "k").State)
		time.Sleep(325 * time.Millisecond)
		synctest.Wait()
		// 100 + (1000-100)/4 = 325 ms, which the last load confirmed.
		require.InDelta(t, window(325*time.Millisecond, 1), float64(opensAt(t, c, "k", ttl)), float64(time.Millisecond))
		time.Sleep(time.Hour) // until what was abandoned returns
	})
}

// Between a reader's election and the flight behind it somebody else may store
// a newer value. The flight looks again and asks nobody.
func TestRefresh_looksAgainBeforeItLoads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		origin := &script{steps: []step{{takes: time.Second}}}
		var c *Cache[int64]
		var drawn func()
		opts := eager[int64](time.Minute)
		opts.Rand = func() float64 { // a reader's draw comes right before its election
			if f := drawn; f != nil {
				drawn = nil
				f()
			}
			return 0
		}
		c = newTidy(t, origin.load, opts)
		mustGet(t, c, "k")
		time.Sleep(30 * time.Second)

		drawn = func() { require.NoError(t, c.Set(t.Context(), "k", 42)) }
		require.Equal(t, Result[int64]{1, Early, 30 * time.Second}, mustLookup(t, c, "k"))
		synctest.Wait()
		require.EqualValues(t, 1, origin.calls.Load())
		require.Equal(t, Result[int64]{42, Fresh, 0}, mustLookup(t, c, "k"))
	})
}

// A refresh that the gate refuses keeps the value too, and is tried again.
func TestRefresh_thatTheGateRefusesIsPutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := eager[string](time.Minute)
		opts.MaxLoads = 1
		c := newTidy(t, echo(time.Second), opts)
		mustGet(t, c, "k")
		time.Sleep(30 * time.Second)
		for i := range 9 {
			go c.Get(t.Context(), strconv.Itoa(i))
		}
		synctest.Wait()

		require.Equal(t, Early, mustLookup(t, c, "k").State, "and refused: the queue is full")
		synctest.Wait()
		require.EqualValues(t, 1, c.Stats().RefreshFailures)
		require.EqualValues(t, 1, c.Stats().GateSheds)
		require.Equal(t, Result[string]{"k", Fresh, 30 * time.Second}, mustLookup(t, c, "k"))
		time.Sleep(20 * time.Second)
		require.Equal(t, Early, mustLookup(t, c, "k").State)
		time.Sleep(2 * time.Second)
		require.Equal(t, Result[string]{"k", Fresh, time.Second}, mustLookup(t, c, "k"))
	})
}
