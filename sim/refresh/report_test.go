package refresh

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird/sim/estimate"
)

// hot is a key whose load takes a second, for the thinned engine alone.
func hot(rate, beta float64) Setup {
	s := Default
	s.Rate, s.Beta, s.Delta, s.TTL = rate, beta, time.Second, 2*time.Minute
	s.Expiries, s.Events, s.Draws, s.Seed = 20_000, 0, 2, 42
	return s
}

func run(t *testing.T, s Setup) Report {
	t.Helper()
	require.NoError(t, s.Validate())
	r, err := Run(s, nil)
	require.NoError(t, err)
	return r
}

// comparable are the figures of a run that can be set beside theory, by name.
func comparable(r Report) map[string]estimate.Estimate {
	all := map[string]estimate.Estimate{}
	engines := map[string]Figures{"thinned": r.Thinned}
	if r.Event != nil {
		engines["event"] = *r.Event
	}
	for engine, f := range engines {
		for _, row := range f.rows(r.Setup) {
			if !math.IsNaN(row.e.Z) {
				all[engine+" "+row.name] = row.e
			}
		}
	}
	return all
}

func requireAgreement(t *testing.T, r Report) {
	t.Helper()
	for name, e := range comparable(r) {
		require.LessOrEqual(t, math.Abs(e.Z), 4.0, "%s of %+v: %+v", name, r.Setup, e)
	}
}

func TestRun_uncoordinatedReadersFollowTheLaw(t *testing.T) {
	for _, row := range []struct {
		rate, beta, loads, gap, late float64
	}{
		{0.1, 1, 1.0969, -8.951, 0.964},
		{1, 1, 1.7446, 0.429, 0.692},
		{3, 1, 2.3821, 1.672, 0.332},
		{10, 1, 2.7056, 2.880, 0.025},
		{100, 1, 2.7183, 5.182, 0},
		{100, 0.5, 7.388, 2.245, 0.0012},
		{100, 1.5, 1.9477, 8.382, 0},
		{100, 2, 1.6487, 11.75, 0},
		{100, 4, 1.2840, 26.28, 0},
	} {
		s := hot(row.rate, row.beta)
		r := run(t, s)
		requireAgreement(t, r)
		f := r.Thinned
		require.InDelta(t, row.loads, f.Loads.Theory, 1e-4*row.loads)
		require.InDelta(t, row.loads, f.Loads.Observed, 4*f.Loads.StdErr+1e-3, "%+v", row)
		require.InDelta(t, row.gap, f.Gap.Observed, 4*f.Gap.StdErr+5e-3, "%+v", row)
		require.InDelta(t, row.late, f.Late.Observed, 4*f.Late.StdErr+1e-3, "%+v", row)
	}
}

func TestRun_singleflightHardlyHelpsAFleet(t *testing.T) {
	for instances, loads := range map[int]float64{1: 1, 2: 1.462, 4: 1.902, 10: 2.320, 30: 2.571, 100: 2.672} {
		s := hot(100, 1)
		s.Instances, s.Coordination = instances, Singleflight
		r := run(t, s)
		requireAgreement(t, r)
		mean := r.Thinned.Loads
		require.InDelta(t, loads, mean.Theory, 1e-3, "%d instances", instances)
		require.InDelta(t, loads, mean.Observed, 4*mean.StdErr+1e-3, "%d instances", instances)
		require.LessOrEqual(t, len(r.Thinned.Sizes), instances, "one load in each instance at most")
	}
}

// What counts is how long readers do not know of each other.
func TestRun_awarenessDecides(t *testing.T) {
	for name, row := range map[string]struct {
		change func(*Setup)
		loads  float64
	}{
		"until the load is done":    {func(*Setup) {}, math.E},
		"and the replicas have it":  {func(s *Setup) { s.Lag = s.Delta / 2 }, math.Exp(1.5)},
		"until a lease is seen":     {func(s *Setup) { s.Coordination, s.RoundTrip = Lease, s.Delta/100 }, math.Exp(0.01)},
		"loads slower than thought": {func(s *Setup) { s.Stored, s.Delta = s.Delta, 3*s.Delta }, math.Exp(3)},
	} {
		t.Run(name, func(t *testing.T) {
			s := hot(1000, 1)
			row.change(&s)
			s.TTL *= 2
			r := run(t, s)
			requireAgreement(t, r)
			require.InDelta(t, row.loads, r.Thinned.Loads.Theory, 1e-3*row.loads)
		})
	}
}

