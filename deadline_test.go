package earlybird

import (
	"context"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird/xfetch"
)

// played is what a key's readers and its origin saw of many lives.
type played struct {
	reads, waited, loads int
	lives                float64
}

// play reads a key, rate times a second at random, for so many of its lives of
// a minute. A load takes 100 ms.
func play(t *testing.T, rule xfetch.Rule, rate float64, lives int) (p played) {
	const life, load = time.Minute, 100 * time.Millisecond
	synctest.Test(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(1, uint64(rate)))
		var loads atomic.Int64
		c := newTidy(t, func(context.Context, string) (int, error) {
			loads.Add(1)
			time.Sleep(load)
			return 0, nil
		}, Options[int]{TTL: life, Jitter: Off, Refresh: rule})
		const learning = 3 // generations
		mustRead := func() State {
			r, err := c.Lookup(context.Background(), "k")
			require.NoError(t, err)
			time.Sleep(max(1, time.Duration(rng.ExpFloat64()/rate*1e9)))
			return r.State
		}
		for start := time.Now(); time.Since(start) < learning*life; {
			mustRead()
		}
		start, before := time.Now(), loads.Load()
		for time.Since(start) < time.Duration(lives)*life {
			p.reads++
			if s := mustRead(); s == Loaded || s == Joined {
				p.waited++
			}
		}
		p.loads, p.lives = int(loads.Load()-before), float64(time.Since(start))/float64(life)
	})
	return p
}

// With xfetch.Deadline a key's readers hardly ever wait, however seldom it is
// read, and its origin pays for little more than one load a life. The classic
// rule is as good with hot keys only.
func TestRefresh_deadlineIsInTimeAtAnyRate(t *testing.T) {
	for _, row := range []struct {
		rate                        float64
		lives                       int
		classicWaits, deadlineWaits float64 // per life
		loads                       float64 // per life, at most
	}{
		{rate: 0.5, lives: 400, classicWaits: 0.8, deadlineWaits: 0.03, loads: 1.5},
		{rate: 5, lives: 100, classicWaits: 0.45, deadlineWaits: 0.02, loads: 1.2},
		{rate: float64(scaled(50, 200)), lives: 20, deadlineWaits: 0, loads: 1.1},
	} {
		classic, deadline := play(t, xfetch.Classic, row.rate, row.lives), play(t, xfetch.Deadline, row.rate, row.lives)
		t.Logf("rate %v: classic %+v, deadline %+v", row.rate, classic, deadline)
		require.GreaterOrEqual(t, float64(classic.waited)/classic.lives, row.classicWaits, "rate %v", row.rate)
		require.LessOrEqual(t, float64(deadline.waited)/deadline.lives, row.deadlineWaits, "rate %v", row.rate)
		require.LessOrEqual(t, float64(deadline.loads)/deadline.lives, row.loads, "rate %v", row.rate)
	}
}

// What was learnt of a key's readers is not lost to a change before anybody was
// counted, and a hot key's entry is quiet again when there are enough.
func TestHabits_passFromEntryToEntry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newTidy(t, func(context.Context, string) (int, error) {
			time.Sleep(100 * time.Millisecond)
			return 0, nil
		}, Options[int]{TTL: time.Minute, Jitter: Off, Refresh: xfetch.Deadline, Rand: func() float64 { return 0.5 }})
		habits := func() *habits { return c.alive("k").habits() }
		readFor := func(d, every time.Duration) {
			for start := time.Now(); time.Since(start) < d; time.Sleep(every) {
				_, err := c.Get(context.Background(), "k")
				require.NoError(t, err)
			}
		}
		readFor(time.Millisecond, time.Second)
		require.Zero(t, habits().reads)
		first := habits()
		readFor(61*time.Second, 10*time.Millisecond)
		require.NotSame(t, first, habits())
		learnt := habits().reads
		require.InDelta(t, 100, learnt.Rate(), 5)
		require.EqualValues(t, xfetch.Enough, first.seen.Load(), "more would cost hits for nothing")

		require.NoError(t, c.Set(t.Context(), "k", 1))
		require.Equal(t, learnt, habits().reads, "a change comes before anybody was counted")
		require.NoError(t, c.Invalidate(t.Context(), "k"))
		readFor(time.Millisecond, time.Second)
		require.Zero(t, habits().reads, "what is forgotten teaches nothing")
	})
}

func TestNew_refusesRulesThatMeanNothing(t *testing.T) {
	for _, rule := range []xfetch.Rule{{Late: 1}, {Late: 1e-4, Reach: 2}, {Late: 1e-4, Reach: -1}} {
		_, err := New(sometimesAbsent, Options[string]{TTL: time.Minute, Refresh: rule})
		requireRefused(t, err, "Refresh", rule)
	}
}
