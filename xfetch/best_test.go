package xfetch

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// least finds the scale of the fewest loads among many.
func least(law Law, life time.Duration) (scale time.Duration, rate float64) {
	rate = math.Inf(1)
	for s := life.Seconds() / 1e6; s < life.Seconds()/3; s *= 1.002 {
		law.Scale = time.Duration(s * 1e9)
		if got := law.LoadRate(life, 0); got < rate {
			scale, rate = law.Scale, got
		}
	}
	return scale, rate
}

func TestBestScale_costsTheLeast(t *testing.T) {
	const life = 100 * time.Second
	for _, rate := range []float64{10, 100, 1e4, 1e6} {
		for _, aware := range []time.Duration{time.Millisecond, 30 * time.Millisecond, time.Second} {
			law := Law{Rate: rate, Aware: aware}
			law.Scale = BestScale(rate, aware, life)
			scale, loads := least(law, life)
			require.LessOrEqual(t, law.LoadRate(life, 0), loads*1.0005, "%+v, the best is %v", law, scale)
			if law.ReadsPerScale() > 10 {
				require.InEpsilon(t, scale.Seconds(), law.Scale.Seconds(), 0.03, "%+v", law)
				// The short form of the overhead is the first term of a series.
				l := math.Log(law.ReadsPerScale()) + euler + 1
				overhead := (2 - 1/l) * math.Sqrt(aware.Seconds()*l/life.Seconds())
				require.InDelta(t, 1+overhead, law.LoadRate(life, 0)*life.Seconds(), overhead*overhead, "%+v", law)
			}
		}
	}
}

// Beta 1 without a lease, and with one.
func TestBestScale_besideBetaOne(t *testing.T) {
	const life, rate = 400 * time.Second, 1e5
	excess := func(aware time.Duration) float64 {
		best := Law{Rate: rate, Scale: BestScale(rate, aware, life), Aware: aware}
		one := Law{Rate: rate, Scale: time.Second, Aware: aware}
		return one.LoadRate(life, 0) / best.LoadRate(life, 0)
	}
	require.InDelta(t, 2.718/(1+0.35), excess(time.Second), 0.2)
	require.InDelta(t, 1, excess(10*time.Millisecond), 0.04)
}

func TestBestScale_edges(t *testing.T) {
	require.Zero(t, BestScale(100, 0, time.Minute))
	require.Zero(t, BestScale(0, time.Second, time.Minute))
	require.Zero(t, BestScale(math.NaN(), time.Second, time.Minute))
	require.Zero(t, BestScale(100, time.Second, -1))
	require.Zero(t, BestScale(1e-9, time.Second, time.Minute))
	for _, rate := range []float64{5e-324, 1e-6, 1, 1e18, math.Inf(1)} {
		for _, aware := range []time.Duration{1, time.Second, forever} {
			for _, life := range []time.Duration{1, time.Second, forever} {
				scale := BestScale(rate, aware, life)
				require.True(t, scale >= 0 && scale <= life, "rate %v aware %v life %v: %v", rate, aware, life, scale)
			}
		}
	}
}

// Lives that are shortened: played, not computed.
func TestLoadsPerTTL_countsGenerations(t *testing.T) {
	const n, ttl, jitter, load = 20_000, time.Minute, 0.1, 400 * time.Millisecond
	rng := seeded(t)
	law := Law{Rate: 25, Scale: load, Aware: load}
	var loads, cycle mean
	for range n {
		p := law.play(rng)
		loads.add(float64(p.early + p.hard))
		cycle.add((Life(ttl, jitter, rng.Float64()) - p.left + load).Seconds())
	}
	want := loads.value() / cycle.value() * ttl.Seconds()
	require.InEpsilon(t, want, law.LoadsPerTTL(ttl, jitter, load), 5.5*0.9/math.Sqrt(n))

	one := Law{Rate: 1e6} // no early refresh, no crowd
	require.InDelta(t, 1.0526, one.LoadsPerTTL(ttl, jitter, 0), 1e-4)
	require.Zero(t, Law{}.LoadsPerTTL(ttl, jitter, 0))
}

func TestLoadRate_edges(t *testing.T) {
	times := []time.Duration{math.MinInt64, -1, 0, 1, time.Second, forever}
	for _, rate := range []float64{0, 1e-9, 1, 1e18, math.NaN()} {
		for _, scale := range times {
			for _, life := range times {
				for _, load := range times {
					law := Law{Rate: rate, Scale: scale, Aware: load, Shift: scale}
					got := law.LoadRate(life, load)
					require.True(t, got >= 0 && got <= math.MaxFloat64, "%+v life %v load %v: %v", law, life, load, got)
				}
			}
		}
	}
}
