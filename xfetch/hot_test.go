package xfetch

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// readsOfStore plays readers on instances that keep a key for l1.
func readsOfStore(rng *rand.Rand, rate float64, instances int, l1, during time.Duration) float64 {
	kept := make([]float64, instances)
	reads := 0.0
	for now := rng.ExpFloat64() / rate; now < during.Seconds(); now += rng.ExpFloat64() / rate {
		if i := rng.IntN(instances); now >= kept[i] {
			reads++
			kept[i] = now + l1.Seconds()
		}
	}
	return reads / during.Seconds()
}

func TestSharedReads_isWhatTheStoreSees(t *testing.T) {
	rng := seeded(t)
	for _, row := range []struct {
		rate      float64
		instances int
		l1        time.Duration
	}{{1000, 10, time.Second}, {100, 50, time.Second}, {5, 20, 2 * time.Second}, {2000, 1, 100 * time.Millisecond}} {
		const during = 500 * time.Second
		got := readsOfStore(rng, row.rate, row.instances, row.l1, during)
		want := SharedReads(row.rate, row.instances, row.l1)
		require.InDelta(t, want, got, 6*math.Sqrt(want/during.Seconds())+float64(row.instances)/during.Seconds(), "%+v", row)
		require.Less(t, want, float64(row.instances)/row.l1.Seconds())
	}
}

func TestL1TTL_isTheLeastThatHolds(t *testing.T) {
	rng := seeded(t)
	for range 1000 {
		rate, instances := math.Exp(12*rng.Float64()), 1+rng.IntN(1000)
		bound := rate * rng.Float64()
		l1 := L1TTL(rate, instances, bound)
		require.LessOrEqual(t, SharedReads(rate, instances, l1), bound*(1+1e-6), "rate %v bound %v", rate, bound)
		require.Greater(t, SharedReads(rate, instances, l1*99/100), bound*(1-1e-6), "rate %v bound %v", rate, bound)
	}
	require.Zero(t, L1TTL(10, 5, 10))
	require.Equal(t, forever, L1TTL(10, 5, 0))
}

func TestCopies_isTheFewest(t *testing.T) {
	rng := seeded(t)
	for range 1000 {
		reads, node := math.Exp(14*rng.Float64()), math.Exp(12*rng.Float64())
		other := node * rng.Float64()
		room := NodeShare*node - other
		n := Copies(reads, node, other)
		if n == 0 {
			require.GreaterOrEqual(t, other, NodeShare*node)
			continue
		}
		if n == math.MaxInt32 {
			continue
		}
		require.LessOrEqual(t, reads/float64(n), room*(1+1e-9), "%v %v %v: %d", reads, node, other, n)
		require.True(t, n == 1 || reads/float64(n-1) > room, "%v %v %v: %d", reads, node, other, n)
	}
}

func TestHot_edges(t *testing.T) {
	floats := []float64{math.Inf(-1), -1, 0, 5e-324, 0.1, 1, 1e18, math.MaxFloat64, math.Inf(1), math.NaN()}
	times := []time.Duration{math.MinInt64, -1, 0, 1, time.Second, forever}
	for _, x := range floats {
		for _, y := range floats {
			for _, n := range []int{math.MinInt, -1, 0, 1, math.MaxInt} {
				require.GreaterOrEqual(t, L1TTL(x, n, y), time.Duration(0))
				for _, l1 := range times {
					reads := SharedReads(x, n, l1)
					require.True(t, reads >= 0 && reads <= maxRate, "%v %v %v: %v", x, n, l1, reads)
				}
			}
			for _, z := range floats {
				n := Copies(x, y, z)
				require.True(t, n >= 0 && n <= math.MaxInt32, "%v %v %v: %v", x, y, z, n)
			}
		}
	}
	require.Zero(t, Copies(1, 100, 60))
	require.Equal(t, 1, Copies(0, 100, 0))
}
