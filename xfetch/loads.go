package xfetch

import (
	"math"
	"time"
)

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
// expired. A read that is due with t left starts a load if nobody did w
// earlier, so with F = P(G <= t) = e^{-V(t)}
//
//	early = ∫ -V'(t) F(t+w) dt, from 0 to ∞
//	hard  = ∫ r*F(t+w) dt, from -∞ to 0  =  F(0) + ∫ r*F(t) dt, from 0 to w
//
// Above the due point both integrals are elementary or exponential integrals.
// With V1 = A*e^{-w/s}, the last point at which a first start is visible before
// the due point, the classic rule's are
//
//	early = e^{w/s} (1 - e^{-V1})
//	hard  = e^{-a} + a (E1(V1) - E1(a))
//
// and so are any other shift's, with A in the place of a except in the factor
// of E1. A positive shift turns hard loads into early ones: the sum stays.
func (l Law) LoadsPerExpiry() (early, hard float64) {
	a := l.drawn()
	early = a * relativeLoss(a*math.Exp(-l.awareScales())) // e^{w/s} = A/V1 may be too large for a float
	early += l.unstarted(max(l.Aware, 0), l.due())
	hard = l.LateProbability(0) + l.unstarted(0, max(l.Aware, 0))
	return early, hard
}

// unstarted is ∫ r*F(t) dt over a span of time that ends with from left: the
// reads that come in it while nobody has started. Below the due point F is
// e^{-A-r*(due-t)}, above it the integral of exp(-A*e^{-y}) is one of E1.
func (l Law) unstarted(from, span time.Duration) float64 {
	toDue := max(l.due()-from, 0)
	below := min(toDue, span)
	sum := math.Exp(-l.drawn()-l.rate()*(toDue-below).Seconds()) * -math.Expm1(-l.rate()*below.Seconds())
	above := span - below
	switch a := l.ReadsPerScale(); {
	case above == 0:
		return sum
	case a == 0: // no draws
		return sum + l.rate()*above.Seconds()
	default:
		s, x := float64(l.Scale), float64(above)/float64(l.Scale)
		nearest := float64(max(from-l.due(), 0))
		high := l.drawn() * math.Exp(-nearest/s)
		return sum + a*e1Between(high*math.Exp(-x), high, x)
	}
}

// SingleProbability is the chance that an expiry costs exactly one load, at any
// read rate: no second start within w of the first. Integrating e^{-mean} of
// the others over three cases (the first is visible before expiry, it is early
// but visible after, it is hard):
//
//	e^{-w/s} (1 - e^{-A})  +  A*e^{-A} (e^{-w/s} - e^{-a*w/s})/(a-1)  +  e^{-A-r*w}
//
// For a hot key that is e^{-w/s}.
func (l Law) SingleProbability() float64 {
	a, drawn := l.ReadsPerScale(), l.drawn()
	hard := math.Exp(-drawn - l.readsWhileUnaware())
	if a == 0 {
		return hard
	}
	x := l.awareScales()
	// (e^{-x} - e^{-ax})/(a-1), symmetric in x and ax, without the hole at a = 1.
	slope := math.Exp(-x*min(1, a)) * x * relativeLoss(x*math.Abs(a-1))
	return -math.Expm1(-drawn)*math.Exp(-x) + drawn*math.Exp(-drawn)*slope + hard
}

// LoadRate is the mean loads per second that the key costs its origin, when its
// entries live for life and a load takes load: the loads per expiry over the
// mean time from one entry to the next,
//
//	E[N] / (life - E[G] + load)
//
// and never more than its reads. A life shorter than E[G] is no time at all: such
// an entry is refreshed when it is written.
func (l Law) LoadRate(life, load time.Duration) float64 {
	early, hard := l.LoadsPerExpiry()
	lived := max(life.Seconds()-l.ExpectedLeft().Seconds(), 0)
	if l.rate() == 0 {
		return 0
	}
	return min((early+hard)/(lived+max(load, 0).Seconds()), l.rate())
}

// LoadsPerTTL is the mean loads per nominal ttl, when lives are shortened by up
// to jitter and a load takes load. With one load per expiry it is near
//
//	1 / (1 - jitter/2 - G/ttl)
//
// so 1.053 is the least at a jitter of 0.1, whatever the rule. Dividing by
// [MeanLife] instead of ttl counts loads per life.
func (l Law) LoadsPerTTL(ttl time.Duration, jitter float64, load time.Duration) float64 {
	return l.LoadRate(MeanLife(ttl, jitter), load) * max(ttl, 0).Seconds()
}
