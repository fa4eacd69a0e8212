package xfetch

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// seeded returns a random source and puts its seed into the test's log, which
// is printed when the test fails.
func seeded(t *testing.T) *rand.Rand {
	t.Helper()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// anyDuration is uniform in magnitude, so that small, ordinary and extreme
// durations all turn up.
func anyDuration(rng *rand.Rand) time.Duration {
	return time.Duration(rng.Uint64() >> (1 + rng.IntN(63)))
}

// wildU are the values that random sources return when they should not, and
// the edges of what they may.
var wildU = []float64{
	0, math.Copysign(0, -1), math.SmallestNonzeroFloat64, minU / 2, minU, math.Nextafter(minU, 1),
	0.5, math.Nextafter(1, 0), 1, 2, -1, math.Inf(1), math.Inf(-1), math.NaN(),
}

// electedShare is how often draws from rng are due.
func electedShare(rng *rand.Rand, n int, due func(u float64) bool) float64 {
	elected := 0
	for range n {
		if due(rng.Float64()) {
			elected++
		}
	}
	return float64(elected) / float64(n)
}

func TestDraw_staysWithinItsBounds(t *testing.T) {
	for _, u := range wildU {
		draw := Draw(u)
		require.GreaterOrEqual(t, draw, 0.0, "u = %v", u)
		require.LessOrEqual(t, draw, MaxDraw, "u = %v", u)
		require.False(t, math.Signbit(draw), "u = %v", u)
	}
	require.Equal(t, float64(MaxDraw), Draw(0))
	require.InDelta(t, 36.7368005696771, MaxDraw, 1e-13)
	require.Zero(t, Draw(1))
	require.Zero(t, Draw(math.NaN()))
	require.InDelta(t, math.Ln2, Draw(0.5), 1e-15)
}

func TestProbability_ofALoadOf400ms(t *testing.T) {
	const scale = 400 * time.Millisecond
	for _, row := range []struct {
		left time.Duration
		want float64
	}{
		{10 * time.Second, 1.3888e-11},
		{2 * time.Second, 0.0067379},
		{400 * time.Millisecond, 0.3678794},
		{100 * time.Millisecond, 0.7788008},
		{0, 1},
		{-time.Second, 1},
	} {
		require.InEpsilon(t, row.want, Probability(row.left, scale), 1e-4, "%v left", row.left)
	}
	require.Zero(t, Probability(1, 0))
}

func TestDue_followsItsProbability(t *testing.T) {
	const n, scale = 400_000, 400 * time.Millisecond
	rng := seeded(t)
	for _, left := range []time.Duration{2 * time.Second, scale, scale / 4} {
		p := Probability(left, scale)
		got := electedShare(rng, n, func(u float64) bool { return Due(left, scale, u) })
		require.InDelta(t, p, got, 5*math.Sqrt(p*(1-p)/n), "%v left", left)
	}
	// Ten seconds left is 1.4e-11: the draw must be below that, and then it is due.
	require.True(t, Due(10*time.Second, scale, 1.38e-11))
	require.False(t, Due(10*time.Second, scale, 1.40e-11))
}

// A mistake often seen in print: adding delta*beta*ln(u), which is negative,
// looks back instead of ahead.
func TestDue_lookAheadNotBack(t *testing.T) {
	const left, scale = 100 * time.Millisecond, 400 * time.Millisecond
	rng := seeded(t)
	wrongSign := func(u float64) bool { return -Draw(u)*float64(scale) >= float64(left) }
	require.Zero(t, electedShare(rng, 10_000, wrongSign))
	right := func(u float64) bool { return Due(left, scale, u) }
	require.Greater(t, electedShare(rng, 10_000, right), 0.7)
}

// Another: with delta in whole seconds, loads of less than one are never
// refreshed early.
func TestScale_keepsFractionsOfASecond(t *testing.T) {
	rng := seeded(t)
	delta := 400 * time.Millisecond
	share := func(delta time.Duration) float64 {
		scale := Scale(delta, 1)
		return electedShare(rng, 10_000, func(u float64) bool { return Due(time.Millisecond, scale, u) })
	}
	require.Zero(t, share(delta.Truncate(time.Second)))
	require.Greater(t, share(delta), 0.9)
}

func TestDue_expiredIsAlwaysDue(t *testing.T) {
	for _, left := range []time.Duration{0, -1, math.MinInt64} {
		for _, scale := range []time.Duration{0, -1, time.Second, forever} {
			for _, u := range wildU {
				require.True(t, Due(left, scale, u), "left %d scale %d u %v", left, scale, u)
			}
		}
	}
}

func TestDue_withoutScaleNeverEarly(t *testing.T) {
	for _, scale := range []time.Duration{0, -1, math.MinInt64} {
		require.Zero(t, Window(scale))
		for _, u := range wildU {
			require.False(t, Due(1, scale, u), "scale %d u %v", scale, u)
		}
	}
}

func TestWindow_isExact(t *testing.T) {
	rng := seeded(t)
	for range 20_000 {
		scale := anyDuration(rng)
		window := Window(scale)
		if window > 0 {
			require.True(t, Due(window, scale, 0), "scale %d: the smallest u at the edge", scale)
		}
		if window == forever {
			continue // nothing lies beyond
		}
		for _, u := range append(wildU, rng.Float64()) {
			require.False(t, Due(window+1, scale, u), "scale %d u %v: beyond the edge", scale, u)
		}
	}
	require.Equal(t, 14_694_720_227*time.Nanosecond, Window(400*time.Millisecond))
	require.Equal(t, forever, Window(forever/36))
}

func TestDue_isTheRuleOfThePaper(t *testing.T) {
	rng := seeded(t)
	for range 100_000 {
		delta := time.Duration(1 + rng.Int64N(int64(time.Hour)))
		beta := 4 * rng.Float64()
		left := time.Duration(1 + rng.Int64N(int64(time.Hour)))
		u := 1 - rng.Float64()
		paper := -float64(delta) * beta * math.Log(u) // now - delta*beta*ln(u) >= expiry
		if math.Abs(paper-float64(left)) < 50 {
			continue // a scale is whole nanoseconds: MaxDraw of them may differ
		}
		require.Equal(t, paper >= float64(left), Due(left, Scale(delta, beta), u),
			"delta %d beta %v left %d u %v", delta, beta, left, u)
	}
}

// FuzzDue looks for arguments that break what must hold everywhere: less time
// left or a smaller u never turns a refresh down.
func FuzzDue(f *testing.F) {
	f.Add(int64(time.Second), 1.0, int64(time.Second), 0.5)
	f.Add(int64(0), 1e9, int64(math.MaxInt64), 0.0)
	f.Add(int64(math.MaxInt64), 1e9, int64(math.MaxInt64), minU)
	f.Add(int64(math.MinInt64), math.NaN(), int64(math.MinInt64), math.NaN())
	f.Fuzz(func(t *testing.T, delta int64, beta float64, left int64, u float64) {
		scale := Scale(time.Duration(delta), beta)
		require.GreaterOrEqual(t, scale, time.Duration(0))
		window := Window(scale)
		require.GreaterOrEqual(t, window, scale)
		l := time.Duration(left)
		p := Probability(l, scale)
		require.True(t, p >= 0 && p <= 1, "probability %v", p)
		if !Due(l, scale, u) {
			require.Positive(t, l)
			return
		}
		require.LessOrEqual(t, l, window)
		require.True(t, Due(l/2, scale, u), "half the time left")
		require.True(t, Due(l, scale, u/2) || math.IsNaN(u) || u < 0, "half of u")
	})
}
