package earlybird

import (
	"context"
	"math"
	"math/rand/v2"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird/xfetch"
)

// hands are the two clocks of a machine, moved by hand.
type hands struct{ mono, wall atomic.Int64 }

func (h *hands) read() (mono, wall int64) { return h.mono.Load(), h.wall.Load() }

func (h *hands) move(mono, wall time.Duration) {
	h.mono.Add(int64(mono))
	h.wall.Add(int64(wall))
}

const year = 365 * 24 * time.Hour

func TestClock_advancesByTheFasterOfBothClocks(t *testing.T) {
	var h hands
	c := newClock(nil)
	c.read = h.read
	last := c.now()
	for _, s := range []struct {
		what       string
		mono, wall time.Duration
		want       time.Duration
	}{
		{"nothing happens", 0, 0, 0},
		{"time passes", time.Second, time.Second, time.Second},
		{"a suspend stops the monotonic clock", 0, 10 * time.Minute, 10 * time.Minute},
		{"most of the way", time.Second, 10 * time.Minute, 10 * time.Minute},
		{"time passes", time.Nanosecond, time.Nanosecond, time.Nanosecond},
		{"the date is put forward", time.Second, 24 * year, 24 * year},
		{"the date is put back", time.Second, -24 * year, time.Second},
		{"time passes", time.Second, time.Second, time.Second},
		{"the date is put back while nothing else moves", 0, -time.Hour, 0},
		{"and forward again", 0, time.Hour, time.Hour},
		{"time passes", time.Hour, time.Hour, time.Hour},
	} {
		h.move(s.mono, s.wall)
		now := c.now()
		require.Equal(t, s.want, time.Duration(now-last), s.what)
		require.Equal(t, now, c.now(), "a second look moves nothing")
		last = now
	}
}

func TestClock_anyHistoryAddsUp(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	var h hands
	c := newClock(nil)
	c.read = h.read
	var want time.Duration
	for i := range 100_000 {
		mono := time.Duration(rnd.Int64N(int64(time.Second)))
		wall := mono
		switch rnd.IntN(4) {
		case 0:
			wall += 2*time.Millisecond + time.Duration(rnd.Int64N(int64(time.Minute)))
		case 1:
			wall -= 2*time.Millisecond + time.Duration(rnd.Int64N(int64(time.Minute)))
		}
		h.move(mono, wall)
		want += max(mono, wall)
		require.EqualValues(t, want, c.now(), "step %d: %v, %v", i, mono, wall)
	}
}

// The clocks are not read at one instant. Trembling must not make cache time
// run fast, however often it is read.
func TestClock_tremblingDoesNotRatchet(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	var h hands
	c := newClock(nil)
	c.read = func() (mono, wall int64) {
		mono, wall = h.read()
		return mono, wall + rnd.Int64N(wobble) - wobble/2
	}
	for range 1_000_000 {
		h.move(time.Microsecond, time.Microsecond)
		c.now()
	}
	require.Equal(t, time.Second, time.Duration(c.now()))
}

// A wall clock that is slewed is followed upwards, a wobble at a time, and
// never downwards.
func TestClock_followsASlewedWallClock(t *testing.T) {
	run := func(slew time.Duration) time.Duration {
		var h hands
		c := newClock(nil)
		c.read = h.read
		for range 200_000 {
			h.move(5*time.Microsecond, 5*time.Microsecond+slew)
			c.now()
		}
		return time.Duration(c.now())
	}
	require.InDelta(t, float64(time.Second+5*time.Millisecond), float64(run(+25)), float64(wobble))
	require.Equal(t, time.Second, run(-25))
}

// Times from Options.Now may carry no monotonic reading. A step back then
// looks like the monotonic clock went back, and must freeze nothing.
func TestClock_userClocksThatStepBackGoOn(t *testing.T) {
	wall := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	c := newClock(func() time.Time { return wall })
	last := c.now()
	for _, s := range []struct{ move, want time.Duration }{
		{time.Second, time.Second},
		{-time.Hour, 0},
		{time.Second, time.Second},
		{-2 * year, 0},
		{-time.Second, 0},
		{time.Minute, time.Minute},
		{10 * time.Hour, 10 * time.Hour},
		{-time.Nanosecond, 0}, // within the wobble
		{time.Nanosecond, 0},
		{time.Nanosecond, time.Nanosecond},
	} {
		wall = wall.Add(s.move)
		now := c.now()
		require.Equal(t, s.want, time.Duration(now-last), "after a move by %v", s.move)
		last = now
	}
}

