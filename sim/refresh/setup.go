package refresh

import (
	"time"

	"github.com/earlybird-cache/earlybird/xfetch"
)

// Setup is one key, its readers, and how long to watch them. Its zero value is
// not valid; Default is.
type Setup struct {
	Rate   float64       // reads per second over all instances
	Delta  time.Duration // what a load takes, on average
	Cost   Cost          // how that is distributed
	TTL    time.Duration
	Jitter float64 // share by which lives are shortened at random

	Rule      string        // Classic or Deadline
	Beta      float64       // 0 is no early refresh
	Estimator string        // Last or Smoothed: what an entry remembers of the loads before
	Stored    time.Duration // what it remembers instead, whatever loads take; 0: by Estimator
	KnownRate float64       // the rate that the deadline rule builds on; 0: Rate
	Reach     float64       // share of a life by which the deadline rule may come early; 0: xfetch.Deadline's

	Instances    int
	Coordination string        // None, Singleflight or Lease
	RoundTrip    time.Duration // until others see a lease
	Lag          time.Duration // until others see a new value
	Inline       bool          // elected readers wait for their load
	Skew         time.Duration // standard deviation of the instances' clocks
	Step         time.Duration // in which clocks move; 0: they flow

	Expiries int // expiries to play, over all keys
	Events   int // most reads that the event engine plays; 0 leaves it out
	Draws    int // draws for each time left
	Seed     uint64
	Workers  int // goroutines; the figures do not depend on it
}

// The values of Setup's words.
const (
	Classic  = "classic"
	Deadline = "deadline"

	Last     = "last" // the load before: the paper's rule
	Smoothed = "ewma" // xfetch.Smooth

	None         = "none"         // every elected reader loads
	Singleflight = "singleflight" // one load at a time in each instance
	Lease        = "lease"        // an elected reader claims the load; others see that a round trip later
)

// Default is the setup of a command without flags: one that shows each effect.
var Default = Setup{
	Rate: 25, Delta: 400 * time.Millisecond, TTL: time.Minute,
	Rule: Classic, Beta: 1, Estimator: Smoothed,
	Instances: 10, Coordination: None, RoundTrip: time.Millisecond,
	Expiries: 1_000_000, Events: 3_000_000, Draws: 1_000_000, Seed: 1, Workers: 1,
}

// aim is where the draws of an entry go when loads have cost so much.
func (s Setup) aim(cost xfetch.Cost, life time.Duration) xfetch.Aim {
	if s.Rule == Deadline {
		rate := s.KnownRate
		if rate == 0 {
			rate = s.Rate
		}
		rule := xfetch.Deadline
		if s.Reach > 0 {
			rule.Reach = s.Reach
		}
		return rule.Aim(xfetch.Known{Cost: cost, Rate: rate, Aware: s.aware()}, s.Beta, life)
	}
	// xfetch.ClampScale is left out on purpose: the paper's rule has no bound, and
	// that shows where it needs one.
	return xfetch.Aim{Scale: xfetch.Scale(cost.Mean, s.Beta)}
}

// usual is the aim when loads cost their mean.
func (s Setup) usual() xfetch.Aim { return s.aim(xfetch.Cost{Mean: s.stored()}, s.TTL) }

func (s Setup) stored() time.Duration {
	if s.Stored > 0 {
		return s.Stored
	}
	return s.Delta
}

// learns tells whether the aim changes from one generation to the next.
func (s Setup) learns() bool { return s.Stored == 0 && !s.Cost.Fixed() }

// aimVaries tells whether each entry has to be aimed anew.
func (s Setup) aimVaries() bool { return s.learns() || s.Rule == Deadline && s.Jitter > 0 }

// claim is how long a winner is away before it loads.
func (s Setup) claim() time.Duration {
	if s.Coordination == Lease {
		return s.RoundTrip
	}
	return 0
}

// lead is what passes, for a mean load, between election and new value.
func (s Setup) lead() time.Duration { return s.claim() + s.Delta + s.Lag }

// aware is how long after an election others still start loads.
func (s Setup) aware() time.Duration {
	if s.Coordination == Lease {
		return s.RoundTrip
	}
	return s.lead()
}

// meanLife is the mean life of an entry.
func (s Setup) meanLife() time.Duration {
	return time.Duration(float64(s.TTL) * (1 - s.Jitter/2))
}

// shortestLife bounds lives from below.
func (s Setup) shortestLife() time.Duration {
	return time.Duration(float64(s.TTL)*(1-s.Jitter)) - s.Step
}

// law is the theory of readers who do not hear of each other for aware.
func (s Setup) law(aware time.Duration) xfetch.Law {
	aim := s.usual()
	return xfetch.Law{Rate: s.Rate, Scale: aim.Scale, Aware: aware, Shift: aim.Shift}
}
