package hotkeys

import (
	"math"
	"time"
)

// Margin is the share of the threshold at which a key is taken for hot. Counts
// of samples scatter, so to find a key at the threshold reliably the limit must
// be below it, and to spare one at half the threshold well above that.
//
// With n samples expected of a key at the threshold, a Poisson count misses a
// limit of c with probability P[Poisson(n) < c], and a key at half the rate
// reaches it with P[Poisson(n/2) >= c]. The smallest n for which some c holds
// the first under 1e-3 and the second under 1e-6 is 175, with c = 136.
const Margin = 136.0 / 175

const needed = 175 // samples, see Margin

// memory is the length, in windows, of the plain count whose promise a tracker's
// rates keep. With e passed of a window W, a count made of the present window,
// half the one before, a quarter of the next and so on has variance r(e+W/3)
// and, divided by W+e, scatters like a plain count over (W+e)^2/(e+W/3), which
// is 8/3 of a window at the least. A weighted sum has longer tails than a
// Poisson count; with 2.5 both probabilities hold at every moment.
const memory = 2.5

// SampleRate is the share of reads to sample, min(1, 175/(threshold*window)):
// the least with which the samples of one window suffice to find a key read
// threshold times a second with all but 9.8e-4 probability, while one read half
// as often is taken for hot with probability 9.6e-7; see [Margin] and
// [Flagged].
//
// A threshold or window that is not positive gives 1.
func SampleRate(threshold float64, window time.Duration) float64 {
	return 1 / readsPerSample(threshold*window.Seconds())
}

// readsPerSample is the most reads that a sample can stand for if a key at the
// threshold is read so many times.
func readsPerSample(reads float64) float64 {
	if reads > needed {
		return reads / needed
	}
	return 1 // for NaN, too
}

// Flagged is the probability that a key read rate times a second, at random
// instants, is taken for hot on the samples of one window, when the limit is
// [Margin] times threshold and reads are sampled with probability q:
// P[Poisson(rate*window*q) >= Margin*threshold*window*q]. 1-Flagged is the
// probability of missing it.
//
// For a [Tracker], which weighs older windows less, take 2.5 of its windows.
func Flagged(rate, threshold float64, window time.Duration, q float64) float64 {
	scale := window.Seconds() * min(q, 1)
	// A limit that is a whole number must not become the next by rounding.
	limit := math.Ceil(Margin * threshold * scale * (1 - 1e-12))
	return poissonTail(rate*scale, limit)
}

// poissonTail is P[Poisson(mean) >= c], for a whole number c.
func poissonTail(mean, c float64) float64 {
	switch {
	case !(c > 0):
		return 1
	case !(mean > 0):
		return 0
	case c > mean:
		return upwards(mean, c)
	}
	return 1 - downwards(mean, c-1)
}

// upwards is the sum of the terms from k on, and downwards that from k down.
// Both lead away from the mean, where terms fall ever faster, and stop when
// they no longer count.
func upwards(mean, k float64) (sum float64) {
	for term := poissonTerm(mean, k); term > sum*1e-17; k++ {
		sum += term
		term *= mean / (k + 1)
	}
	return sum
}

func downwards(mean, k float64) (sum float64) {
	for term := poissonTerm(mean, k); term > sum*1e-17; k-- {
		sum += term
		term *= k / mean
	}
	return sum
}

// poissonTerm is P[Poisson(mean) = k].
func poissonTerm(mean, k float64) float64 {
	lg, _ := math.Lgamma(k + 1)
	return math.Exp(k*math.Log(mean) - mean - lg)
}
