package xfetch

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestScale_saturatesAndNeverGoesNegative(t *testing.T) {
	for _, row := range []struct {
		delta time.Duration
		beta  float64
		want  time.Duration
	}{
		{time.Second, 1, time.Second},
		{time.Second, 1.5, 1500 * time.Millisecond},
		{3, 0.5, 1},
		{0, 1e9, 0},
		{0, math.Inf(1), 0},
		{time.Hour, 1e9, forever},
		{time.Hour, 0, 0},
		{time.Hour, -1, 0},
		{-time.Hour, 1, 0},
		{-time.Hour, -1, 0},
		{time.Hour, math.NaN(), 0},
		{1, math.Inf(1), forever},
		{1, math.Inf(-1), 0},
		{forever, 1, forever},
		{math.MinInt64, 1e9, 0},
	} {
		require.Equal(t, row.want, Scale(row.delta, row.beta), "Scale(%d, %v)", row.delta, row.beta)
	}
}

func TestClampScale_boundsByLife(t *testing.T) {
	require.Equal(t, time.Second, ClampScale(time.Second, time.Minute))
	require.Equal(t, 3750*time.Millisecond, ClampScale(time.Hour, time.Minute))
	require.Equal(t, forever/16, ClampScale(forever, forever))
	require.Zero(t, ClampScale(-1, time.Minute))
	require.Zero(t, ClampScale(time.Second, 15))
	require.Zero(t, ClampScale(time.Second, -time.Minute))
}

// The figures of ClampScale's comment: at most 5 % are refreshed at birth, up
// to 440,000 reads per scale.
func TestClampScale_keepsFreshEntriesAlone(t *testing.T) {
	const ttl = time.Minute
	scale := ClampScale(ttl, ttl)
	atBirth := func(readsPerScale float64) float64 {
		law := Law{Rate: readsPerScale / scale.Seconds(), Scale: scale}
		return 1 - law.LateProbability(ttl)
	}
	require.Less(t, atBirth(440_000), 0.05)
	require.Greater(t, atBirth(460_000), 0.05)
	require.Less(t, atBirth(1000), 2e-4)
}

func TestSmooth_givesTheNewestAQuarter(t *testing.T) {
	require.Equal(t, 125*time.Millisecond, Smooth(100*time.Millisecond, 200*time.Millisecond))
	require.Equal(t, 175*time.Millisecond, Smooth(200*time.Millisecond, 100*time.Millisecond))
}

func TestSmooth_isSeededByTheFirst(t *testing.T) {
	for _, none := range []time.Duration{0, -1, math.MinInt64} {
		require.Equal(t, time.Second, Smooth(none, time.Second))
		require.Zero(t, Smooth(none, -time.Second))
	}
}

func TestSmooth_settlesOnAConstant(t *testing.T) {
	rng := seeded(t)
	for range 500 {
		estimate, sample := max(1, anyDuration(rng)), anyDuration(rng)
		for range 200 {
			next := Smooth(estimate, sample)
			require.LessOrEqual(t, (next - sample).Abs(), (estimate - sample).Abs())
			require.Positive(t, next, "from %d by %d", estimate, sample)
			estimate = next
		}
		require.LessOrEqual(t, (estimate - sample).Abs(), time.Duration(1), "sample %d", sample)
	}
}

func TestSmooth_survivesExtremes(t *testing.T) {
	require.Equal(t, forever, Smooth(forever, forever))
	require.Equal(t, forever/4+2, Smooth(1, forever))
	require.Positive(t, Smooth(forever, math.MinInt64))
}

func TestLife_onlyShortens(t *testing.T) {
	rng := seeded(t)
	for range 20_000 {
		ttl, jitter := max(1, anyDuration(rng)), rng.Float64()
		life := Life(ttl, jitter, rng.Float64())
		require.LessOrEqual(t, life, ttl)
		require.GreaterOrEqual(t, life, time.Duration(1))
		require.GreaterOrEqual(t, float64(life), float64(ttl)*(1-jitter)*(1-1e-12)-1)
	}
}

func TestLife_ofPlainAndOddArguments(t *testing.T) {
	const ttl = 100 * time.Second
	for _, row := range []struct {
		ttl       time.Duration
		jitter, u float64
		want      time.Duration
	}{
		{ttl, 0.1, 0, ttl},
		{ttl, 0.1, 0.5, 95 * time.Second},
		{ttl, 0.1, 1, 90 * time.Second},
		{ttl, 1, 1, 1},
		{ttl, 7, 7, 1},
		{ttl, -1, 0.5, ttl},
		{ttl, math.NaN(), 0.5, ttl},
		{ttl, 0.5, math.NaN(), ttl},
		{ttl, 0.5, -3, ttl},
		{ttl, math.Inf(1), math.Inf(1), 1},
		{forever, 0, 0.5, forever},
		{forever, 1, 1, 1},
		{1, 0.9, 0.9, 1},
		{0, 0.1, 0.5, 0},
		{-ttl, 0.1, 0.5, 0},
	} {
		require.Equal(t, row.want, Life(row.ttl, row.jitter, row.u), "Life(%d, %v, %v)", row.ttl, row.jitter, row.u)
	}
}

func TestLife_meanIsHalfTheJitterBelowTTL(t *testing.T) {
	const n, ttl, jitter = 100_000, time.Minute, 0.5
	rng := seeded(t)
	var sum float64
	for range n {
		sum += Life(ttl, jitter, rng.Float64()).Seconds()
	}
	sd := jitter * ttl.Seconds() / math.Sqrt(12)
	require.InDelta(t, 45, sum/n, 5*sd/math.Sqrt(n))
}
