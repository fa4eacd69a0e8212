package xfetch

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Ten thousand keys written together: the busiest instant of their first starts,
// from a histogram.
func TestPeakStarts_isTheBusiestInstant(t *testing.T) {
	const keys, ttl = 300_000, time.Minute
	rng := seeded(t)
	for _, row := range []struct {
		jitter float64
		scale  time.Duration
	}{{0, time.Second}, {0.02, time.Second}, {0.1, time.Second}, {0.5, 100 * time.Millisecond}} {
		law := Law{Rate: 1000, Scale: row.scale}
		want := PeakStarts(keys, 1, row.jitter, ttl, row.scale)
		bin := max(row.scale/4, time.Duration(row.jitter*float64(ttl))/16)
		starts := map[time.Duration]float64{}
		for range keys {
			v := rng.ExpFloat64()
			left := law.Scale.Seconds() * math.Log(law.ReadsPerScale()/v)
			at := Life(ttl, row.jitter, rng.Float64()).Seconds() - left
			starts[time.Duration(at*1e9)/bin]++
		}
		peak := 0.0
		for _, n := range starts {
			peak = max(peak, n)
		}
		// The mean over a bin is a little below the peak within it, and of many bins
		// the fullest is a little above its mean.
		require.InEpsilon(t, want, peak/bin.Seconds(), 0.03, "%+v", row)
	}
}

// And exactly: the density of starts is F(x+jT) - F(x) over jT.
func TestPeakStarts_isTheMaximumOfTheDensity(t *testing.T) {
	const ttl = time.Minute
	for _, jitter := range []float64{1e-4, 0.01, 0.1, 1} {
		for _, scale := range []time.Duration{10 * time.Millisecond, time.Second, 20 * time.Second} {
			law := Law{Rate: 1e9, Scale: scale}
			spread := time.Duration(jitter * float64(ttl))
			most := 0.0
			for x := time.Duration(0); x < 30*scale+spread; x += min(scale/50+1, spread/200+scale/100) {
				most = max(most, law.LateProbability(x+spread)-law.LateProbability(x))
			}
			require.InEpsilon(t, most/spread.Seconds(), PeakStarts(1, 1, jitter, ttl, scale), 1e-3, "jitter %v scale %v", jitter, scale)
		}
	}
}

func TestPeakStarts_limits(t *testing.T) {
	require.InEpsilon(t, 1000/math.E, PeakStarts(1000, 1, 0, time.Minute, time.Second), 1e-12)
	require.InEpsilon(t, 1000/math.E, PeakStarts(1000, 1, 1e-6, time.Minute, time.Second), 1e-4)
	require.InEpsilon(t, 1000/6.0, PeakStarts(1000, 1, 0.1, time.Minute, 0), 1e-12)
	require.InEpsilon(t, 2000/6.0, PeakStarts(1000, 2, 0.1, time.Minute, time.Millisecond), 1e-3)
	require.Equal(t, math.MaxFloat64, PeakStarts(1, 1, 0, time.Minute, 0))
	require.Zero(t, PeakStarts(0, 1, 0, time.Minute, 0))
	below, above := PeakStarts(1, 1, 0.99e-4, time.Second, time.Second), PeakStarts(1, 1, 1.01e-4, time.Second, time.Second)
	require.InEpsilon(t, below, above, 1e-7, "where the form changes")
}

func TestJitterFor_isTheLeast(t *testing.T) {
	rng := seeded(t)
	for range 2000 {
		keys, loads := 1+rng.IntN(100_000), 1+2*rng.Float64()
		bound := math.Exp(10 * rng.Float64())
		ttl, scale := time.Duration(1+rng.Int64N(int64(time.Hour))), time.Duration(rng.Int64N(int64(time.Second)))
		j := JitterFor(keys, loads, bound, ttl, scale)
		switch {
		case j > 1:
			require.Greater(t, PeakStarts(keys, loads, 1, ttl, scale), bound)
		case j == 0:
			require.LessOrEqual(t, PeakStarts(keys, loads, 0, ttl, scale), bound)
		default:
			require.LessOrEqual(t, PeakStarts(keys, loads, j, ttl, scale), bound*(1+1e-9))
			require.Greater(t, PeakStarts(keys, loads, j*0.99, ttl, scale), bound*(1-1e-9))
		}
	}
	// The plain form: 20,000 keys, ten minutes, 200 loads a second.
	require.InEpsilon(t, 20_000/600.0/200, JitterFor(20_000, 1, 200, 10*time.Minute, 0), 1e-9)
}

func TestJitter_edges(t *testing.T) {
	floats := []float64{math.Inf(-1), -1, 0, 5e-324, 0.1, 1, 1e18, math.MaxFloat64, math.Inf(1), math.NaN()}
	times := []time.Duration{math.MinInt64, -1, 0, 1, time.Second, forever}
	for _, x := range floats {
		for _, y := range floats {
			for _, ttl := range times {
				for _, scale := range times {
					for _, keys := range []int{math.MinInt, 0, 1, math.MaxInt} {
						j, peak := JitterFor(keys, x, y, ttl, scale), PeakStarts(keys, x, y, ttl, scale)
						require.True(t, j >= 0 && j <= math.MaxFloat64, "%v %v %v %v: %v", x, y, ttl, scale, j)
						require.True(t, peak >= 0 && peak <= math.MaxFloat64, "%v %v %v %v: %v", x, y, ttl, scale, peak)
					}
				}
			}
		}
	}
}
