package plan

import (
	"fmt"
	"time"

	"github.com/earlybird-cache/earlybird/xfetch"
)

// Setup is what a plan is made from. Its zero value is not valid; Default is.
type Setup struct {
	Rate      float64       // reads of the hottest key per second, over all instances
	Delta     time.Duration // mean time of a load
	Deviation time.Duration // mean distance from that
	TTL       time.Duration
	Keys      int // that live at a time

	Instances int
	RoundTrip time.Duration // to the shared store; 0: there is none
	Node      float64       // reads per second that a node of it can take
	Other     float64       // of them, those of other keys
	Staleness time.Duration // that a near copy may add

	Capacity   float64 // origin calls per second
	Concurrent int     // origin calls at once; 0: unknown

	Extra float64 // target: loads beyond one per life
	Late  float64 // target: share of refreshes that start too late
	Seed  uint64
}

// Default is the setup of a command without flags.
var Default = Setup{
	Rate: 100, Delta: 100 * time.Millisecond, TTL: time.Minute, Keys: 2000,
	Instances: 10, RoundTrip: time.Millisecond, Node: 100_000, Staleness: time.Second,
	Capacity: 200, Extra: 0.05, Late: 0.001, Seed: 1,
}

const (
	minRate, maxRate = 1e-6, 1e12
	minTime, maxTTL  = time.Microsecond, 8784 * time.Hour
	maxCount         = 1_000_000_000
	minLate          = 1e-12
	maxExtra         = 10
)

// Validate says in one sentence what is wrong with a setup.
func (s Setup) Validate() error {
	switch {
	case !(s.Rate >= minRate && s.Rate <= maxRate):
		return fmt.Errorf("-rate must be from %g to %g reads per second, not %v", minRate, maxRate, s.Rate)
	case s.Delta < minTime:
		return fmt.Errorf("-delta must be at least %v, not %v", minTime, s.Delta)
	case s.Deviation < 0 || s.Deviation > maxTTL:
		return fmt.Errorf("-deviation must be from 0 to %v, not %v", maxTTL, s.Deviation)
	case s.TTL > maxTTL:
		return fmt.Errorf("-ttl must be at most %v, not %v", maxTTL, s.TTL)
	case s.TTL < s.Delta:
		return fmt.Errorf("-ttl %v is shorter than -delta %v: entries would expire faster than they load", s.TTL, s.Delta)
	case s.Keys < 1 || s.Keys > maxCount:
		return fmt.Errorf("-keys must be from 1 to %d, not %d", maxCount, s.Keys)
	case !(s.Extra > 0 && s.Extra <= maxExtra):
		return fmt.Errorf("-extra must be above 0 and at most %d, not %v", maxExtra, s.Extra)
	case !(s.Late >= minLate && s.Late < 1):
		return fmt.Errorf("-late must be at least %g and below 1, not %v", minLate, s.Late)
	}
	return s.validatePlaces()
}

// validatePlaces does so for what stands around the keys.
func (s Setup) validatePlaces() error {
	switch {
	case s.Instances < 1 || s.Instances > maxCount:
		return fmt.Errorf("-instances must be from 1 to %d, not %d", maxCount, s.Instances)
	case s.RoundTrip < 0 || s.RoundTrip > s.TTL:
		return fmt.Errorf("-roundtrip must be from 0 to the ttl of %v, not %v", s.TTL, s.RoundTrip)
	case !(s.Capacity >= minRate && s.Capacity <= maxRate):
		return fmt.Errorf("-capacity must be from %g to %g calls per second, not %v", minRate, maxRate, s.Capacity)
	case s.Concurrent < 0 || s.Concurrent > maxCount:
		return fmt.Errorf("-concurrent must be from 0 to %d, not %d", maxCount, s.Concurrent)
	case !(s.Node > 0 && s.Node <= maxRate):
		return fmt.Errorf("-node must be above 0 and at most %g reads per second, not %v", maxRate, s.Node)
	case !(s.Other >= 0 && s.Other <= s.Node):
		return fmt.Errorf("-other must be from 0 to the %g reads per second of -node, not %v", s.Node, s.Other)
	case s.Staleness < 0 || s.Staleness > s.TTL:
		return fmt.Errorf("-staleness must be from 0 to the ttl of %v, not %v", s.TTL, s.Staleness)
	}
	return nil
}

// shared tells whether instances share a store, whose lease lets one of them
// refresh.
func (s Setup) shared() bool { return s.RoundTrip > 0 }

// readers is the reads per second that decide together over one entry, and how
// many such entries a key has: with a shared store one; without, one in each
// instance, where a process knows of its own refresh at once.
func (s Setup) readers() (rate float64, entries int) {
	if s.shared() {
		return s.Rate, 1
	}
	return s.Rate / float64(s.Instances), s.Instances
}

func (s Setup) cost() xfetch.Cost { return xfetch.Cost{Mean: s.Delta, Deviation: s.Deviation} }

// calls is the calls per second that the origin completes: its capacity, or what
// comes of its concurrency if that is less.
func (s Setup) calls() float64 {
	if s.Concurrent == 0 {
		return s.Capacity
	}
	return min(s.Capacity, xfetch.LoadsThrough(s.Concurrent, s.Delta))
}
