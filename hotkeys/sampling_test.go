package hotkeys

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestSampleRate_isTheSmallestThatKeepsItsPromise(t *testing.T) {
	promise := func(n, c float64) bool {
		return 1-poissonTail(n, c) < 1e-3 && poissonTail(n/2, c) < 1e-6
	}
	require.True(t, promise(175, 136))
	for n := 1.0; n < 175; n++ {
		for c := 1.0; c <= n; c++ {
			require.False(t, promise(n, c), "%v samples and a limit of %v would do", n, c)
		}
	}
}

func TestFlagged_keepsThePromiseOfTheDocs(t *testing.T) {
	for _, threshold := range []float64{176, 5_000, 12_345.6, 1e6, 1e9} {
		for _, window := range []time.Duration{time.Second, 1700 * time.Millisecond, time.Minute} {
			q := SampleRate(threshold, window)
			require.InDelta(t, 9.8e-4, 1-Flagged(threshold, threshold, window, q), 0.1e-4)
			require.InDelta(t, 9.6e-7, Flagged(threshold/2, threshold, window, q), 0.1e-7)
		}
	}
}

func TestSampleRate_samplesEverythingWhenThereIsLittle(t *testing.T) {
	require.Equal(t, 1.0, SampleRate(175, time.Second))
	require.Equal(t, 0.5, SampleRate(175, 2*time.Second))
	require.InDelta(t, 0.035, SampleRate(5000, time.Second), 1e-15)
	for _, threshold := range []float64{0, -1, math.NaN(), math.Inf(-1)} {
		require.Equal(t, 1.0, SampleRate(threshold, time.Second))
	}
	require.Equal(t, 1.0, SampleRate(5000, 0))
	require.Zero(t, SampleRate(math.Inf(1), time.Second))
}

func TestPoissonTail_isTheSumOfItsTerms(t *testing.T) {
	for _, mean := range []float64{0.01, 0.5, 1, 3.7, 42, 175, 699} {
		term, below := math.Exp(-mean), 0.0
		for c := range 1000 {
			require.InDelta(t, 1-below, poissonTail(mean, float64(c)), 1e-12, "mean %v, at least %d", mean, c)
			below += term
			term *= mean / float64(c+1)
		}
	}
	require.Equal(t, 1.0, poissonTail(0, 0))
	require.Zero(t, poissonTail(0, 1))
	require.InDelta(t, 0.5, poissonTail(1e9, 1e9), 1e-4, "large means neither overflow nor take for ever")
}

// The rates of a tracker are not the plain counts of the formula. Here is the
// distribution of their weighted sums, worked out, against the same promise.
func TestMemory_keepsThePromiseAtEveryMomentOfAWindow(t *testing.T) {
	const n = needed / memory // samples expected of a window at the threshold
	for passed := 0.0; passed <= 1; passed += 0.25 {
		limit := Margin * n * (1 + passed)
		require.Less(t, 1-fadingTail(n, passed, limit), 1e-3, "missed with %v of the window passed", passed)
		require.Less(t, fadingTail(n/2, passed, limit), 1e-6, "wrongly flagged with %v of the window passed", passed)
	}
}

// fadingTail is the probability that a count fading by half a window reaches
// limit, when windows bring n each, as a Poisson process, and the present one
// has passed in part. Sums are multiples of 1/32, the weight of the sixth
// window; those before it vary too little to matter.
func fadingTail(n, passed, limit float64) (tail float64) {
	const unit = 32
	sums := make([]float64, 250*unit)
	sums[0] = 1
	mean := n * passed
	for weight := unit; weight > 0; weight /= 2 {
		sums = addPoisson(sums, mean, weight)
		mean = n
	}
	older := n / unit
	for i, p := range sums {
		if float64(i)/unit+older >= limit-1e-9 {
			tail += p
		}
	}
	return tail
}

// addPoisson adds to a sum with the given distribution weight times a Poisson
// count.
func addPoisson(sums []float64, mean float64, weight int) []float64 {
	out := make([]float64, len(sums))
	term := math.Exp(-mean)
	for k := 0; float64(k) < mean || term > 1e-18; k++ {
		for i := k * weight; i < len(out); i++ {
			out[i] += term * sums[i-k*weight]
		}
		term *= mean / float64(k+1)
	}
	return out
}

// A key that keeps at the threshold is found at every look, one at half of it
// at none, near enough: 3,800 looks, many of them at nearly the same samples.
func TestTracker_findsTheThresholdAndSparesItsHalf(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	const threshold = 5000
	clock := newHands()
	tracker := newTracker(t, Options{Threshold: threshold, Now: clock.now})
	every := float64(tracker.Every())
	missed, wrong := 0, 0
	for tick := range 4000 { // of 50 ms
		for range poisson(r, threshold/every/20) {
			tracker.Sample("at the threshold", tracker.Every())
		}
		for range poisson(r, threshold/every/40) {
			tracker.Sample("at half of it", tracker.Every())
		}
		clock.advance(50 * time.Millisecond)
		if tick < 200 {
			continue // still coming up to its rate
		}
		hot := tracker.Above(Margin * threshold)
		if len(hot) == 0 || hot[0].Key != "at the threshold" {
			missed++
		}
		wrong += max(0, len(hot)-1)
	}
	require.Less(t, missed, 40)
	require.Zero(t, wrong)
}

// poisson draws from a Poisson distribution with a small mean.
func poisson(r *rand.Rand, mean float64) (n int) {
	for p := r.Float64(); p > math.Exp(-mean); p *= r.Float64() {
		n++
	}
	return n
}
