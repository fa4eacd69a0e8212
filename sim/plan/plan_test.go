package plan

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird/xfetch"
)

// with is Default but for what change does.
func with(change func(*Setup)) Setup {
	s := Default
	change(&s)
	return s
}

func TestMake_takesTheSimplestRuleThatDoes(t *testing.T) {
	for name, row := range map[string]struct {
		setup Setup
		rule  xfetch.Rule
		beta  float64
	}{
		"a hot key needs nothing": {with(func(s *Setup) { s.Rate = 1000 }), xfetch.Classic, 1},
		"a warm one more beta":    {with(func(s *Setup) { s.Rate = 100 }), xfetch.Classic, 1.41},
		"a cooler one more room":  {with(func(s *Setup) { s.Rate = 3; s.Extra = 0.4 }), xfetch.Deadline, 1},
		"a loose target its own":  {with(func(s *Setup) { s.Rate, s.Late, s.Extra = 3, 0.05, 0.1 }), xfetch.Rule{Late: 0.05}, 1},
		"a close one much beta":   {with(func(s *Setup) { s.Rate, s.Extra = 3, 0.15 }), xfetch.Classic, 24.1},
	} {
		r := Make(row.setup).Refresh
		require.Equal(t, row.rule, r.Rule, name)
		require.InDelta(t, row.beta, r.Beta, 1e-9, name)
		require.LessOrEqual(t, r.Late, row.setup.Late, name)
		require.LessOrEqual(t, r.Extra, row.setup.Extra, name)
	}
}

func TestMake_saysWhenEarlyRefreshCannotHelp(t *testing.T) {
	p := Make(with(func(s *Setup) { s.Rate = 0.01 }))
	require.Greater(t, p.Refresh.Late, 0.5)
	require.Len(t, p.Notes, 1)
	for _, want := range []string{
		"cannot keep this key in time", "0.15 reads", "StaleWhileRevalidate of 11m30.9s", "ttl of 46m3s", "Warm",
	} {
		require.Contains(t, p.Notes[0], want)
	}
	// And what it proposes does help: that ttl meets the target.
	longer := Make(with(func(s *Setup) { s.Rate, s.TTL, s.Extra = 0.01, 49*time.Minute, 1 }))
	require.LessOrEqual(t, longer.Refresh.Late, longer.Setup.Late)
}

func TestMake_notesNameWhatIsInTheWay(t *testing.T) {
	for want, setup := range map[string]Setup{
		"more loads than one per life":   with(func(s *Setup) { s.Rate = 3 }),
		"the origin completes":           with(func(s *Setup) { s.Keys = 100_000 }),
		"three in ten of":                with(func(s *Setup) { s.Keys, s.Instances = 6000, 1 }),
		"more than a quarter of a life":  with(func(s *Setup) { s.TTL, s.Delta = 2*time.Second, time.Second }),
		"loads every key for itself":     with(func(s *Setup) { s.RoundTrip = 0 }),
		"5 copies on distinct nodes":     with(func(s *Setup) { s.Rate, s.Instances, s.Staleness, s.Other = 1e5, 50, 10*time.Millisecond, 59_000 }),
		"may be stale by":                with(func(s *Setup) { s.Rate = 1e6 }),
		"move some elsewhere":            with(func(s *Setup) { s.Other = 70_000 }),
		"as soon as they are written":    with(func(s *Setup) { s.Rate, s.TTL = 1e12, time.Second }),
		"instances needs a slot":         with(func(s *Setup) { s.Instances = 100 }),
		"cannot keep this key in time. ": with(func(s *Setup) { s.Rate = 0.001 }),
	} {
		require.Contains(t, strings.Join(Make(setup).Notes, "\n"), want)
	}
	require.Empty(t, Make(Default).Notes)
}

