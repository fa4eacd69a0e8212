package xfetch

import (
	"math"
	"time"
)

// Aim is where the draws of one entry aim. It is computed once, when the entry
// is written, and costs a read as little as the scale alone:
//
//	aim := rule.Aim(known, beta, life) // when the entry is written
//	wake := expiry - aim.Window()      // likewise: no draw succeeds before this
//	...
//	if now >= wake && aim.Due(expiry-now, rand.Float64()) { refresh }
//
// The zero value refreshes nothing early.
type Aim struct {
	// Scale is s, the spread of the draws.
	Scale time.Duration
	// Shift is t0, how long before expiry reads become due whatever they draw.
	// Negative, it lies past expiry, where every read is due anyway: draws are
	// then aimed later than the classic rule's, which has a shift of 0.
	Shift time.Duration
}

// Window is how long before expiry a draw can first succeed, exact as
// [Window] is. It is 0 where none can.
func (a Aim) Window() time.Duration {
	window := Window(a.Scale)
	if window == forever {
		return forever // it is longer than can be said, by more than the shift may be
	}
	return max(0, plus(window, a.Shift))
}

// Due reports whether a read with left until expiry should refresh the entry,
// u being a fresh uniform random number in [0, 1): whether -scale*ln(u) >=
// left - shift. With nothing left it is always due.
func (a Aim) Due(left time.Duration, u float64) bool {
	return left <= 0 || Due(minus(left, a.Shift), a.Scale, u)
}

// Probability is the chance that a read with left until expiry is due.
func (a Aim) Probability(left time.Duration) float64 {
	if left <= 0 {
		return 1
	}
	return Probability(minus(left, a.Shift), a.Scale)
}

// plus is a+b, saturating, for an a of 0 or more.
func plus(a, b time.Duration) time.Duration {
	if sum := a + b; b < 0 || sum >= 0 {
		return sum
	}
	return forever
}

// minus is a-b, saturating, for an a of 0 or more.
func minus(a, b time.Duration) time.Duration {
	if b == math.MinInt64 {
		return forever
	}
	return plus(a, -b)
}
