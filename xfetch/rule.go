package xfetch

import (
	"fmt"
	"math"
	"time"
)

// Rule says where the draws of a key's entries aim. Its zero value is Classic.
//
// The classic rule aims at expiry. A key that is read often is then refreshed
// s*ln(r*s) before it, which is earlier than it needs and the earlier the
// hotter; and a key that is read less than a dozen times per load is often too
// late. The deadline rule knows what a load takes and how often the key is
// read, and moves the draws so that the first refresh starts in time with the
// same probability at any rate:
//
//	refresh iff  -s*ln(u) >= left - t0
//	t0 = d + s*ln(λ/(r*s))   if r*s >= λ
//	t0 = d + λ/r - s         otherwise
//	t0 <= Reach*life         always
//
// with d the lead that a load needs, [Cost.Lead]. Of the reads with more than d
// left, λ are then expected to be due, see [Law], and none is with probability
// e^{-λ}. A hot key's refresh starts d + s*(ln(λ)+γ) before expiry, whatever its
// rate.
//
// Where the last line bites, e^{-λ} is given up: a key that is read once or
// twice a life would otherwise be refreshed by every read of it.
//
// The derivation and the rule are our own.
type Rule struct {
	// Late is the share of refreshes that may start with less than the lead
	// left, e^{-λ}. 0 and less promise nothing: the classic rule.
	Late float64
	// HardReads bounds the reads per life that find the entry expired and begin
	// to load it before they can know of one another, where the key is so hot
	// that Late alone allows more. 0 is 0.01; negative, no bound.
	HardReads float64
	// Reach is the share of an entry's life by which t0 may come before expiry.
	// 0 or less is 1/4.
	Reach float64
}

// The two rules, the second with its defaults.
var (
	Classic  = Rule{}
	Deadline = Rule{Late: 1e-4, HardReads: 0.01, Reach: 0.25}
)

// Known is what earlier generations taught of a key.
type Known struct {
	Cost Cost
	// Rate is the reads per second to build on: [Reads.Reliable], or less than
	// the true rate by other means. 0 is unknown: the classic rule.
	Rate float64
	// Aware is how long after the start of a refresh readers still do not know
	// of it: 0 within a process, a round trip with a lease.
	Aware time.Duration
}

// Validate says in a sentence what is wrong with the rule.
func (r Rule) Validate() error {
	switch {
	case !(r.Late < 1):
		return fmt.Errorf("Late must be below 1, not %v", r.Late)
	case math.IsNaN(r.HardReads) || math.IsInf(r.HardReads, 0):
		return fmt.Errorf("HardReads must be a finite number, not %v", r.HardReads)
	case !(r.Reach >= 0 && r.Reach <= 1):
		return fmt.Errorf("Reach must be between 0 and 1, not %v", r.Reach)
	}
	return nil
}

// Aim returns the aim for an entry that lives for life. Its scale is beta times
// the mean cost, bounded by [ClampScale]; without a scale nothing is refreshed
// early.
func (r Rule) Aim(k Known, beta float64, life time.Duration) Aim {
	scale := ClampScale(Scale(k.Cost.Mean, beta), life)
	if !(r.Late > 0) || !(k.Rate > 0) || scale <= 0 {
		return Aim{Scale: scale}
	}
	rate := perSecond(k.Rate)
	lambda := r.Lambda(rate, k.Aware)
	shift := Shift(rate, scale, k.Cost.Lead(), lambda)
	return Aim{Scale: scale, Shift: min(shift, saturate(r.reach()*float64(life)))}
}

// Listening is how long before expiry an entry with the given aim and life should
// begin to count its reads, for [Reads]: Reach*life before the due point, so that
// there is time to count where draws aim early too. It is at most life, and 0 with
// the classic rule, which asks for no rate.
func (r Rule) Listening(a Aim, life time.Duration) time.Duration {
	if !(r.Late > 0) {
		return 0
	}
	life = max(life, 0)
	return min(plus(saturate(r.reach()*float64(life)), max(a.Shift, 0)), life)
}

// Lambda is λ, the starts expected while there is time, of a key with rate reads
// per second that learn of a refresh aware after its start:
//
//	λ = max(-ln(Late), ln(1 + rate*aware/HardReads))
//
// The second is where e^{-λ}*rate*aware, the reads that start a load when
// nobody did in time, falls below HardReads. It is at most MaxDraw for the
// first, and 0 for the classic rule.
func (r Rule) Lambda(rate float64, aware time.Duration) float64 {
	if !(r.Late > 0) {
		return 0
	}
	lambda := Draw(r.Late)
	if r.HardReads < 0 {
		return lambda
	}
	hard := r.HardReads
	if !(hard > 0) {
		hard = Deadline.HardReads
	}
	crowd := perSecond(rate) * max(0, aware).Seconds()
	return max(lambda, math.Log1p(min(crowd/hard, math.MaxFloat64)))
}

// Shift is the t0 of [Rule], without its bound, for a key with rate reads per
// second: the one for which lambda reads with more than lead left are expected
// to be due. It lies between lead - MaxDraw*scale, as no draw is larger than
// that, and the longest duration, which it is for a key that is not read.
func Shift(rate float64, scale, lead time.Duration, lambda float64) time.Duration {
	rate, lambda = perSecond(rate), positive(lambda)
	scale, lead = max(scale, 0), max(lead, 0)
	a := rate * scale.Seconds()
	if a < lambda || a == 0 {
		wait := saturate(lambda / rate * float64(time.Second))
		if rate == 0 {
			wait = forever
		}
		return plus(lead, max(wait, scale)-scale) // λ/r >= s but for rounding
	}
	back := reach(min(math.Log(a/lambda), MaxDraw), scale)
	return minus(lead, back)
}

func (r Rule) reach() float64 {
	if !(r.Reach > 0) {
		return Deadline.Reach
	}
	return min(r.Reach, 1)
}
