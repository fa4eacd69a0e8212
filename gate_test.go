package earlybird

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// visitor is a load before the gate. It notes what the gate calls out to it.
type visitor struct {
	ticket
	heard []admission
}

func (v *visitor) board(a admission) { v.heard = append(v.heard, a) }

func visitorOf(p priority) *visitor {
	v := &visitor{}
	v.ticket.priority, v.ticket.holder = p, v
	return v
}

// arrive has n visitors enter, all of whom must get the same answer.
func arrive(t *testing.T, g *gate, n int, p priority, want admission) []*visitor {
	t.Helper()
	vs := make([]*visitor, n)
	for i := range vs {
		vs[i] = visitorOf(p)
		require.Equal(t, want, g.enter(&vs[i].ticket), "visitor %d", i+1)
	}
	return vs
}

func TestGate_queuesBeyondItsLimitInOrder(t *testing.T) {
	g := newGate(2, Off, Off)
	in := arrive(t, g, 2, urgent, admitted)
	waiting := arrive(t, g, 16, urgent, queued)
	arrive(t, g, 1, urgent, refused)
	for i, v := range waiting {
		require.Empty(t, v.heard)
		g.leave(&in[i%2].ticket)
		require.Equal(t, []admission{admitted}, v.heard, "first come, first served")
		in[i%2] = v
	}
	g.leave(&in[0].ticket)
	g.leave(&in[1].ticket)
	require.Zero(t, g.running)
	require.Zero(t, g.waiting)
	require.EqualValues(t, 16, g.waited)
	require.EqualValues(t, 1, g.shed)
}

func TestGate_refreshesTakeThreeSlotsInTenAtMost(t *testing.T) {
	for limit, most := range map[int]int{1: 1, 2: 1, 3: 1, 7: 2, 10: 3, 128: 38, Off: 1000, math.MaxInt: 1000} {
		g := newGate(limit, Off, Off)
		arrive(t, g, most, background, admitted)
		if limit > 0 && limit < math.MaxInt {
			arrive(t, g, 1, background, queued)
			arrive(t, g, limit-most, urgent, admitted)
			arrive(t, g, 1, urgent, queued)
		}
	}
}

func TestGate_servesUrgentLoadsFirst(t *testing.T) {
	g := newGate(1, Off, Off)
	in := arrive(t, g, 1, urgent, admitted)[0]
	refresh := arrive(t, g, 1, background, queued)[0]
	miss := arrive(t, g, 1, urgent, queued)[0]

	g.leave(&in.ticket)
	require.Equal(t, []admission{admitted}, miss.heard)
	require.Empty(t, refresh.heard)
	g.leave(&miss.ticket)
	require.Equal(t, []admission{admitted}, refresh.heard)
}

// While the ramp lasts the gate widens by itself, and those who wait are told a
// little later. A refresh or a warm-up that comes in between stands behind them.
func TestGate_lessUrgentLoadsDoNotOvertakeWhenTheRampWidens(t *testing.T) {
	for _, p := range []priority{background, warming} {
		synctest.Test(t, func(t *testing.T) {
			g := newGate(16, Off, 64*time.Second) // four at first; those who wait are told each second
			in := arrive(t, g, 4, urgent, admitted)
			waiting := arrive(t, g, 1, urgent, queued)
			time.Sleep(11 * time.Second)
			synctest.Wait()
			waiting = append(waiting, arrive(t, g, 1, urgent, queued)...)
			time.Sleep(700 * time.Millisecond) // for a fifth there is room since 10.3s, for a sixth since 18.7s
			synctest.Wait()
			require.Len(t, waiting[0].heard, 1)
			time.Sleep(7100 * time.Millisecond)
			synctest.Wait()
			late := arrive(t, g, 1, p, queued)[0]
			require.Empty(t, late.heard)
			for _, v := range append(in, waiting[0]) {
				g.leave(&v.ticket)
			}
			require.Equal(t, []admission{admitted}, waiting[1].heard)
			require.Equal(t, []admission{admitted}, late.heard)
			g.leave(&waiting[1].ticket)
			g.leave(&late.ticket)
			require.Zero(t, g.running)
		})
	}
}

func TestGate_fullQueueBumpsTheYoungestRefreshForAnUrgentLoad(t *testing.T) {
	g := newGate(1, Off, Off)
	arrive(t, g, 1, urgent, admitted)
	refreshes := arrive(t, g, 8, background, queued)
	arrive(t, g, 1, background, refused)
	for i := 7; i >= 0; i-- {
		arrive(t, g, 1, urgent, queued)
		require.Equal(t, []admission{refused}, refreshes[i].heard)
	}
	arrive(t, g, 1, urgent, refused)
	require.Equal(t, 8, g.waiting)
	require.EqualValues(t, 10, g.shed)
}

