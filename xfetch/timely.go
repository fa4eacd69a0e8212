package xfetch

import "time"

// TimelyScale is the smallest scale with which the classic rule refreshes a key
// in time: with rate reads per second the first refresh starts with lead or less
// left in a share of late. Solving a*e^{-d/s} = λ, λ = -ln(late), for s gives
//
//	s = d/W(r*d/λ)
//
// where W is Lambert's function, and s = λ/r for a lead of 0. Divide by delta for
// the beta. What is needed grows without bound as keys grow cold: see whether
// [ClampScale] leaves it.
//
// It saturates, and does so for a key that is not read. A late of 1 or more asks
// for nothing and gives 0; less than 2^-53 counts as that.
func TimelyScale(rate float64, lead time.Duration, late float64) time.Duration {
	rate, lambda := perSecond(rate), Draw(late)
	switch {
	case lambda == 0:
		return 0
	case rate == 0:
		return forever
	}
	quiet := lambda / rate // seconds in which λ reads come
	if lead > 0 {
		if w := lambertW(lead.Seconds() / quiet); w > 0 {
			quiet = lead.Seconds() / w
		}
	}
	return saturate(ceil(quiet * float64(time.Second)))
}

// StaleFor is how long a value must be served past its expiry, while a load for
// it runs, so that no reader has to wait except in a share e^{-lambda} of expiries.
// A first start with G left is done in time if G + stale > lead, so stale is to
// the classic rule what the shift is to the deadline rule: freshness lost past
// expiry instead of loads spent before it. See [Shift], whose value it is, or 0
// where draws alone do. It saturates for a key that is not read.
func StaleFor(rate float64, scale, lead time.Duration, lambda float64) time.Duration {
	return max(0, Shift(rate, scale, lead, lambda))
}

// LifeFor is the life that a key needs for the deadline rule to keep its promise
// rather than be cut to reach, the share of the life that t0 may be: Shift/reach.
// A reach of 0 or less is that of [Deadline]. It saturates.
func LifeFor(rate float64, scale, lead time.Duration, lambda, reach float64) time.Duration {
	return saturate(float64(StaleFor(rate, scale, lead, lambda)) / Rule{Reach: reach}.reach())
}
