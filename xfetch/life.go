package xfetch

import "time"

// Life is how long an entry may live when ttl is the most and jitter the share
// by which lives are shortened at random: ttl*(1 - jitter*u), for a uniform u
// in [0, 1). Entries written together then expire spread over jitter*ttl; the
// mean life is ttl*(1 - jitter/2).
//
// The result lies between 1 ns and ttl. Jitter and u are clamped to [0, 1] (a
// negative jitter is none), and a NaN in either shortens nothing. A ttl of 0 or
// less has no life: 0.
func Life(ttl time.Duration, jitter, u float64) time.Duration {
	if ttl <= 0 {
		return 0
	}
	cut := saturate(unit(jitter) * unit(u) * float64(ttl))
	return max(1, ttl-cut)
}

// unit clamps x to [0, 1]; NaN is 0.
func unit(x float64) float64 {
	if !(x > 0) {
		return 0
	}
	return min(x, 1)
}
