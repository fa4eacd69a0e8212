package fleet

import (
	"context"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird/internal/redistest"
)

var small = Setup{
	Redis: Auto, Instances: 8, Keys: 1, TTL: 200 * time.Millisecond, Delta: 20 * time.Millisecond,
	Rate: 1000, Duration: time.Second, Readers: 40, Seed: 1,
}

// budget is for a machine that has much else to do: within it nobody gives the
// server up, and a lease is what it should be.
const budget = 10 * time.Second

func play(t *testing.T, s Setup, x scene) Report {
	t.Helper()
	redistest.Need(t)
	require.NoError(t, s.Validate())
	s.budget = budget
	r, err := s.run(t.Context(), x, io.Discard)
	require.NoError(t, err)
	return r
}

// What each defence is for shows in its row.
func TestRungs_differInWhatTheyAreFor(t *testing.T) {
	rows := map[string]Row{}
	for _, row := range play(t, small, scene{reads: rungReads, play: playRungs}).Rungs {
		rows[row.Name] = row
		require.Zero(t, row.Errors, row)
		require.InDelta(t, small.Rate*small.Duration.Seconds(), row.Reads, 150, "the schedule is kept: %+v", row)
		require.Positive(t, row.Loads)
		require.InDelta(t, float64(row.Loads)/5, row.PerGeneration, 1e-9)
		require.LessOrEqual(t, row.P50, row.P99)
		require.LessOrEqual(t, row.P999, row.Max)
	}
	require.Len(t, rows, 5)

	require.Zero(t, rows["no shared tier"].RoundTrips)
	lease := rows["+ lease"].Loads
	require.Greater(t, rows["no shared tier"].Loads, 3*lease, "each of 8 caches loads for itself")
	require.Greater(t, rows["TTL only"].Loads, 2*lease, "all find it expired at once")
	require.Greater(t, rows["TTL only"].MostAtOnce, 2)
	for _, name := range []string{"+ lease", "XFetch + lease"} {
		require.Less(t, rows[name].PerGeneration, 3.0, rows[name])
		require.Positive(t, rows[name].RoundTrips)
		require.Equal(t, 1, rows[name].MostAtOnce, rows[name])
	}
	require.Positive(t, rows["+ lease"].Waited, "nobody loads before it has expired")
	if late := rows["XFetch + lease"].LateP99; late < 10 { // else reads come in lumps, and nobody draws in between
		require.Less(t, rows["XFetch + lease"].Waited, rows["TTL only"].Waited)
	}
}

func TestNearTTL_costsRoundTrips(t *testing.T) {
	s := small
	s.Near = lives{10 * time.Millisecond}
	rows := play(t, s, scene{reads: rungReads, play: func(ctx context.Context, r *run) error {
		for _, x := range s.rungs()[4:] {
			row, err := r.playRung(ctx, x)
			if err != nil {
				return err
			}
			r.report.Rungs = append(r.report.Rungs, row)
		}
		return nil
	}}).Rungs
	require.Equal(t, "  NearTTL 10ms", rows[1].Name)
	require.Greater(t, rows[1].RoundTrips, 2*rows[0].RoundTrips)
}

// The figure taken from the server's statistics is what the store itself counted.
func TestRoundTrips_areTheStoresQuestions(t *testing.T) {
	redistest.Need(t)
	for range 5 {
		if counted(t) {
			return
		}
	}
	t.Fatal("each time a reader waited")
}

// counted reports false if a reader waited, which takes any number of looks: one
// instance does so only for its own refresh, if the machine stands still.
func counted(t *testing.T) bool {
	s := small
	s.budget = budget
	s.Instances = 1
	server, err := dial(t.Context(), Auto, false)
	require.NoError(t, err)
	defer server.close()
	c, err := s.launch(full, server.url, "test")
	require.NoError(t, err)
	defer c.close()
	r := &run{setup: s}
	x := &stretch{lasts: time.Second}
	before, err := server.commands(t.Context())
	require.NoError(t, err)
	require.NoError(t, c.play(t.Context(), s, &r.played, x))
	time.Sleep(2 * s.Delta) // a refresh may still be under way
	after, err := server.commands(t.Context())
	require.NoError(t, err)
	stats := c.store[0].Stats()
	if stats.Waits.Done > 0 {
		return false
	}
	asked := stats.Gets.Done + stats.Acquires.Done + stats.Publishes.Done + stats.Fails.Done
	require.Positive(t, asked)
	// A script that the server has not yet is tried in vain, and has no MGET then.
	require.Equal(t, int(asked), after.since(before).roundTrips())
	require.Equal(t, int(r.played.Load()), x.tally.reads)
	return true
}