func TestGate_hurriedRefreshCountsAsUrgent(t *testing.T) {
	g := newGate(10, Off, Off)
	arrive(t, g, 3, background, admitted)
	first := arrive(t, g, 2, background, queued)
	g.hurry(&first[1].ticket)
	require.Equal(t, []admission{admitted}, first[1].heard, "there was room for an urgent one")
	require.Empty(t, first[0].heard)

	arrive(t, g, 6, urgent, admitted)
	in := arrive(t, g, 1, urgent, queued)[0]
	g.hurry(&first[0].ticket)
	g.hurry(&first[0].ticket) // once is enough
	require.Empty(t, first[0].heard, "its turn is after those who were urgent before")
	g.leave(&first[1].ticket)
	require.Equal(t, []admission{admitted}, in.heard)
	g.leave(&in.ticket)
	require.Equal(t, []admission{admitted}, first[0].heard)
}

func TestGate_liftedLoadSharesTheSlotOfTheLoadThatWaitsForIt(t *testing.T) {
	g := newGate(1, Off, Off)
	in := arrive(t, g, 1, urgent, admitted)[0]
	waiting := arrive(t, g, 2, urgent, queued)
	g.lift(&waiting[1].ticket, &in.ticket)
	require.Equal(t, []admission{admitted}, waiting[1].heard)
	require.Equal(t, 1, g.waiting)

	before := visitorOf(urgent)
	g.lift(&before.ticket, &waiting[1].ticket)
	require.Equal(t, admitted, g.enter(&before.ticket), "also if it had not arrived yet")

	g.lift(&in.ticket, &before.ticket) // runs already: nothing to lift
	require.Empty(t, in.heard)
	require.Equal(t, 1, g.running[urgent])
	for _, v := range []*visitor{in, before, waiting[1]} {
		require.Empty(t, waiting[0].heard, "the slot is taken until the last has left it")
		g.leave(&v.ticket)
	}
	require.Equal(t, []admission{admitted}, waiting[0].heard)

	late := arrive(t, g, 1, urgent, queued)[0]
	g.lift(&late.ticket, &in.ticket)
	require.Empty(t, late.heard, "a load that runs no more has no slot to share")
	g.leave(&waiting[0].ticket)
	g.leave(&late.ticket)
	require.Zero(t, g.running)
	require.Zero(t, g.shed)
}

func TestGate_withdrawnLoadIsNotCalled(t *testing.T) {
	g := newGate(1, Off, Off)
	in := arrive(t, g, 1, urgent, admitted)[0]
	waiting := arrive(t, g, 2, urgent, queued)
	require.True(t, g.withdraw(&waiting[0].ticket))
	require.False(t, g.withdraw(&waiting[0].ticket))
	g.leave(&in.ticket)
	require.Empty(t, waiting[0].heard)
	require.Equal(t, []admission{admitted}, waiting[1].heard)
	require.False(t, g.withdraw(&waiting[1].ticket), "too late: it has been called")
}

// Whatever comes and goes in whatever order: the limits hold, everybody is
// called at most once, and at the end nobody is left.
func TestGate_anyTrafficKeepsTheLimits(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	for range scaled(30, 5000) {
		limit := 1 + rnd.IntN(12)
		g := newGate(limit, Off, Off)
		var vs []*visitor
		state := map[*visitor]admission{}
		look := func() {
			slots := map[*slot]bool{}
			for _, v := range vs {
				if len(v.heard) > 0 && state[v] == queued {
					state[v] = v.heard[0]
				}
				require.LessOrEqual(t, len(v.heard), 1)
				if state[v] == admitted {
					slots[v.ticket.slot] = true
				}
			}
			inside := len(slots)
			require.Equal(t, inside, g.running[urgent]+g.running[background]+g.running[warming])
			require.LessOrEqual(t, inside, limit)
			require.LessOrEqual(t, g.waiting, 8*limit)
			require.Equal(t, g.waiting, g.queues[urgent].Len()+g.queues[background].Len()+g.queues[warming].Len())
			require.False(t, g.queues[urgent].Len() > 0 && inside < limit, "a slot is free and somebody waits")
		}
		const gone = admission(99)
		for step := 0; step < 200 || len(vs) > 0; step++ {
			if step < 200 && rnd.IntN(2) == 0 {
				v := visitorOf(priority(rnd.IntN(int(priorities))))
				vs = append(vs, v)
				state[v] = g.enter(&v.ticket)
			} else if len(vs) > 0 {
				i := rnd.IntN(len(vs))
				v := vs[i]
				switch op := rnd.IntN(5); {
				case op == 0 && state[v] == queued:
					g.hurry(&v.ticket)
				case op == 1 && state[v] == queued:
					g.lift(&v.ticket, &vs[rnd.IntN(len(vs))].ticket)
				case op == 2 && g.withdraw(&v.ticket):
					state[v] = gone
				case state[v] == admitted:
					state[v] = gone
					g.leave(&v.ticket)
				}
				if s := state[v]; s == gone || s == refused {
					vs = append(vs[:i], vs[i+1:]...)
				}
			}
			look()
		}
		require.Zero(t, g.running)
		require.Zero(t, g.waiting)
	}
}

