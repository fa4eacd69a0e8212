package refresh

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// hot is a key whose load takes a second.
func hot(rate, beta float64) Setup {
	return Setup{
		Rate: rate, Delta: time.Second, TTL: 2 * time.Minute, Beta: beta,
		Instances: 10, Expiries: 20_000, Draws: 2, Seed: 42,
	}
}

// estimates are the comparable figures of a run, by name.
func estimates(loads []Loads) map[string]Estimate {
	all := map[string]Estimate{}
	for _, l := range loads {
		for name, e := range map[string]Estimate{
			"loads": l.Mean, "early": l.Early, "hard": l.Hard, "single": l.Single, "gap": l.Gap, "late": l.Late,
		} {
			if !math.IsNaN(e.Z) {
				all[l.Coordination+" "+name] = e
			}
		}
	}
	return all
}

func requireAgreement(t *testing.T, r Report) {
	t.Helper()
	for name, e := range estimates(r.Loads) {
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
		r := Run(s)
		requireAgreement(t, r)
		none := r.Loads[0]
		require.InDelta(t, row.loads, none.Mean.Theory, 1e-4*row.loads)
		require.InDelta(t, row.loads, none.Mean.Observed, 4*none.Mean.StdErr+1e-3, "%+v", row)
		require.InDelta(t, row.gap, none.Gap.Observed, 4*none.Gap.StdErr+5e-3, "%+v", row)
		require.InDelta(t, row.late, none.Late.Observed, 4*none.Late.StdErr+1e-3, "%+v", row)
	}
}

func TestRun_singleflightHardlyHelpsAFleet(t *testing.T) {
	for instances, loads := range map[int]float64{1: 1, 2: 1.462, 4: 1.902, 10: 2.320, 30: 2.571, 100: 2.672} {
		s := hot(100, 1)
		s.Instances = instances
		r := Run(s)
		requireAgreement(t, r)
		mean := r.Loads[1].Mean
		require.InDelta(t, loads, mean.Theory, 1e-3, "%d instances", instances)
		require.InDelta(t, loads, mean.Observed, 4*mean.StdErr+1e-3, "%d instances", instances)
	}
}

// One z beyond 4 is a fault, but so are many that are a little too large, or too
// small: they are standard normal only if the standard errors are right too.
func TestRun_standardErrorsAreRight(t *testing.T) {
	const seeds = 20
	squares, n := map[string]float64{}, map[string]int{}
	for seed := range uint64(seeds) {
		s := hot(10, 1)
		s.Expiries, s.Seed = 5000, seed
		for name, e := range estimates(Run(s).Loads) {
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
	s := hot(100, 1)
	mean := Run(s).Loads[0].Mean
	require.Greater(t, distance(mean.Observed-1, mean.StdErr), 50.0)
	require.Greater(t, distance(mean.Observed-2.5, mean.StdErr), 10.0)
}

func TestRun_electionsFollowTheirProbability(t *testing.T) {
	s := Default
	s.Draws, s.Expiries = 200_000, 2
	want := map[time.Duration]float64{
		10 * time.Second: 1.4e-11, 2 * time.Second: 0.0067,
		400 * time.Millisecond: 0.368, 100 * time.Millisecond: 0.779, 0: 1,
	}
	for _, e := range Run(s).Elections {
		if p, ok := want[e.Left]; ok {
			require.InEpsilon(t, p, e.Share.Theory, 0.01, "%v left", e.Left)
			delete(want, e.Left)
		}
		if math.IsNaN(e.Share.Z) {
			require.Less(t, e.Share.Theory, tooRare)
			continue
		}
		require.LessOrEqual(t, math.Abs(e.Share.Z), 4.0, "%+v", e)
	}
	require.Empty(t, want, "rows that are missing")
}

func TestRun_repeatsBySeed(t *testing.T) {
	s := hot(5, 1)
	s.Expiries, s.Draws = 200, 200
	require.Equal(t, fmt.Sprint(Run(s)), fmt.Sprint(Run(s)))
	other := s
	other.Seed++
	require.NotEqual(t, Run(s).Loads[0].Mean.Observed, Run(other).Loads[0].Mean.Observed)
}

func TestRun_countsEveryExpiryAndRead(t *testing.T) {
	s := hot(20, 1)
	for _, l := range Run(s).Loads {
		expiries, loads := 0, 0
		for i, n := range l.Sizes {
			expiries += n
			loads += (i + 1) * n
		}
		require.Equal(t, s.Expiries, expiries)
		require.InDelta(t, l.Mean.Observed, float64(loads)/float64(expiries), 1e-9)
		require.InDelta(t, l.Mean.Observed, l.Early.Observed+l.Hard.Observed, 1e-9)
		// A generation lives ttl, less the gap, plus the load that ends it. Others
		// that land later lengthen it a little.
		life := s.TTL.Seconds() - l.Gap.Observed + s.Delta.Seconds()
		require.InEpsilon(t, s.Rate*life*float64(s.Expiries), l.Reads, 0.02)
	}
}

func TestRun_atTheEdges(t *testing.T) {
	edges := map[string]func(*Setup){
		"a read in a million seconds": func(s *Setup) { s.Rate = minRate },
		"a trillion reads a second":   func(s *Setup) { s.Rate, s.Beta = maxRate, 1 },
		"no early refresh":            func(s *Setup) { s.Beta = 0 },
		"hardly any early refresh":    func(s *Setup) { s.Beta = 1e-5 },
		"a life of a year":            func(s *Setup) { s.TTL = maxTTL },
		"a load of a microsecond":     func(s *Setup) { s.Delta, s.TTL, s.Rate = minTime, maxTTL, 1e6 },
		"a million instances":         func(s *Setup) { s.Instances = 1_000_000 },
		"two expiries":                func(s *Setup) { s.Expiries = 2 },
	}
	for name, change := range edges {
		t.Run(name, func(t *testing.T) {
			s := hot(50, 1)
			s.Expiries = 2000
			change(&s)
			require.NoError(t, s.Validate())
			r := Run(s)
			require.NotEmpty(t, estimates(r.Loads))
			requireAgreement(t, r)
		})
	}
}
