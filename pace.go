package earlybird

import (
	"math"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
)

// pace is what may narrow the gate beyond its limit: a rate of calls, and a
// ramp after a cold start. The gate's lock guards it.
//
// The ramp starts at a quarter of the limit and doubles twice. What a
// flushed cache, a restarted process or an origin that comes back from an
// outage can bear all have in common that it grows with the work done.
type pace struct {
	limiter  *rate.Limiter // nil: any rate
	rampFor  time.Duration // 0: no ramp
	rampedAt time.Time     // zero: not lately
	failures atomic.Int64  // in a row
}

const (
	doublings = 2
	outage    = 32 // failures in a row that make one
)

func newPace(perSecond float64, ramp time.Duration) *pace {
	p := &pace{rampFor: max(ramp, 0)}
	if perSecond > 0 {
		burst := max(1, int(min(perSecond/10, math.MaxInt32))) // a tenth of a second's worth
		p.limiter = rate.NewLimiter(rate.Limit(perSecond), burst)
	}
	return p
}

func (p *pace) ramp(now time.Time) { p.rampedAt = now }

func (p *pace) ramping(now time.Time) bool {
	if p.rampedAt.IsZero() {
		return false
	}
	if now.Sub(p.rampedAt) >= p.rampFor {
		p.rampedAt = time.Time{}
	}
	return !p.rampedAt.IsZero()
}

// now returns the time, if anything depends on it.
func (p *pace) now() (now time.Time) {
	if p.limiter != nil || !p.rampedAt.IsZero() {
		now = time.Now()
	}
	return now
}

// report counts failures in a row, and starts a ramp when an outage ends.
func (p *pace) report(ok bool) {
	switch {
	case !ok:
		p.failures.Add(1)
	case p.failures.Load() >= outage:
		p.ramp(time.Now())
		fallthrough
	default:
		p.failures.Store(0)
	}
}

// narrow returns what the ramp leaves of limit, at least 1.
func (p *pace) narrow(limit int, now time.Time) int {
	if !p.ramping(now) {
		return limit
	}
	done := float64(now.Sub(p.rampedAt)) / float64(p.rampFor)
	return max(1, int(float64(limit)*math.Exp2(doublings*(done-1))))
}

// take reports whether the rate allows a call now, and uses it up.
func (p *pace) take(now time.Time) bool {
	return p.limiter == nil || p.limiter.AllowN(now, 1)
}

// next returns when more may be allowed than now; 0 if that depends on nothing
// but the calls that run.
func (p *pace) next(now time.Time) time.Duration {
	var d time.Duration
	if p.ramping(now) {
		d = max(p.rampFor/64, time.Nanosecond)
	}
	if p.limiter != nil {
		r := p.limiter.ReserveN(now, 1)
		d = max(d, r.DelayFrom(now))
		r.CancelAt(now)
	}
	return d
}