func TestCold_oneLoadsAndTheOthersAreWoken(t *testing.T) {
	rows := play(t, small, scene{reads: coldReads, play: playCold}).Cold
	require.Len(t, rows, 3)
	for _, row := range rows {
		require.Zero(t, row.Errors)
		require.Equal(t, crowds*small.Readers, row.Reads)
		require.GreaterOrEqual(t, row.P50, 20.0, "nobody has it before it is loaded")
	}
	require.Equal(t, 8.0, rows[0].LoadsPerKey)
	require.Zero(t, rows[0].Woken)
	require.Greater(t, rows[1].LoadsPerKey, 4.0)
	require.Less(t, rows[2].LoadsPerKey, 2.0)
	require.GreaterOrEqual(t, rows[2].Woken, crowds*small.Readers*6/8)
	require.Positive(t, rows[2].WakeUp.P50)
	require.Less(t, rows[2].WakeUp.P50, 500.0)
}

func TestOutage_isLivedThroughAndComesToAnEnd(t *testing.T) {
	for _, kind := range []string{kill, stop} {
		t.Run(kind, func(t *testing.T) {
			redistest.Need(t)
			r, err := small.run(t.Context(), scene{reads: outageReads, play: func(ctx context.Context, r *run) error { return playOutage(ctx, r, kind) }}, io.Discard)
			require.NoError(t, err)
			o := r.Outage
			require.Equal(t, kind, o.Kind)
			require.Len(t, o.Parts, 3)
			before, gone := o.Parts[0], o.Parts[1]
			for _, p := range o.Parts {
				require.Zero(t, p.Errors, "%+v", p)
				require.Positive(t, p.Loads)
				require.LessOrEqual(t, p.MostOneCache, maxLoads)
			}
			require.Greater(t, gone.Loads, 2*before.Loads, "each of 8 caches loads for itself")
			require.Positive(t, o.TierErrors)
			require.NotNil(t, o.FirstAgain, "the server came back")
		})
	}
}

func TestRun_interruptedLeavesNothing(t *testing.T) {
	server := redistest.Start(t)
	ctx, cancel := context.WithTimeout(t.Context(), 700*time.Millisecond)
	defer cancel()
	s := small
	s.Redis = "redis://" + server.Addr
	s.Duration = time.Minute
	began := time.Now()
	_, err := s.run(ctx, scene{reads: rungReads, play: playRungs}, io.Discard)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Less(t, time.Since(began), 20*time.Second)
	require.Empty(t, server.Do("KEYS", "*"))
}

func TestMostAtOnce(t *testing.T) {
	calls := []call{
		{"a", 0, 0, 10}, {"a", 1, 10, 20}, // the second begins when the first ends
		{"b", 0, 5, 15}, {"b", 1, 6, 7}, {"a", 2, 19, 30},
	}
	require.Equal(t, 2, mostAtOnce(calls, byKey))
	require.Equal(t, 3, mostAtOnce(calls, together))
	require.Equal(t, 2, mostAtOnce(calls, byInstance))
	require.Zero(t, mostAtOnce(nil, byKey))
}

func TestBusiest(t *testing.T) {
	at := func(times ...float64) (calls []call) {
		for _, x := range times {
			calls = append(calls, call{began: time.Duration(x * float64(time.Second))})
		}
		return calls
	}
	require.Zero(t, busiest(nil))
	require.Equal(t, 1, busiest(at(0, 1, 2)), "a second has one end")
	require.Equal(t, 3, busiest(at(3.2, 0, 2.5, 2.4, 1)))
}

func TestLatency(t *testing.T) {
	require.Zero(t, latencyOf(nil))
	times := make([]int32, 10_000)
	for i := range times {
		times[i] = int32(len(times)-i) * 1000
	}
	require.Equal(t, Latency{5001, 9901, 9991, 10000}, latencyOf(times))
}
