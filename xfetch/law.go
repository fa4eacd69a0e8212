package xfetch

import (
	"math"
	"time"
)

// Law predicts what early refresh does to one key. Its zero value is a key
// nobody reads.
//
// The model: reads arrive as a Poisson stream. A read with t > 0 left before
// expiry starts a load with probability e^{-(t-t0)/s}, at most 1, a read after
// expiry with certainty. The first load to be started becomes visible Aware
// later; until then readers keep starting more. One entry's life and the loads
// that replace it are one expiry.
//
// All forms follow from one change of variable. Let V(t) be the mean number of
// loads started with more than t left, and a = r*s. With the classic rule, t0 = 0,
// loads start at the rate r*e^{-t/s} before expiry, so
//
//	V(t) = ∫ r*e^{-x/s} dx, from t to ∞  =  a*e^{-t/s}
//
// and in units of V starts are a Poisson stream of rate 1: the first one comes
// at an Exp(1) distributed V. If that is below a it is early, and then
// G = s*ln(a/V) was left; otherwise it is a hard read, after expiry.
//
// A shift t0 > 0 moves all that to earlier times and changes nothing else. With
// t0 < 0 the draws before expiry are worth A = a*e^{t0/s} instead of a; after it
// reads are due at the rate r as ever. Both are one law: up to the due point,
// max(t0, 0) before expiry, V(t) = a*e^{-(t-t0)/s}, which is A there, and from
// then on V grows by r per second. Where a form below says "expiry", a law with
// a positive shift means the due point, unless it tells early from hard.
//
// The forms take the entry's life for long: ttl > t0 + s*(ln(a)+3). Then the mass
// that is cut off by the entry's birth is under 5 %, and usually nil.
type Law struct {
	// Rate is r, the key's reads per second over all instances. NaN and
	// negative rates are 0; rates above 1e18 count as 1e18.
	Rate float64
	// Scale is s, beta times the stored delta. Not positive: no draws.
	Scale time.Duration
	// Aware is w, the time from the start of the first load until nobody else
	// starts one: the real duration of a load when nothing coordinates the
	// readers, that and the lag for a store with replicas, one round trip
	// when a read must win a lease after its draw.
	Aware time.Duration
	// Shift is t0, see [Aim]: 0 for the classic rule.
	Shift time.Duration
}

// ReadsPerScale is a = r*s, the expected reads during one scale. Nearly all
// that the classic rule does for a key depends on this number alone.
func (l Law) ReadsPerScale() float64 {
	return l.rate() * max(0, l.Scale).Seconds()
}

// LateProbability is the chance that the first load starts with lead or less
// to go: too late, if a load takes lead. It is the distribution function of G,
//
//	P(G <= lead) = P(no start by V(lead)) = e^{-V(lead)}
//
// With the classic rule that is exp(-a*e^{-lead/s}), a Gumbel law with standard
// deviation π/√6 = 1.28 s, and e^{-a} for a lead of 0, the chance that the entry
// expires with no load even begun. With the shift that [Shift] gives for the
// same lead it is e^{-λ}, at any rate: V(lead) = a*e^{-(lead-t0)/s} = λ for
// a >= λ, and otherwise V(lead) = a + r*(t0-lead) = λ. Where [Rule.Aim] cuts t0
// to φT, e^{-(a+r(φT-lead))} is left of that. A negative lead asks about hard
// reads.
func (l Law) LateProbability(lead time.Duration) float64 {
	if before := minus(max(lead, 0), l.due()); before > 0 {
		return math.Exp(-l.drawn() * Probability(before, l.Scale))
	}
	// In seconds: the sum may be too long for a Duration.
	return math.Exp(-l.drawn() - l.rate()*(l.due().Seconds()-lead.Seconds()))
}

// ExpectedGap is the mean of max(G, 0), the freshness given up by refreshing
// early. Above the due point it is
//
//	∫ e^{-v} s*ln(A/v) dv, from 0 to A  =  s*Ein(A)  ≈  s*(ln(A)+γ)
//
// with Ein(x) = ln(x) + γ + E1(x), the entire exponential integral. A positive
// shift adds ∫ (1-e^{-a-r*x}) dx from 0 to t0, which is nearly t0. With the shift
// that [Shift] gives, a hot key has A = λ*e^{d/s} and so the gap d + s*(ln(λ)+γ),
// free of the rate.
func (l Law) ExpectedGap() time.Duration {
	a, due := l.drawn(), l.due()
	below := float64(due) * (1 - math.Exp(-a)*relativeLoss(l.rate()*due.Seconds()))
	return saturate(float64(max(l.Scale, 0))*ein(a) + below)
}

// ExpectedLeft is the mean of G itself, negative when the first load usually
// starts after expiry: the first hard read comes 1/r after expiry in the share
// P(G <= 0) of cases, so with the classic rule it is s*Ein(a) - e^{-a}/r. It
// saturates for a key that is not read.
func (l Law) ExpectedLeft() time.Duration {
	wait := saturate(l.LateProbability(0) / l.rate() * float64(time.Second))
	return l.ExpectedGap() - wait
}

func (l Law) rate() float64 { return perSecond(l.Rate) }

// due is the due point: how long before expiry every read is due.
func (l Law) due() time.Duration { return max(l.Shift, 0) }

// drawn is A, the starts expected from draws, up to the due point.
func (l Law) drawn() float64 {
	a := l.ReadsPerScale()
	if l.Shift >= 0 || a == 0 {
		return a
	}
	return a * math.Exp(float64(l.Shift)/float64(l.Scale))
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