// crowd has n readers ask for keys of their own at one moment, and returns how
// many got a value and how many an error that is want.
func crowd(t *testing.T, c *Cache[string], n int, want error) (served, refused int) {
	t.Helper()
	var ok, no atomic.Int64
	together(n, func(i int) {
		key := "crowd " + strconv.Itoa(i)
		switch v, err := c.Get(context.Background(), key); {
		case err == nil && v == key:
			ok.Add(1)
		case errors.Is(err, want):
			no.Add(1)
		default:
			t.Errorf("%q, %v", v, err)
		}
	})
	return int(ok.Load()), int(no.Load())
}

func TestMaxLoads_boundsCallsAtOnceAndShedsBeyondTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := plain[string](time.Hour)
		opts.MaxLoads = 4
		c := newTidy(t, echo(time.Second), opts)
		start := time.Now()
		served, refused := crowd(t, c, 200, ErrOverloaded)
		require.Equal(t, 4+8*4, served)
		require.Equal(t, 200-served, refused)
		require.Equal(t, 9*time.Second, time.Since(start))
		s := c.Stats()
		require.Equal(t, 4, s.LoadsMost)
		require.EqualValues(t, refused, s.Shed)
		require.EqualValues(t, refused, s.GateSheds)
		require.EqualValues(t, 8*4, s.GateWaits)
	})
}

func TestMaxLoads_shedsAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := plain[string](time.Hour)
		opts.MaxLoads = 1
		c := newTidy(t, echo(time.Second), opts)
		go crowd(t, c, 9, nil)
		synctest.Wait()
		start := time.Now()
		_, err := c.Get(t.Context(), "one more")
		require.ErrorIs(t, err, ErrOverloaded)
		require.Zero(t, time.Since(start))
		time.Sleep(10 * time.Second)
		require.Equal(t, "one more", mustGet(t, c, "one more"), "and nothing is remembered of it")
	})
}

func TestMaxLoads_offIsNoBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := plain[string](time.Hour)
		opts.MaxLoads = Off
		c := newTidy(t, echo(time.Second), opts)
		served, _ := crowd(t, c, 2000, nil)
		require.Equal(t, 2000, served)
		require.Equal(t, 2000, c.Stats().LoadsMost)
	})
}

// A load waits for its turn as long as it may take itself, and no longer.
func TestMaxLoads_waitIsBoundedByLoadTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := plain[string](time.Hour)
		opts.MaxLoads, opts.LoadTimeout = 1, 2500*time.Millisecond
		c := newTidy(t, echo(time.Second), opts)
		start := time.Now()
		served, refused := crowd(t, c, 9, ErrOverloaded)
		require.Equal(t, 3, served, "at 1 s, 2 s, 3 s")
		require.Equal(t, 6, refused)
		require.Equal(t, 3*time.Second, time.Since(start))
	})
}

// A call that outlived its flight still burdens the origin, and keeps its slot
// until it returns.
func TestMaxLoads_countsAbandonedCallsUntilTheyReturn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := plain[string](3 * time.Hour)
		opts.MaxLoads, opts.LoadTimeout = 2, time.Second
		c := newTidy(t, func(_ context.Context, key string) (string, error) {
			if key == "stuck 1" || key == "stuck 2" {
				time.Sleep(time.Hour)
			}
			return key, nil
		}, opts)
		together(2, func(i int) {
			if _, err := c.Get(context.Background(), "stuck "+strconv.Itoa(i+1)); !errors.Is(err, ErrLoadTimeout) {
				t.Error(err)
			}
		})
		require.EqualValues(t, 2, c.Stats().Abandoned)

		start := time.Now()
		for range 3 {
			_, err := c.Get(t.Context(), "k")
			require.ErrorIs(t, err, ErrOverloaded)
			require.Equal(t, 2, c.Stats().LoadsNow)
		}
		require.Equal(t, 3*time.Second, time.Since(start))
		time.Sleep(time.Hour - 3*time.Second)
		synctest.Wait()
		require.Equal(t, "k", mustGet(t, c, "k"))
		require.Equal(t, 2, c.Stats().LoadsMost)
	})
}

