package xfetch

import (
	"math"
	"time"
)

// forever is where durations saturate, some 292 years.
const forever = time.Duration(math.MaxInt64)

// Scale is beta*delta, the unit in which early refresh measures time: a read
// one scale before expiry is elected with probability 1/e. It saturates, and a
// negative delta, a negative beta or a beta of NaN gives 0, no early refresh.
func Scale(delta time.Duration, beta float64) time.Duration {
	if delta <= 0 {
		return 0 // also keeps 0*Inf out
	}
	return saturate(float64(delta) * beta)
}

// ClampScale bounds a scale for an entry that lives ttl: at most ttl/16.
//
// Without a bound, an entry whose load takes about as long as it lives is
// elected again the moment it is written. The first refresh of a key that is
// read a times per scale starts within ttl of expiry, rather than at birth,
// with probability exp(-a*e^{-ttl/s}) (see [Law.LateProbability]); requiring
// ttl > s*(ln(a)+3) keeps refreshes at birth under 1-exp(-e^{-3}), 5 %. When
// the rate is not known, s = ttl/16 keeps that promise for every
// a <= e^{13}, 440,000 reads per scale, and leaves most scales untouched:
// a load of one second is bound only below a ttl of 16 s.
//
// Clamp only where a key's refreshes are coalesced or leased. Readers who do
// not hear of each other for a time w load e^{w/s} times per expiry, and that
// grows fast when s is made smaller than w.
func ClampScale(scale, ttl time.Duration) time.Duration {
	return max(0, min(scale, ttl/16))
}

// Smooth is the estimate of delta after another load took sample: an
// exponentially weighted mean that gives the newest a quarter, so that a single
// slow load does not stretch the window of the whole next generation. A prev of
// 0 or less means no estimate yet, and the sample becomes the first. A negative
// sample counts as 0.
//
// Steps round to the nearest nanosecond, so that small values neither stick
// several nanoseconds away from their samples nor drift to 0: once positive,
// an estimate stays positive.
func Smooth(prev, sample time.Duration) time.Duration {
	sample = max(sample, 0)
	if prev <= 0 {
		return sample
	}
	step := sample - prev // both are non-negative: no overflow
	return prev + step/4 + step%4/2
}

// maxRate is where rates saturate, in reads per second.
const maxRate = 1e18

// perSecond is x where that can be a rate, 0 if it is negative or NaN, and at
// most maxRate.
func perSecond(x float64) float64 { return min(positive(x), maxRate) }

// positive is x where that is a positive number, and 0 otherwise.
func positive(x float64) float64 {
	if !(x > 0) {
		return 0
	}
	return x
}

// ceil rounds up, but for what is a whole number except for rounding.
func ceil(x float64) float64 { return math.Ceil(x * (1 - 1e-12)) }

// saturate cuts a float's fraction. NaN and what is below 0 become 0, what is
// too large for an int64 becomes forever.
func saturate(ns float64) time.Duration {
	switch {
	case !(ns > 0):
		return 0
	case ns >= 1<<63:
		return forever
	}
	return time.Duration(ns)
}
