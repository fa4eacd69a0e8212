package refresh

import (
	"fmt"
	"time"

	"github.com/earlybird-cache/earlybird/xfetch"
)

// Setup is one key, its readers, and how long to watch them. Its zero value is
// not valid; Default is.
type Setup struct {
	Rate      float64       // reads per second over all instances
	Delta     time.Duration // what a load takes, and what the entry remembers of it
	TTL       time.Duration
	Beta      float64 // 0 is no early refresh
	Instances int
	Expiries  int // expiries to play
	Draws     int // draws for each time left
	Seed      uint64
}

// Default is the setup of a command without flags: one that shows each effect.
var Default = Setup{
	Rate: 25, Delta: 400 * time.Millisecond, TTL: time.Minute, Beta: 1,
	Instances: 10, Expiries: 200_000, Draws: 1_000_000, Seed: 1,
}

const (
	minRate, maxRate = 1e-6, 1e12
	// Time is kept in float64 nanoseconds: within a year they are exact to 4 ns,
	// which must be small against a scale.
	minTime, maxTTL = time.Microsecond, 8784 * time.Hour
	maxBeta         = 1e6
	// Above some 1e13 reads per scale even the rarest draw, u = 2^-53, would come
	// too often for the closed forms.
	maxReadsPerScale = 1e12
	maxInstances     = 10_000_000
	maxCount         = 100_000_000
	maxLoads         = 1e6 // per expiry, all in memory
	maxSteps         = 1e9 // half a minute or so
)

// Validate says in one sentence what is wrong with a setup.
func (s Setup) Validate() error {
	switch {
	case !(s.Rate >= minRate && s.Rate <= maxRate):
		return fmt.Errorf("-rate must be from %g to %g reads per second, not %v", minRate, maxRate, s.Rate)
	case s.Delta < minTime:
		return fmt.Errorf("-delta must be at least %v, not %v", minTime, s.Delta)
	case s.TTL > maxTTL:
		return fmt.Errorf("-ttl must be at most %v, not %v", maxTTL, s.TTL)
	case s.TTL < s.Delta:
		return fmt.Errorf("-ttl %v is shorter than -delta %v: entries would expire faster than they load", s.TTL, s.Delta)
	case !(s.Beta >= 0 && s.Beta <= maxBeta):
		return fmt.Errorf("-beta must be from 0 to %g, not %v", float64(maxBeta), s.Beta)
	case s.Beta > 0 && s.scale() < minTime:
		return fmt.Errorf("-beta times -delta must be at least %v, or 0, not %v", minTime, s.scale())
	case s.law().ReadsPerScale() > maxReadsPerScale:
		return fmt.Errorf("-rate times -beta times -delta must be at most %g reads, not %.3g", maxReadsPerScale, s.law().ReadsPerScale())
	case s.Instances < 1 || s.Instances > maxInstances:
		return fmt.Errorf("-instances must be from 1 to %d, not %d", maxInstances, s.Instances)
	case s.Expiries < 2 || s.Expiries > maxCount:
		return fmt.Errorf("-expiries must be from 2 to %d, not %d", maxCount, s.Expiries)
	case s.Draws < 2 || s.Draws > maxCount:
		return fmt.Errorf("-draws must be from 2 to %d, not %d", maxCount, s.Draws)
	}
	return s.validateSize()
}

// validateSize refuses runs that would hardly end: at a low beta or a short ttl
// whole crowds load.
func (s Setup) validateSize() error {
	loads := s.expectedLoads()
	if loads > maxLoads {
		return fmt.Errorf("about %.2g loads per expiry are more than can be played (%g): lower -rate or -delta, or raise -beta or -ttl", loads, maxLoads)
	}
	if steps := float64(s.Expiries) * (100 + 4*loads); steps > maxSteps {
		return fmt.Errorf("%d expiries would take about %.2g steps, and %g is the most: lower -expiries", s.Expiries, steps, maxSteps)
	}
	return nil
}

// expectedLoads bounds the mean loads per expiry, also where a life is too short
// for the law: then V(ttl) starts were due when the entry was born, and each
// weighs as much as the first.
func (s Setup) expectedLoads() float64 {
	law := s.law()
	early, hard := law.LoadsPerExpiry()
	if s.scale() == 0 {
		return hard
	}
	atBirth := law.ReadsPerScale() * xfetch.Probability(s.TTL, s.scale())
	crowd := s.Rate * s.Delta.Seconds() // all who read during a load
	return early + hard + min(crowd, atBirth*law.StampedeMean())
}

func (s Setup) scale() time.Duration { return xfetch.Scale(s.Delta, s.Beta) }

// law is the theory of readers who do not hear of each other before the first
// load has ended.
func (s Setup) law() xfetch.Law {
	return xfetch.Law{Rate: s.Rate, Scale: s.scale(), Aware: s.Delta}
}
