package xfetch

import (
	"math"
	"time"
)

// RefreshShare is the share of its slots that a cache gives to refreshes, behind
// which nobody waits.
const RefreshShare = 0.3

// MaxLoads is how many loads may run at once before an origin that completes
// rate calls a second: by Little's law rate times what a load takes,
// with a margin for loads that take longer when the origin is busy. The margin
// is Lead/Mean, at least 1.2 and at most 2: with less the origin idles when loads
// are slow, with more a slow origin is given a queue as well.
//
// It is at least 1 and at most the largest int32.
func MaxLoads(rate float64, cost Cost) int {
	mean := max(cost.Mean, 0).Seconds()
	if !(rate > 0) || mean == 0 {
		return 1
	}
	margin := min(max(cost.Lead().Seconds()/mean, 1.2), 2)
	return int(min(max(ceil(rate*mean*margin), 1), math.MaxInt32))
}

// LoadsThrough is how many loads per second limit slots let through when each
// takes load: limit/load. It saturates at the largest float64.
func LoadsThrough(limit int, load time.Duration) float64 {
	return min(float64(max(limit, 0))/max(load.Seconds(), 1e-9), math.MaxFloat64)
}

// LeastTTL is the shortest ttl with which keys keys, each loaded loads times per
// ttl, cost at most rate loads: keys*loads/rate. It saturates.
func LeastTTL(keys int, loads, rate float64) time.Duration {
	n := float64(max(keys, 0)) * min(positive(loads), maxRate)
	if n == 0 {
		return 0
	}
	if !(rate > 0) {
		return forever
	}
	return saturate(ceil(n / rate * float64(time.Second)))
}

// RefillTime is how long it takes to load keys keys into an empty cache at
// rate loads a second, when for the time of ramp only a part may run,
// rate*2^{2(t/ramp-1)}, from a quarter to all. During the ramp
//
//	∫ C*2^{2(x/R-1)} dx, from 0 to t  =  C*R (2^{2t/R} - 1) / (8 ln 2)
//
// are loaded, so t = R/2*log2(1 + 8 ln2 * keys/(C*R)) while that is within the
// ramp, and later loads come at the full rate. No policy is faster than
// keys/rate. It saturates.
func RefillTime(keys int, rate float64, ramp time.Duration) time.Duration {
	if keys <= 0 {
		return 0
	}
	if !(rate > 0) {
		return forever
	}
	full := float64(keys) / rate
	r := max(ramp, 0).Seconds()
	inRamp := r * 3 / (8 * math.Ln2)
	if full > inRamp {
		return saturate((r + full - inRamp) * float64(time.Second))
	}
	return saturate(r / 2 * math.Log2(1+8*math.Ln2*full/r) * float64(time.Second))
}
