package xfetch

import (
	"math"
	"time"
)

// BestScale is the scale with which the classic rule costs the least loads, of a
// key with rate reads per second whose readers learn of a refresh aware after
// its start and whose entries live for life (count the time of a load in).
//
// A hot key's loads per second are e^{w/s}/(T-G) with G = s*(ln(rs)+γ): too small
// a scale and many load at once, too large a one and values are replaced while
// they are fresh. Where the derivative is 0
//
//	s² ℓ = w (T-G),   ℓ = ln(rs)+γ+1,   thus about s* = √(w*T/ℓ)
//
// and the loads are about 1 + (2-1/ℓ)√(w*ℓ/T) per life. At beta 1 and without a lease,
// w = delta, a hot key costs 2.7 times that once T exceeds 100 delta; with a
// lease beta 1 is about right.
//
// It is 0 where early refresh has no crowd to prevent: without a delay, or with
// less than a read in e^{1.58} lives. It never exceeds life; apply [ClampScale].
func BestScale(rate float64, aware, life time.Duration) time.Duration {
	r, w, t := perSecond(rate), aware.Seconds(), life.Seconds()
	if r == 0 || w <= 0 || t <= 0 {
		return 0
	}
	// The left side minus the right rises with s, from below 0 where ℓ is 0.
	low, high := math.Exp(-1-euler)/r, t
	if low >= high {
		return 0
	}
	for range 200 {
		s := math.Sqrt(low * high)
		if l := math.Log(r*s) + euler + 1; s*s*l < w*(t-s*(l-1)) {
			low = s
		} else {
			high = s
		}
	}
	return min(saturate(low*float64(time.Second)), life)
}
