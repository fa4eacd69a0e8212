package xfetch

import (
	"math"
	"time"
)

// Law predicts what early refresh does to one key. Its zero value is a key
// nobody reads.
//
// The model: reads arrive as a Poisson stream. A read with t > 0 left before
// expiry starts a load with probability e^{-t/s}, a read after expiry
// with certainty. The first load to be started becomes visible Aware later;
// until then readers keep starting more. One entry's life and the loads that
// replace it are one expiry.
//
// All forms follow from one change of variable. Loads start at the rate
// r*e^{-t/s} per second, so the number started with more than t left has the
// mean
//
//	V(t) = ∫ r*e^{-x/s} dx, from t to ∞  =  a*e^{-t/s},     a = r*s
//
// and in units of V starts are a Poisson stream of rate 1: the first one comes
// at an Exp(1) distributed V. If that is below a it is early, and then
// G = s*ln(a/V) was left; otherwise it is a hard read, after expiry.
//
// The forms take the entry's life for long: ttl > s*(ln(a)+3). Then the mass
// that is cut off by the entry's birth is under 5 %, and usually nil.
type Law struct {
	// Rate is r, the key's reads per second over all instances. NaN and
	// negative rates are 0; rates above 1e18 count as 1e18.
	Rate float64
	// Scale is s, beta times the stored delta. Not positive: no early refresh.
	Scale time.Duration
	// Aware is w, the time from the start of the first load until nobody else
	// starts one: the real duration of a load when nothing coordinates the
	// readers, that and the lag for a store with replicas, one round trip
	// when a read must win a lease after its draw.
	Aware time.Duration
}

// ReadsPerScale is a = r*s, the expected reads during one scale. Nearly all
// that early refresh does for a key depends on this number alone.
func (l Law) ReadsPerScale() float64 {
	return l.rate() * max(0, l.Scale).Seconds()
}

// LateProbability is the chance that the first load starts with lead or less
// to go: too late, if a load takes lead. It is the distribution function of G,
//
//	P(G <= lead) = P(no start by V(lead)) = exp(-a*e^{-lead/s})
//
// a Gumbel law with standard deviation π/√6 = 1.28 s. A lead of 0 gives e^{-a},
// the chance that the entry expires with no load even begun. A negative lead
// asks about hard reads: exp(-a-r*|lead|).
func (l Law) LateProbability(lead time.Duration) float64 {
	a := l.ReadsPerScale()
	if lead <= 0 {
		return math.Exp(-a + l.rate()*lead.Seconds())
	}
	return math.Exp(-a * Probability(lead, l.Scale))
}

// ExpectedGap is the mean of max(G, 0), the freshness given up by refreshing
// early:
//
//	∫ e^{-v} s*ln(a/v) dv, from 0 to a  =  s*Ein(a)  ≈  s*(ln(a)+γ)
//
// with Ein(a) = ln(a) + γ + E1(a), the entire exponential integral.
func (l Law) ExpectedGap() time.Duration {
	return saturate(float64(l.Scale) * ein(l.ReadsPerScale()))
}

// ExpectedLeft is the mean of G itself, negative when the first load usually
// starts after expiry: s*Ein(a) - e^{-a}/r, as the first hard read comes 1/r
// after expiry in the share e^{-a} of cases. It saturates for a key that is not
// read.
func (l Law) ExpectedLeft() time.Duration {
	wait := saturate(math.Exp(-l.ReadsPerScale()) / l.rate() * float64(time.Second))
	return l.ExpectedGap() - wait
}

// StampedeMean is the mean number of loads per expiry of a hot key, e^{w/s}:
// with w = delta and beta 1 it is e, at any read rate. It is the limit of
// LoadsPerExpiry for a*e^{-w/s} well above 1. Given the first start at V, the
// rest start before V(G-w) = V*e^{w/s}, in number Poisson with mean V*c,
// c = e^{w/s}-1; and the mean of V is 1. Note that s is made of the stored
// delta and w is the real one: at beta 1 an origin that turns 3 times slower
// than remembered gets 20 loads, 5 times slower 148.
//
// The result saturates at the largest float64.
func (l Law) StampedeMean() float64 {
	return min(math.Exp(l.awareScales()), math.MaxFloat64)
}