func TestClock_saturates(t *testing.T) {
	for _, start := range []time.Time{{}, time.Unix(0, 0), time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)} {
		now := start
		c := newClock(func() time.Time { return now })
		last := c.now()
		for _, to := range []time.Time{
			time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC), {}, time.Unix(1<<40, 0), time.Unix(-1<<40, 0), start,
		} {
			now = to
			require.GreaterOrEqual(t, c.now(), last, "from %v to %v", start, to)
			last = c.now()
		}
	}
	require.Equal(t, int64(math.MaxInt64), satAdd(math.MaxInt64, 1))
	require.Equal(t, int64(math.MaxInt64), satAdd(math.MaxInt64, math.MaxInt64))
	require.Equal(t, int64(math.MinInt64), satAdd(math.MinInt64, -1))
	require.Equal(t, int64(math.MinInt64), satAdd(math.MinInt64, math.MinInt64))
	require.EqualValues(t, -1, satAdd(math.MaxInt64, math.MinInt64))
}

func TestClock_neverGoesBackUnderConcurrentReaders(t *testing.T) {
	for name, c := range map[string]*clock{
		"the machine's":  newClock(nil),
		"a jumpy user's": newClock(jumpy()),
	} {
		t.Run(name, func(t *testing.T) {
			var newest atomic.Int64
			together(8, func(int) {
				for range 20_000 {
					before := newest.Load()
					now := c.now()
					if now < before {
						t.Errorf("%d, and another had read %d before", now, before)
						return
					}
					for old := newest.Load(); now > old && !newest.CompareAndSwap(old, now); {
						old = newest.Load()
					}
				}
			})
		})
	}
}

func jumpy() func() time.Time {
	var n atomic.Int64
	return func() time.Time {
		i := n.Add(1)
		return time.Unix(1e9+i%1000*7919%3600, i)
	}
}

func TestCache_forwardJumpsExpireAndCostNothing(t *testing.T) {
	var h hands
	var loads atomic.Int64
	c := newTidy(t, counted(&loads), plain[int64](time.Minute))
	c.clock.read = h.read
	for i := range 10 {
		mustGet(t, c, strconv.Itoa(i))
	}
	before := heap()
	h.move(time.Second, 24*year)
	for i := range 10 {
		_, ok := c.Peek(strconv.Itoa(i))
		require.False(t, ok)
		mustGet(t, c, strconv.Itoa(i))
	}
	require.EqualValues(t, 20, loads.Load())
	require.Less(t, int64(heap())-int64(before), int64(1<<20))
}

func TestCache_backStepsNeitherFreezeNorExpire(t *testing.T) {
	var h hands
	var loads atomic.Int64
	c := newTidy(t, counted(&loads), plain[int64](time.Minute))
	c.clock.read = h.read
	mustGet(t, c, "k")
	h.move(30*time.Second, -time.Hour)
	require.Equal(t, Result[int64]{1, Fresh, 30 * time.Second}, mustLookup(t, c, "k"))
	h.move(30*time.Second-1, 30*time.Second-1)
	require.Equal(t, Fresh, mustLookup(t, c, "k").State)
	h.move(1, 1)
	require.Equal(t, Loaded, mustLookup(t, c, "k").State, "in elapsed time its life is over")
}

func TestCache_suspendAgesValuesAndAbsences(t *testing.T) {
	var h hands
	var loads atomic.Int64
	c := newTidy(t, func(_ context.Context, key string) (int64, error) {
		if loads.Add(1); key == "absent" {
			return 0, ErrNotFound
		}
		return loads.Load(), nil
	}, plain[int64](time.Minute))
	c.clock.read = h.read
	read := func() {
		mustGet(t, c, "k")
		_, err := c.Get(t.Context(), "absent")
		require.ErrorIs(t, err, ErrNotFound)
	}
	read()
	h.move(0, 29*time.Second)
	read()
	require.EqualValues(t, 2, loads.Load())
	h.move(0, 10*time.Minute)
	read()
	require.EqualValues(t, 4, loads.Load())
}

