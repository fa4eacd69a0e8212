package bloom

import (
	"fmt"
	"math"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNew_namesTheOptionItRefuses(t *testing.T) {
	for _, c := range []struct {
		field string
		opts  Options
	}{
		{"FalsePositiveRate", Options{FalsePositiveRate: math.NaN()}},
		{"FalsePositiveRate", Options{FalsePositiveRate: math.Inf(1)}},
		{"FalsePositiveRate", Options{FalsePositiveRate: math.Inf(-1)}},
		{"FalsePositiveRate", Options{FalsePositiveRate: -1}},
		{"FalsePositiveRate", Options{FalsePositiveRate: 1}},
		{"FalsePositiveRate", Options{FalsePositiveRate: 1e-300}},
		{"Expected", Options{Expected: -1}},
		{"Expected", Options{Expected: math.MaxInt}},
		{"Expected", Options{Expected: 2_000, MaxBytes: 1_000}},
		{"MaxBytes", Options{MaxBytes: -1}},
		{"MaxBytes", Options{MaxBytes: 7}},
		{"MaxBytes", Options{MaxBytes: math.MaxInt64}},
		{"Remember", Options{Remember: -1}},
	} {
		g, err := New(c.opts)
		require.Nil(t, g)
		var refused *OptionError
		require.ErrorAs(t, err, &refused, "%+v", c.opts)
		require.Equal(t, c.field, refused.Field)
		require.Contains(t, err.Error(), c.field)
	}
}

// Each pair of a degenerate count and a degenerate rate is either refused or
// makes a guard that works, and New allocates no filter.
func TestNew_survivesDegenerateParameters(t *testing.T) {
	for _, expected := range []int{0, 1, math.MaxInt / 8} {
		for _, rate := range []float64{0, 1, -1, math.NaN(), 1e-300, 1e-9, 0.01, 0.5} {
			t.Run(fmt.Sprint(expected, rate), func(t *testing.T) {
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				g, err := New(Options{Expected: expected, FalsePositiveRate: rate})
				runtime.ReadMemStats(&after)
				require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<16))
				if err != nil {
					return
				}
				g.Add("before")
				require.NoError(t, g.Build(t.Context(), list("x")))
				g.Add("after")
				s := g.Stats()
				require.GreaterOrEqual(t, s.Bits, uint64(minBits))
				require.True(t, 1 <= s.Hashes && s.Hashes <= maxHashes, "%d hashes", s.Hashes)
				require.Zero(t, refusals(g, "x", 0))
				for _, id := range []string{"before", "x", "after"} {
					require.True(t, g.MayContain(id))
				}
				require.NotZero(t, refusals(g, "stranger", 100))
			})
		}
	}
}

func TestDesignFor_clamps(t *testing.T) {
	for _, n := range []uint64{0, 1, 1 << 30} {
		for _, rate := range []float64{1e-12, 1e-3, 0.999999} {
			d := designFor(n, rate)
			require.GreaterOrEqual(t, d.m, uint(minBits))
			require.Zero(t, d.m%64)
			require.True(t, 1 <= d.k && d.k <= maxHashes)
		}
	}
	require.Equal(t, design{n: 1_000_000, m: 14_377_600, k: 10}, designFor(1_000_000, 1e-3))
}

// Overfilling is a cliff: built for 1 %, twice the ids give 15.7 %, three
// times 43.6 %.
func TestDesign_predictsOverfill(t *testing.T) {
	d := designFor(1_000_000, 0.01)
	for times, rate := range map[float64]float64{1: 0.01, 2: 0.157, 3: 0.436} {
		require.InEpsilon(t, rate, d.rateAt(d.fillAfter(0, times*1e6)), 0.02)
	}
}

func TestBuild_leavesRoomButNoMoreThanMaxBytes(t *testing.T) {
	const n = 10_000
	roomy := built(t, Options{}, "product", n)
	require.EqualValues(t, headroom*n, roomy.Stats().Capacity)

	const limit = n * 20 / 8 // 20 bits an id where the rate asks for 14.4
	tight := built(t, Options{MaxBytes: limit}, "product", n)
	s := tight.Stats()
	require.LessOrEqual(t, s.Bits, uint64(limit*8))
	require.Greater(t, s.Capacity, uint64(n))
	require.Zero(t, refusals(tight, "product", n))
}