// StampedeTail is the chance that a hot key is loaded more than k times per
// expiry. A Poisson count whose mean is Exp(1) times c is geometric, therefore
// P(N > k) = (1 - e^{-w/s})^k: at beta 1 one expiry in a hundred has more than
// 10 loads. It is 1 for k <= 0.
func (l Law) StampedeTail(k int) float64 {
	return math.Pow(-math.Expm1(-l.awareScales()), float64(max(k, 0)))
}

// LoadsPerExpiry is the mean number of loads per expiry at any read rate:
// those started early and those started by hard reads, which found the entry
// expired. With V1 = V(w) = a*e^{-w/s}, the last point at which a first start
// is visible before expiry:
//
//	early = ∫ e^{-v} (1 + min(v*c, a-v)) dv, from 0 to a
//	      = e^{w/s} (1 - e^{-V1})
//	hard  = ∫ e^{-v} a*ln(v/V1) dv, from V1 to a,  +  e^{-a} (1 + r*w)
//	      = e^{-a} + a (E1(V1) - E1(a))
//
// In the second line the wait of a first start at v, s*ln(v/V1) beyond
// expiry, meets r reads per second; its integral by parts absorbs the r*w
// that follow a first hard read.
func (l Law) LoadsPerExpiry() (early, hard float64) {
	a, x := l.ReadsPerScale(), l.awareScales()
	if a == 0 {
		return 0, 1 + l.readsWhileUnaware()
	}
	visible := a * math.Exp(-x)
	early = a * relativeLoss(visible) // e^{x} = a/V1, which may be too large for a float
	hard = math.Exp(-a) + a*e1Between(visible, a, x)
	return early, hard
}

// SingleProbability is the chance that an expiry costs exactly one load, at any
// read rate: no second start within w of the first. Integrating e^{-mean} of
// the others over the three cases of LoadsPerExpiry (visible before expiry,
// visible after, hard):
//
//	e^{-w/s} (1 - e^{-a})  +  a*e^{-a} (e^{-w/s} - e^{-a*w/s})/(a-1)  +  e^{-a-r*w}
//
// For a hot key that is e^{-w/s}.
func (l Law) SingleProbability() float64 {
	a := l.ReadsPerScale()
	hard := math.Exp(-a - l.readsWhileUnaware())
	if a == 0 {
		return hard
	}
	x := l.awareScales()
	// (e^{-x} - e^{-ax})/(a-1), symmetric in x and ax, without the hole at a = 1.
	slope := math.Exp(-x*min(1, a)) * x * relativeLoss(x*math.Abs(a-1))
	return -math.Expm1(-a)*math.Exp(-x) + a*math.Exp(-a)*slope + hard
}

func (l Law) rate() float64 {
	if !(l.Rate > 0) {
		return 0
	}
	return min(l.Rate, 1e18)
}

// awareScales is w/s, infinite without a scale.
func (l Law) awareScales() float64 {
	switch {
	case l.Aware <= 0:
		return 0
	case l.Scale <= 0:
		return math.Inf(1)
	}
	return float64(l.Aware) / float64(l.Scale)
}

// readsWhileUnaware is r*w.
func (l Law) readsWhileUnaware() float64 {
	return l.rate() * max(0, l.Aware).Seconds()
}

// e1Between is E1(low) - E1(high) for low = high*e^{-x}. Where low may be tiny,
// even 0 for an x above 745, the logarithms are taken out of the difference.
func e1Between(low, high, x float64) float64 {
	if low > 1 {
		return e1(low) - e1(high)
	}
	return x - (ein(high) - ein(low))
}
