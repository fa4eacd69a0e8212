package refresh

import (
	"math"

	"github.com/earlybird-cache/earlybird/xfetch"
)

// hazard is the mean number of elections in one entry's life. Times are seconds
// left before expiry, and elections happen in order of falling time.
//
// A read with t left is elected with probability e^{-(t-shift)/s}, and from the
// point certain on with certainty. The elections with more than t left are
// Poisson with the mean
//
//	V(t) = r*s*e^{-(t-shift)/s}        for t >= certain
//	V(t) = V(certain) + r*(certain-t)  for t <= certain
//
// so that in units of V they come at rate 1. xfetch.Law has the same two lines;
// here they are inverted.
type hazard struct {
	rate    float64
	scale   float64
	shift   float64
	certain float64
	drawn   float64 // V(certain): elections by draw
	expired float64 // V(0), of a fleet whose clocks are right
}

// newHazard is the hazard for readers whose clocks are at most ahead too early.
func newHazard(rate float64, aim xfetch.Aim, ahead float64) hazard {
	h := hazard{
		rate:    rate,
		scale:   aim.Scale.Seconds(),
		shift:   aim.Shift.Seconds() + ahead,
		certain: max(0, aim.Shift.Seconds()) + ahead,
	}
	if h.scale > 0 {
		h.drawn = rate * h.scale * math.Exp(-(h.certain-h.shift)/h.scale)
	}
	h.expired = h.mean(0)
	return h
}

// mean is V(t).
func (h hazard) mean(t float64) float64 {
	switch {
	case t < h.certain:
		return h.drawn + h.rate*(h.certain-t)
	case h.scale == 0:
		return 0
	}
	return h.drawn * math.Exp((h.certain-t)/h.scale)
}

// left is the t at which V(t) is v.
func (h hazard) left(v float64) float64 {
	if v < h.drawn {
		return h.certain + h.scale*math.Log(h.drawn/v)
	}
	return h.certain - (v-h.drawn)/h.rate
}

// density is the share of reads that the hazard takes at t.
func (h hazard) density(t float64) float64 {
	if t <= h.certain {
		return 1
	}
	if h.scale == 0 {
		return 0
	}
	return math.Exp((h.shift - t) / h.scale)
}