// anySetup is valid, of every magnitude.
func anySetup(rng *rand.Rand) Setup {
	magnitude := func(low, high float64) float64 {
		return low * math.Pow(high/low, rng.Float64())
	}
	s := Setup{
		Rate: magnitude(minRate, maxRate), Keys: int(magnitude(1, maxCount)), Instances: int(magnitude(1, maxCount)),
		Delta: time.Duration(magnitude(1e3, 1e12)), Capacity: magnitude(minRate, maxRate), Node: magnitude(1e-3, maxRate),
		Extra: magnitude(1e-9, maxExtra), Late: magnitude(minLate, 0.999),
	}
	s.TTL = min(s.Delta+time.Duration(magnitude(1, 1e16)), maxTTL)
	s.Other = s.Node * rng.Float64()
	if rng.IntN(2) == 0 {
		s.Deviation, s.Concurrent = time.Duration(magnitude(1, 1e12)), int(magnitude(1, maxCount))
		s.RoundTrip, s.Staleness = time.Duration(rng.Int64N(int64(s.TTL))), time.Duration(rng.Int64N(int64(s.TTL)))
	}
	return s
}

func TestMake_holdsItsConditions(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	for range 3000 {
		s := anySetup(rng)
		require.NoError(t, s.Validate(), "%+v", s)
		p := Make(s)
		require.True(t, p.Jitter >= usualJitter, "%+v: jitter %v", s, p.Jitter)
		if p.Jitter <= mostJitter {
			require.LessOrEqual(t, p.Peak, p.Through*(1+1e-6), "%+v: the busiest second passes the gate", s)
		}
		require.Positive(t, p.each())
		require.LessOrEqual(t, p.L1TTL, s.Staleness, "%+v", s)
		if p.Copies > 0 && p.Copies < math.MaxInt32 && s.shared() {
			require.LessOrEqual(t, p.Store/float64(p.Copies)+s.Other, xfetch.NodeShare*s.Node*(1+1e-6), "%+v", s)
		}
		missed := s.misses(p.Refresh) > 0
		require.False(t, missed && len(p.Notes) == 0, "%+v: a missed target has a note", s)
		var out strings.Builder
		require.NoError(t, p.WriteJSON(&out), "%+v", s) // which no NaN or Inf passes
		require.True(t, json.Valid([]byte(out.String())))
		out.Reset()
		require.NoError(t, p.WriteText(&out))
		require.NotContains(t, out.String(), "NaN", "%+v", s)
		require.NotContains(t, out.String(), "Inf", "%+v", s)
		require.NotContains(t, out.String(), "%!", "%+v", s)
	}
}

// What is predicted comes true when every read draws.
func TestMake_predictionsComeTrue(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	for _, setup := range []Setup{
		with(func(s *Setup) { s.Rate, s.Late = 100, 0.02 }),
		with(func(s *Setup) { s.Rate, s.Late, s.Extra = 1, 0.01, 0.4 }),
		with(func(s *Setup) { s.Rate = 0.05 }),
		with(func(s *Setup) { s.Rate, s.Late, s.Keys, s.Extra = 3, 1e-4, 3900, 0.3 }), // bound by Reach in short lives
		with(func(s *Setup) { s.Rate, s.RoundTrip = 500, 0 }),
	} {
		const n = 10_000
		p := Make(setup)
		late, loads, time := play(p, n, rng)
		sd := math.Sqrt(p.Refresh.Late * (1 - p.Refresh.Late) / n)
		require.InDelta(t, p.Refresh.Late, late/n, 5.5*sd+5.0/n, "late, %+v", setup)
		perLife := loads / time * xfetch.MeanLife(setup.TTL, p.jitter()).Seconds()
		require.InEpsilon(t, 1+p.Refresh.Extra, perLife, 0.02, "loads per life, %+v", setup)
	}
}

// play draws for every read of n lives of an entry.
func play(p Plan, n int, rng *rand.Rand) (late, loads, seconds float64) {
	s, r := p.Setup, p.Refresh
	for range n {
		life := xfetch.Life(s.TTL, p.jitter(), rng.Float64())
		law := s.law(r.Rule, r.Beta, r.Law.Rate, life)
		aim := xfetch.Aim{Scale: law.Scale, Shift: law.Shift}
		left := min(life, aim.Window())
		first, started := time.Duration(0), false
		for {
			left -= time.Duration(rng.ExpFloat64() / law.Rate * 1e9)
			if started && left < first-law.Aware {
				break
			}
			if !aim.Due(left, rng.Float64()) {
				continue
			}
			if loads++; !started {
				first, started = left, true
			}
		}
		if first <= s.cost().Lead() {
			late++
		}
		seconds += (life - first + s.Delta).Seconds()
	}
	return late, loads, seconds
}
