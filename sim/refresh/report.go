package refresh

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/earlybird-cache/earlybird/sim/estimate"
	"github.com/earlybird-cache/earlybird/xfetch"
)

// Report is what a run of a Setup found.
type Report struct {
	Setup     Setup
	Aim       xfetch.Aim // of an entry whose loads took their mean
	Elections []Election
	Theory    Theory
	Thinned   Figures
	Event     *Figures // nil: left out, and the notes say why
	// Notes are sentences about what a reader of the figures should know.
	Notes []string
}

// Figures is what an engine says of an expiry.
type Figures struct {
	Loads    estimate.Estimate // loads per expiry
	Early    estimate.Estimate // of them, started before expiry
	Hard     estimate.Estimate // of them, started by reads that found the entry expired
	Single   estimate.Estimate // share of expiries with exactly one load
	Gap      estimate.Estimate // seconds left when the first load starts; negative after expiry
	Late     estimate.Estimate // share of expiries at which the new value was not there
	Waits    estimate.Estimate // reads that waited
	Life     estimate.Estimate // seconds from one entry to the next
	Sizes    []int             // Sizes[i]: expiries with i+1 loads; the last also holds all larger
	Expiries int
	Reads    float64 // that the run stands for
	Seconds  float64 // that it took
}

// LoadRate is the origin's load for the key, in loads per second.
func (f Figures) LoadRate() float64 { return f.Loads.Observed / f.Life.Observed }

// Run plays a valid setup. watch, if not nil, is told how it goes.
func Run(s Setup, watch *Watch) (Report, error) {
	c := newClocks(s)
	r := Report{Setup: s, Aim: s.usual(), Theory: s.theory(&c)}
	r.Elections = countElections(s, source(s.Seed, streamDraws))
	thinned, events := s.thinnedBlocks(&c), s.eventBlocks(&c)
	if err := watch.announce(s, thinned, events); err != nil {
		return r, err
	}
	r.Thinned = s.play(thinned, r.Theory, watch)
	if events.expiries >= 2 {
		f := s.play(events, r.Theory, watch)
		r.Event = &f
	}
	r.Notes = notes(s)
	return r, nil
}

func (s Setup) play(b blocks, th Theory, watch *Watch) Figures {
	began := time.Now()
	var played atomic.Int64
	meter := watch.meter(b.expiries, &played)
	defer meter.Stop()
	t := b.play(s.Seed, s.Workers, &played)
	f := t.against(th)
	f.Reads = s.Rate * t.sums[life].Sum
	f.Seconds = time.Since(began).Seconds()
	return f
}

func (s Setup) thinnedBlocks(c *clocks) blocks {
	b := blocks{stream: streamThinned, expiries: s.Expiries, size: cut(s.Expiries, 256)}
	if s.learns() {
		b.warm = 64 // of what a mean knew before them 1e-8 is left
	}
	b.make = func(rng *rand.Rand) engine { return newThinned(&s, c, rng) }
	return b
}

// eventBlocks has as many expiries as the reads allowed are enough for.
func (s Setup) eventBlocks(c *clocks) blocks {
	b := blocks{stream: streamEvents}
	if s.Events == 0 || s.Rate/float64(s.Instances) > maxEventRate {
		return b
	}
	b.expiries = min(s.Expiries, int(float64(s.Events)/s.readsPerExpiry()))
	b.size = cut(b.expiries, 64)
	switch {
	case s.learns():
		b.warm = 16 // 1 % is left
		b.size = max(b.size, b.warm)
	case !s.lawHolds():
		b.warm = 1
	}
	b.make = func(rng *rand.Rand) engine { return newEvents(&s, c, rng) }
	return b
}

// readsPerExpiry is what an expiry stands for, roughly.
func (s Setup) readsPerExpiry() float64 {
	left := s.law(0).ExpectedLeft()
	return max(1, s.Rate*max(s.Delta, s.meanLife()-left+s.lead()).Seconds())
}

// EnginesZ is by how many standard errors the two engines' mean loads differ.
func (r Report) EnginesZ() float64 {
	if r.Event == nil {
		return math.NaN()
	}
	a, b := r.Thinned.Loads, r.Event.Loads
	return estimate.Distance(a.Observed-b.Observed, math.Hypot(a.StdErr, b.StdErr))
}

// eventsLeftOut says why the event engine did not play, or "".
func (s Setup) eventsLeftOut() string {
	switch {
	case s.Events == 0:
		return ""
	case s.Rate/float64(s.Instances) > maxEventRate:
		return fmt.Sprintf("the event engine plays at most %g reads/s per instance", float64(maxEventRate))
	case s.Expiries >= 2 && float64(s.Events)/s.readsPerExpiry() < 2:
		return fmt.Sprintf("the event engine would play %.2g reads per expiry; -events %.2g lets it", s.readsPerExpiry(), 10*s.readsPerExpiry())
	}
	return ""
}
