package xfetch

import (
	"math"
	"time"
)

// MeanLife is the mean of [Life], ttl*(1 - jitter/2).
func MeanLife(ttl time.Duration, jitter float64) time.Duration {
	return Life(ttl, jitter, 0.5)
}

// PeakStarts is the most loads per second that keys keys written together start
// when they expire, each being loaded loads times. Jitter spreads the expiries
// evenly over jitter*ttl, the draws each first start around its own as a Gumbel
// law of the given scale does. The density of the sum is highest where its two
// edges are equally high, v1*e^{-v1} = v2*e^{-v2}, and there it is
//
//	(e^{-v2} - e^{-v1}) / (j*T),   v1 = J/(1-e^{-J}),  v2 = J/(e^J-1),  J = j*T/s
//
// which is 1/(j*T) for a wide jitter and 1/(e*s) without any: early refresh alone
// does not cure keys that were written together. Without either all start at
// once; the result saturates at the largest float64.
func PeakStarts(keys int, loads, jitter float64, ttl, scale time.Duration) float64 {
	n := float64(max(keys, 0)) * min(positive(loads), math.MaxFloat64)
	spread, s := unit(jitter)*max(ttl, 0).Seconds(), max(scale, 0).Seconds()
	switch {
	case n == 0:
		return 0
	case spread == 0 && s == 0:
		return math.MaxFloat64
	case spread < 1e-4*s: // the form below loses its digits
		return min(n/(math.E*s), math.MaxFloat64)
	case s == 0:
		return min(n/spread, math.MaxFloat64)
	}
	j := spread / s
	v2 := j / math.Expm1(j) // 0 for a j too large for e^j
	v1 := j + v2
	return min(n*(math.Exp(-v2)-math.Exp(-v1))/spread, math.MaxFloat64)
}

// JitterFor is the least jitter with which [PeakStarts] is at most bound. It
// is about
//
//	j = keys*loads/(ttl*bound)
//
// or 0 where the draws spread starts enough by themselves. More than 1 says that
// no jitter will do, and by how much a longer ttl or fewer keys at once would
// have to help. It saturates at the largest float64.
func JitterFor(keys int, loads, bound float64, ttl, scale time.Duration) float64 {
	if keys <= 0 || !(loads > 0) || PeakStarts(keys, loads, 0, ttl, scale) <= bound {
		return 0
	}
	alone := min(float64(keys)*min(loads, math.MaxFloat64), math.MaxFloat64) / max(ttl, 0).Seconds() / positive(bound)
	if alone = min(alone, math.MaxFloat64); alone != alone {
		alone = math.MaxFloat64
	}
	if alone > 1 && PeakStarts(keys, loads, 1, ttl, scale) > bound {
		return alone
	}
	low, high := 0.0, min(alone, 1)
	for range 60 {
		if j := (low + high) / 2; PeakStarts(keys, loads, j, ttl, scale) <= bound {
			high = j
		} else {
			low = j
		}
	}
	return high
}