func TestMaxLoads_callersOwnContextEndsHisWaitOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := plain[string](time.Hour)
		opts.MaxLoads = 1
		c := newTidy(t, echo(time.Second), opts)
		go c.Get(t.Context(), "first")
		synctest.Wait()
		hurried, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		_, err := c.Get(hurried, "k")
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.NotErrorIs(t, err, ErrOverloaded)
		require.Equal(t, 1, c.Stats().GateQueue, "the load keeps its place")
		time.Sleep(2 * time.Second)
		synctest.Wait()
		require.Equal(t, Fresh, mustLookup(t, c, "k").State, "and is stored")
	})
}

func TestMaxLoads_refreshesLeaveRoomForThoseWhoWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := eager[string](time.Minute)
		opts.MaxLoads, opts.LoadTimeout = 10, time.Minute
		c := newTidy(t, echo(time.Second), opts)
		crowd(t, c, 60, nil)
		time.Sleep(40 * time.Second)
		crowd(t, c, 60, nil) // all due: 3 run, 57 wait
		synctest.Wait()
		require.EqualValues(t, 60, c.Stats().Early)
		require.Equal(t, 3, c.Stats().LoadsNow)

		start := time.Now()
		for i := range 7 {
			go mustGet(t, c, "miss "+strconv.Itoa(i))
		}
		synctest.Wait()
		require.Equal(t, 10, c.Stats().LoadsNow)
		require.Equal(t, "miss", mustGet(t, c, "miss"))
		require.Equal(t, 2*time.Second, time.Since(start), "the eighth waits for one of them, not for 57 refreshes")
		time.Sleep(time.Minute)
		require.Equal(t, 10, c.Stats().LoadsMost)
	})
}

func TestMaxLoads_queuedRefreshGivesWayToAMiss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := eager[string](time.Minute)
		opts.MaxLoads, opts.LoadTimeout = 1, time.Minute
		c := newTidy(t, echo(time.Second), opts)
		mustGet(t, c, "k")
		time.Sleep(40 * time.Second)
		go crowd(t, c, 8, nil) // one runs, seven wait
		synctest.Wait()
		require.Equal(t, Early, mustLookup(t, c, "k").State)
		synctest.Wait()
		require.Equal(t, 8, c.Stats().GateQueue)

		require.Equal(t, "miss", mustGet(t, c, "miss"))
		require.EqualValues(t, 1, c.Stats().RefreshFailures)
		require.Zero(t, c.Stats().Shed, "no reader has noticed")
		require.Equal(t, "k", mustGet(t, c, "k"))
	})
}

// A refresh still queued when its value expires turns into the load that its
// readers wait for, and takes its place behind those who came before them.
func TestMaxLoads_queuedRefreshIsUrgentOnceSomebodyWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := eager[string](time.Minute)
		opts.MaxLoads, opts.LoadTimeout = 1, time.Minute
		c := newTidy(t, func(_ context.Context, key string) (string, error) {
			if key == "long" {
				time.Sleep(9 * time.Second)
			}
			time.Sleep(time.Second)
			return key, nil
		}, opts)
		mustGet(t, c, "k") // expires at 61 s
		time.Sleep(58 * time.Second)
		go c.Get(t.Context(), "long") // from 59 s to 69 s
		synctest.Wait()
		require.Equal(t, Early, mustLookup(t, c, "k").State)
		go c.Get(t.Context(), "before")
		time.Sleep(3 * time.Second)
		go func() {
			time.Sleep(time.Second)
			_, _ = c.Get(t.Context(), "after")
		}()

		start := time.Now() // at 62 s
		require.Equal(t, Result[string]{Value: "k", State: Joined}, mustLookup(t, c, "k"))
		require.Equal(t, (69-62+2)*time.Second, time.Since(start))
		time.Sleep(time.Second)
		synctest.Wait()
	})
}
