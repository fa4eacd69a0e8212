package xfetch

import (
	"math"
	"time"
)

// minU is the smallest u that counts: the smallest positive value of a uniform
// random number with 53 bits. Sources do return 0, whose logarithm is infinite.
const minU = 0x1p-53

// MaxDraw is the largest value of Draw, -ln(2^-53) = 53 ln 2, about 36.74.
const MaxDraw = 53 * math.Ln2

// Draw turns a uniform u into an exponentially distributed draw, -ln(u).
// It clamps u to [2^-53, 1] whatever the source says, so the result lies in
// [0, MaxDraw]. NaN counts as 1: a draw of 0, which never refreshes early.
func Draw(u float64) float64 {
	switch {
	case u >= 1 || u != u:
		return 0
	case u <= minU:
		return MaxDraw
	}
	// math.Log is assembly on some machines; its last bit must not lift a draw
	// over the bound that Window promises.
	return min(-math.Log(u), MaxDraw)
}

// Window is how long before expiry a draw can first succeed: MaxDraw*scale, in
// whole nanoseconds, saturating. It is exact on both sides. With more than
// Window left Due refuses every u; with Window left it accepts the smallest.
// A scale of 0 or less has no window.
func Window(scale time.Duration) time.Duration {
	return reach(MaxDraw, scale)
}

// Due reports whether a read with left until expiry should refresh the entry,
// u being a fresh uniform random number in [0, 1): whether
// now - scale*ln(u) >= expiry. With nothing left it is always due; with a
// scale of 0 it is never due early.
func Due(left, scale time.Duration, u float64) bool {
	if left <= 0 {
		return true
	}
	if left > Window(scale) {
		return false // the common case, and no logarithm
	}
	return reach(Draw(u), scale) >= left
}

// Probability is the chance that a read with left until expiry is due,
// P(-scale*ln(u) >= left) = e^{-left/scale}. It is 1 once nothing is left and 0
// without a scale. Beyond Window the law's value is below 2^-53, and Due, whose
// u has 53 bits, makes it 0.
func Probability(left, scale time.Duration) float64 {
	if left <= 0 {
		return 1
	}
	if scale <= 0 {
		return 0
	}
	return math.Exp(-float64(left) / float64(scale))
}

// reach is how far before expiry a draw looks. Window and Due share it, and
// rounding is monotone, so that a smaller draw never reaches beyond Window.
// Cutting the fraction is exact: left is whole, thus left <= x iff left <= ⌊x⌋.
func reach(draw float64, scale time.Duration) time.Duration {
	return saturate(draw * float64(scale))
}