// One z beyond 4 is a fault, but so are many that are a little too large, or too
// small: they are standard normal only if the standard errors are right too.
func TestRun_standardErrorsAreRight(t *testing.T) {
	const seeds = 20
	squares, n := map[string]float64{}, map[string]int{}
	for seed := range uint64(seeds) {
		s := hot(10, 1)
		s.Expiries, s.Events, s.Seed = 5000, 600_000, seed
		for name, e := range comparable(run(t, s)) {
			squares[name] += e.Z * e.Z
			n[name]++
		}
	}
	total, figures := 0.0, 0
	for name := range squares {
		require.Equal(t, seeds, n[name], name)
		rms := math.Sqrt(squares[name] / seeds)
		require.Greater(t, rms, 0.5, name) // twenty draws: sd of their RMS is .16
		require.Less(t, rms, 1.6, name)
		total += squares[name]
		figures += seeds
	}
	require.InDelta(t, 1.025, math.Sqrt(total/float64(figures)), 0.225)
}

// A comparison that agrees with everything is worth nothing: what is often said
// of early refresh must be refuted.
func TestRun_refutesOneLoadPerExpiry(t *testing.T) {
	mean := run(t, hot(100, 1)).Thinned.Loads
	require.Greater(t, estimate.Distance(mean.Observed-1, mean.StdErr), 50.0)
	require.Greater(t, estimate.Distance(mean.Observed-2.5, mean.StdErr), 10.0)
}

func TestRun_electionsFollowTheirProbability(t *testing.T) {
	s := Default
	s.Draws, s.Expiries, s.Events = 200_000, 2, 0
	want := map[time.Duration]float64{
		10 * time.Second: 1.4e-11, 2 * time.Second: 0.0067,
		400 * time.Millisecond: 0.368, 100 * time.Millisecond: 0.779, 0: 1,
	}
	for _, e := range run(t, s).Elections {
		if p, ok := want[e.Left]; ok {
			require.InEpsilon(t, p, e.Share.Theory, 0.01, "%v left", e.Left)
			delete(want, e.Left)
		}
		if math.IsNaN(e.Share.Z) {
			require.Less(t, e.Share.Theory, estimate.TooRare)
			continue
		}
		require.LessOrEqual(t, math.Abs(e.Share.Z), 4.0, "%+v", e)
	}
	require.Empty(t, want, "rows that are missing")
}

func TestRun_isTheSameForAnyNumberOfWorkers(t *testing.T) {
	for _, cost := range []string{"fixed", "lognormal:1"} {
		var first Report
		for _, workers := range []int{1, 2, 3, 7} {
			s := hot(5, 1)
			s.Cost = CostOf(cost)
			s.Expiries, s.Events, s.Jitter, s.Coordination = 3000, 100_000, 0.1, Singleflight
			s.Workers = workers
			r := run(t, s)
			r.Setup.Workers, r.Thinned.Seconds, r.Event.Seconds = 0, 0, 0
			r.Setup.Cost = Cost{}
			if workers == 1 {
				first = r
				continue
			}
			requireSameReport(t, first, r)
		}
	}
}

// requireSameReport takes NaN for equal to NaN.
func requireSameReport(t *testing.T, a, b Report) {
	t.Helper()
	require.Equal(t, fmt.Sprint(a.Elections), fmt.Sprint(b.Elections))
	for engine, pair := range map[string][2]Figures{"thinned": {a.Thinned, b.Thinned}, "event": {*a.Event, *b.Event}} {
		require.Equal(t, pair[0].Sizes, pair[1].Sizes, engine)
		require.Equal(t, pair[0].Reads, pair[1].Reads, engine)
		for i, row := range pair[0].rows(a.Setup) {
			other := pair[1].rows(a.Setup)[i].e
			require.Equal(t, row.e.Observed, other.Observed, row.name)
			require.Equal(t, row.e.StdErr, other.StdErr, row.name)
		}
	}
}

func TestRun_repeatsBySeed(t *testing.T) {
	s := hot(5, 1)
	s.Expiries, s.Events = 200, 50_000
	a, b := run(t, s), run(t, s)
	requireSameReport(t, a, b)
	s.Seed++
	require.NotEqual(t, a.Thinned.Loads.Observed, run(t, s).Thinned.Loads.Observed)
}

func TestRun_countsEveryExpiryAndRead(t *testing.T) {
	s := hot(20, 1)
	s.Events, s.Jitter = 2_000_000, 0.2
	r := run(t, s)
	for _, f := range []Figures{r.Thinned, *r.Event} {
		expiries, loads := 0, 0
		for i, n := range f.Sizes {
			expiries += n
			loads += (i + 1) * n
		}
		require.Equal(t, f.Expiries, expiries)
		require.InDelta(t, f.Loads.Observed, float64(loads)/float64(expiries), 1e-9)
		require.InDelta(t, f.Loads.Observed, f.Early.Observed+f.Hard.Observed, 1e-9)
		// A generation lives ttl, less the gap, plus the load that ends it.
		life := 0.9*s.TTL.Seconds() - f.Gap.Observed + s.Delta.Seconds()
		require.InEpsilon(t, s.Rate*life*float64(f.Expiries), f.Reads, 0.02)
	}
	require.Equal(t, s.Expiries, r.Thinned.Expiries)
	require.InEpsilon(t, float64(s.Events), r.Event.Reads, 0.05, "the reads asked for")
}
