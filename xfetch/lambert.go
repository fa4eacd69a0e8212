package xfetch

import "math"

// lambertW is the w >= 0 with w*e^w = x, for x >= 0: the principal branch of
// Lambert's function, by Newton's method on w + ln(w) = ln(x), which converges
// from both sides and cannot overflow.
func lambertW(x float64) float64 {
	if x == 0 {
		return 0
	}
	log := math.Log(x)
	w := math.Log1p(x)
	for range 50 {
		next := w * (1 + log - math.Log(w)) / (1 + w)
		if math.Abs(next-w) <= 1e-15*w {
			return next
		}
		w = next
	}
	return w
}
