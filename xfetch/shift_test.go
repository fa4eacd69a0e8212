package xfetch

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A lead of three scales, and everything that t0 and w can be to it and to one
// another.
func shiftedLaws(rng *rand.Rand) []Law {
	const s = time.Second
	laws := []Law{
		{Rate: 3, Scale: s, Aware: s, Shift: 2 * s},
		{Rate: 3, Scale: s, Aware: 3 * s, Shift: s},
		{Rate: 20, Scale: s, Aware: s, Shift: -2 * s},
		{Rate: 0.3, Scale: s, Aware: s / 2, Shift: 5 * s},
		{Rate: 0.3, Scale: s, Aware: 2 * s, Shift: -s},
		{Rate: 5, Aware: s, Shift: s}, // no draws: a plain deadline
	}
	for range 6 {
		laws = append(laws, Law{
			Rate:  math.Exp(5*rng.Float64() - 2),
			Scale: s,
			Aware: time.Duration(rng.Float64() * float64(2*s)),
			Shift: time.Duration((6*rng.Float64() - 3) * float64(s)),
		})
	}
	return laws
}

// played is an expiry in which every read was played.
type played struct {
	early, hard int
	left        time.Duration // when the first load started
}

// play draws for each read of one expiry with the rule itself.
func (l Law) play(rng *rand.Rand) (p played) {
	aim := Aim{l.Scale, l.Shift}
	// Before this less than one expiry in 10^10 has a start.
	left := aim.Shift + Scale(l.Scale, math.Log1p(l.ReadsPerScale())+23)
	for started := false; ; {
		left -= time.Duration(rng.ExpFloat64() / l.Rate * 1e9)
		if started && left <= p.left-l.Aware {
			return p
		}
		if !aim.Due(left, rng.Float64()) {
			continue
		}
		if !started {
			started, p.left = true, left
		}
		if left > 0 {
			p.early++
		} else {
			p.hard++
		}
	}
}

func TestLaw_withAShiftIsWhatReadersDo(t *testing.T) {
	const n = 10_000
	rng := seeded(t)
	for _, law := range shiftedLaws(rng) {
		var early, hard, single, gap, left, late mean
		const lead = 700 * time.Millisecond
		for range n {
			p := law.play(rng)
			early.add(float64(p.early))
			hard.add(float64(p.hard))
			single.addBool(p.early+p.hard == 1)
			gap.add(max(p.left, 0).Seconds())
			left.add(p.left.Seconds())
			late.addBool(p.left <= lead)
		}
		wantEarly, wantHard := law.LoadsPerExpiry()
		early.requireNear(t, wantEarly, "early loads, %+v", law)
		hard.requireNear(t, wantHard, "hard loads, %+v", law)
		single.requireNear(t, law.SingleProbability(), "single, %+v", law)
		gap.requireNear(t, law.ExpectedGap().Seconds(), "gap, %+v", law)
		left.requireNear(t, law.ExpectedLeft().Seconds(), "left, %+v", law)
		late.requireNear(t, law.LateProbability(lead), "late, %+v", law)
	}
}

// With singleflight on a fleet, against the law of many instances.
func TestFleetLoads_withAShift(t *testing.T) {
	const n, instances = 10_000, 4
	rng := seeded(t)
	for _, law := range shiftedLaws(rng) {
		if law.Scale == 0 {
			continue // play needs draws to know who is first
		}
		var loads mean
		for range n {
			p := law.play(rng)
			busy := map[int]bool{}
			for range p.early + p.hard {
				busy[rng.IntN(instances)] = true
			}
			loads.add(float64(len(busy)))
		}
		loads.requireNear(t, law.FleetLoads(instances), "%+v", law)
	}
}

func TestLaw_aPositiveShiftMovesOnlyTime(t *testing.T) {
	rng := seeded(t)
	for range 200 {
		law := Law{Rate: math.Exp(6*rng.Float64() - 3), Scale: time.Second, Aware: anyDuration(rng) % (5 * time.Second)}
		moved := law
		moved.Shift = anyDuration(rng) % (10 * time.Second)
		early, hard := law.LoadsPerExpiry()
		movedEarly, movedHard := moved.LoadsPerExpiry()
		require.InEpsilon(t, early+hard, movedEarly+movedHard, 1e-9, "%+v", moved)
		require.GreaterOrEqual(t, movedEarly, early*(1-1e-12), "%+v", moved)
		require.InDelta(t, law.SingleProbability(), moved.SingleProbability(), 1e-12)
		require.InDelta(t, law.FleetLoads(9), moved.FleetLoads(9), 1e-9)
		require.InEpsilon(t, law.LateProbability(time.Second), moved.LateProbability(time.Second+moved.Shift), 1e-9)
		require.InDelta(t, law.ExpectedLeft().Seconds(), (moved.ExpectedLeft() - moved.Shift).Seconds(), 1e-6)
	}
}

// mean is a sample's, with its error.
type mean struct{ n, sum, squares float64 }

func (m *mean) add(x float64) {
	m.n++
	m.sum += x
	m.squares += x * x
}

func (m *mean) addBool(yes bool) {
	if yes {
		m.add(1)
	} else {
		m.add(0)
	}
}

func (m *mean) value() float64 { return m.sum / m.n }

// requireNear allows 5.5 standard errors and, for what was hardly ever seen, a
// dozen sightings.
func (m *mean) requireNear(t *testing.T, want float64, format string, args ...any) {
	t.Helper()
	got := m.sum / m.n
	variance := max(m.squares/m.n-got*got, 0)
	tolerance := 5.5*math.Sqrt(variance/m.n) + 12/m.n
	require.InDelta(t, want, got, tolerance, append([]any{format}, args...)...)
}