// While the published reading decides, the entry is far from everything that
// could make it less than fresh.
func TestCoarse_isNotAskedNearTheWindow(t *testing.T) {
	for _, life := range []time.Duration{time.Millisecond, time.Second, time.Minute, time.Hour, math.MaxInt64 / 2} {
		for _, delta := range []time.Duration{0, 1, time.Millisecond, time.Second, time.Hour, math.MaxInt64} {
			for _, beta := range []float64{Off, 0.01, 1, 1e9, math.MaxFloat64} {
				e := &entry[int]{written: 5, expiry: 5 + int64(life)}
				e.delta.Store(int64(delta))
				e.hush(beta)
				quiet := time.Duration(e.quiet.Load())
				left := time.Duration(e.expiry) - quiet
				require.GreaterOrEqual(t, left, xfetch.Window(e.scale(beta)))
				require.GreaterOrEqual(t, left, max(25*time.Millisecond, life/64))
				if life < time.Second {
					require.Less(t, quiet, time.Duration(0), "too short a life for a reading that may lag")
				}
			}
		}
	}
}

func TestCoarse_keepsPaceWhileReadAndSleepsOtherwise(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newTidy(t, echo(0), plain[string](time.Hour))
		asleepNow := func() bool { return c.clock.coarse.now() == asleep && !c.clock.coarse.running.Load() }
		for range 3 {
			mustGet(t, c, "k")
			require.True(t, asleepNow(), "a few reads wake nobody")
			for asleepNow() {
				mustGet(t, c, "k")
				synctest.Wait()
			}
			for range 200 {
				for range 10 {
					mustGet(t, c, "k")
				}
				time.Sleep(300 * time.Microsecond)
				lag := time.Duration(c.clock.now() - c.clock.coarse.now())
				require.GreaterOrEqual(t, lag, time.Duration(0), "never ahead")
				require.LessOrEqual(t, lag, 2*tick)
			}
			time.Sleep((drowsy + 2) * tick)
			synctest.Wait()
			require.True(t, asleepNow(), "with nobody reading nothing ticks")
			time.Sleep(time.Hour)
		}
	})
}

func TestCoarse_userClocksAreNeverTicked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := plain[string](time.Hour)
		opts.Now = time.Now
		c := newTidy(t, echo(0), opts)
		for range 10_000 {
			mustGet(t, c, "k")
		}
		require.False(t, c.clock.coarse.running.Load())
		require.Equal(t, int64(asleep), c.clock.coarse.now())
	})
}

func TestCoarse_endsWithTheCache(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, err := New(echo(0), plain[string](time.Hour))
		require.NoError(t, err)
		for !c.clock.coarse.running.Load() {
			mustGet(t, c, "k")
		}
		start := time.Now()
		require.NoError(t, c.Close())
		require.Zero(t, time.Since(start))
		synctest.Wait()
		require.Equal(t, int64(asleep), c.clock.coarse.now())
	})
}

// However helpers and the end of the ticker interleave, no reading stays
// behind that nobody would move on: a value would then never expire.
func TestCoarse_helpNeverLeavesAReadingBehind(t *testing.T) {
	c := newClock(nil)
	var helping sync.WaitGroup
	var over atomic.Bool
	for range 4 {
		helping.Go(func() {
			for !over.Load() {
				c.coarse.help(c.now())
			}
		})
	}
	for range scaled(3000, 100_000) {
		done := make(chan struct{})
		require.True(t, c.coarse.claim())
		require.False(t, c.coarse.claim(), "one keeper at a time")
		kept := make(chan struct{})
		go func() {
			defer close(kept)
			c.coarse.keep(c.now, func() uint64 { return 0 }, done)
		}()
		close(done)
		<-kept
		for range 10 {
			require.Equal(t, int64(asleep), c.coarse.now())
		}
	}
	over.Store(true)
	helping.Wait()
	require.Equal(t, int64(asleep), c.coarse.now())
}
