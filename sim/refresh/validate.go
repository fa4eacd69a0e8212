package refresh

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/earlybird-cache/earlybird/xfetch"
)

const (
	minRate, maxRate = 1e-6, 1e12
	// Time is kept in float64 seconds, and by the event engine in nanoseconds.
	minTime, maxTTL = time.Microsecond, 8784 * time.Hour
	maxBeta         = 1e6
	// Above some 1e13 reads per scale even the rarest draw, u = 2^-53, would come
	// too often for the closed forms.
	maxReadsPerScale = 1e12
	maxInstances     = 10_000_000
	maxEventRate     = 1e7 // per instance: nanoseconds are too coarse beyond
	maxExpiries      = 2_000_000_000
	maxDraws         = 100_000_000
	maxEvents        = 2_000_000_000
	maxLoads         = 1e6 // per expiry
	maxWorkers       = 1024
)

// Validate says in one sentence what is wrong with a setup.
func (s Setup) Validate() error {
	for _, check := range []func() error{s.validateKey, s.validateFleet, s.validateRule, s.validateRun, s.validateLoads} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

func (s Setup) validateKey() error {
	switch {
	case !(s.Rate >= minRate && s.Rate <= maxRate):
		return fmt.Errorf("-rate must be from %g to %g reads per second, not %v", minRate, maxRate, s.Rate)
	case s.Delta < minTime:
		return fmt.Errorf("-delta must be at least %v, not %v", minTime, s.Delta)
	case s.TTL > maxTTL:
		return fmt.Errorf("-ttl must be at most %v, not %v", maxTTL, s.TTL)
	case s.TTL < s.Delta:
		return fmt.Errorf("-ttl %v is shorter than -delta %v: entries would expire faster than they load", s.TTL, s.Delta)
	case !(s.Jitter >= 0 && s.Jitter <= 1):
		return fmt.Errorf("-jitter must be from 0 to 1, not %v", s.Jitter)
	}
	return nil
}

func (s Setup) validateFleet() error {
	if s.Instances < 1 || s.Instances > maxInstances {
		return fmt.Errorf("-instances must be from 1 to %d, not %d", maxInstances, s.Instances)
	}
	if err := oneOf("-coordination", s.Coordination, None, Singleflight, Lease); err != nil {
		return err
	}
	for _, f := range []struct {
		flag string
		d    time.Duration
	}{{"-roundtrip", s.RoundTrip}, {"-lag", s.Lag}, {"-skew", s.Skew}, {"-step", s.Step}} {
		if f.d < 0 || f.d > s.TTL {
			return fmt.Errorf("%s must be from 0 to the ttl, %v, not %v", f.flag, s.TTL, f.d)
		}
	}
	return nil
}

func (s Setup) validateRule() error {
	if err := oneOf("-rule", s.Rule, Classic, Deadline); err != nil {
		return err
	}
	if err := oneOf("-estimator", s.Estimator, Last, Smoothed); err != nil {
		return err
	}
	scale := xfetch.Scale(s.stored(), s.Beta)
	a := s.Rate * scale.Seconds()
	switch {
	case !(s.Beta >= 0 && s.Beta <= maxBeta):
		return fmt.Errorf("-beta must be from 0 to %g, not %v", float64(maxBeta), s.Beta)
	case s.Stored < 0:
		return fmt.Errorf("-stored must not be negative, not %v", s.Stored)
	case !(s.KnownRate >= 0 && s.KnownRate <= maxRate):
		return fmt.Errorf("-known must be from 0 to %g reads per second, not %v", maxRate, s.KnownRate)
	case !(s.Reach >= 0 && s.Reach <= 1):
		return fmt.Errorf("-reach must be from 0 to 1, not %v", s.Reach)
	case s.Beta > 0 && scale < minTime:
		return fmt.Errorf("-beta times the load time must be at least %v, or 0, not %v", minTime, scale)
	case a > maxReadsPerScale:
		return fmt.Errorf("-rate times -beta times the load time must be at most %g reads, not %.3g", maxReadsPerScale, a)
	}
	return nil
}

func (s Setup) validateRun() error {
	switch {
	case s.Expiries < 2 || s.Expiries > maxExpiries:
		return fmt.Errorf("-expiries must be from 2 to %d, not %d", maxExpiries, s.Expiries)
	case s.Events < 0 || s.Events > maxEvents:
		return fmt.Errorf("-events must be from 0 to %d, not %d", maxEvents, s.Events)
	case s.Draws < 2 || s.Draws > maxDraws:
		return fmt.Errorf("-draws must be from 2 to %d, not %d", maxDraws, s.Draws)
	case s.Workers < 1 || s.Workers > maxWorkers:
		return fmt.Errorf("-workers must be from 1 to %d, not %d", maxWorkers, s.Workers)
	}
	return nil
}

// validateLoads refuses crowds: at a low beta or a short ttl all who read load.
func (s Setup) validateLoads() error {
	if n := s.expectedLoads(); n > maxLoads {
		return fmt.Errorf("about %.2g loads per expiry are more than can be played (%g): lower -rate or -delta, or raise -beta or -ttl", n, maxLoads)
	}
	return nil
}

// expectedLoads bounds the mean loads per expiry, also where a life is too short
// for the law: then V(ttl) starts were due when the entry was born, and each
// weighs as much as the first.
func (s Setup) expectedLoads() float64 {
	law := s.law(s.aware())
	early, hard := law.LoadsPerExpiry()
	crowd := s.Rate * s.aware().Seconds() // all who read meanwhile
	if s.Coordination == Singleflight {
		crowd = min(crowd, float64(s.Instances))
	}
	atBirth := newHazard(s.Rate, s.usual(), 0).mean(s.shortestLife().Seconds())
	if atBirth < 1e-9 {
		return min(early+hard, 1+crowd)
	}
	return 1 + min(crowd, early+hard+atBirth*law.StampedeMean())
}

func oneOf(flag, got string, words ...string) error {
	if slices.Contains(words, got) {
		return nil
	}
	return fmt.Errorf("%s must be %s, not %q", flag, strings.Join(words, " or "), got)
}

// perDuration is the number of expiries of keys that live for d.
func (s Setup) perDuration(d time.Duration, keys int) float64 {
	cycle := s.readsPerExpiry() / s.Rate
	return math.Round(max(1, d.Seconds()/cycle) * float64(keys))
}
