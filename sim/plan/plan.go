package plan

import (
	"math"
	"time"

	"github.com/earlybird-cache/earlybird/xfetch"
)

// Plan is what Make worked out.
type Plan struct {
	Setup   Setup
	Refresh Refresh

	Jitter      float64 // above mostJitter: none will do
	MaxLoads    int     // of all instances; see each
	MaxLoadRate float64
	L1TTL       time.Duration // 0: keep no copies near
	Copies      int           // of the hottest key in the shared store; 0: a node has no room

	Steady  float64       // loads per second of all keys
	Peak    float64       // of keys written together, when they expire
	Through float64       // refreshes per second that MaxLoads lets through
	Refill  time.Duration // of an empty cache
	Store   float64       // reads per second of the hottest key that the shared store sees

	Colder []Colder
	Notes  []string
}

// Colder is what the same options do for a key that is read less.
type Colder struct {
	Rate    float64
	Classic Refresh // with the plan's beta
	Chosen  Refresh
}

// The jitter and the ramp of a cache that is not told otherwise, and the most
// jitter that helps. Keys that need j = nN/(TC) load at the rate jC/(1-j/2),
// because jitter shortens lives; beyond two thirds that is more than C, and the
// spread costs more than it saves.
const (
	usualJitter = 0.1
	mostJitter  = 2.0 / 3
	usualRamp   = 2 * time.Second
)

// Make works out a plan for a valid setup.
func Make(s Setup) Plan {
	p := Plan{Setup: s, Jitter: usualJitter, MaxLoadRate: s.calls()}
	// Jitter depends on the loads per expiry and the lives on jitter: a little, so
	// that this settles at once.
	for range 3 {
		p.Refresh = s.choose(p.jitter())
		p.limitLoads()
		p.spreadLives()
	}
	p.placeHotKey()
	p.Steady = s.loadRate(p.Refresh, p.jitter())
	p.Peak = xfetch.PeakStarts(p.entries(), p.Refresh.Loads, p.jitter(), s.TTL, p.Refresh.Aim.Scale)
	p.Refill = xfetch.RefillTime(p.entries(), s.calls(), usualRamp)
	p.compareColder()
	p.Notes = p.notes()
	return p
}

// jitter is the plan's as far as there can be any.
func (p *Plan) jitter() float64 { return min(p.Jitter, mostJitter) }

// entries is how many there are of all keys, as far as an int can tell.
func (p *Plan) entries() int {
	_, each := p.Setup.readers()
	if p.Setup.Keys > math.MaxInt/each {
		return math.MaxInt
	}
	return p.Setup.Keys * each
}

// limitLoads sets MaxLoads from the origin's capacity. Where the margin of steady
// load times leaves refreshes too few slots, it is widened to what any margin may
// be.
func (p *Plan) limitLoads() {
	s := p.Setup
	p.MaxLoads = p.bounded(xfetch.MaxLoads(s.calls(), s.cost()))
	if p.setThrough(); p.Through < s.loadRate(p.Refresh, p.jitter()) {
		p.MaxLoads = p.bounded(xfetch.MaxLoads(s.calls(), xfetch.Cost{Mean: s.Delta, Deviation: s.Delta}))
		p.setThrough()
	}
}

func (p *Plan) bounded(limit int) int {
	if p.Setup.Concurrent > 0 {
		return min(limit, p.Setup.Concurrent)
	}
	return limit
}

// each is the MaxLoads of one instance. Rounding up stays within what the margin
// may be, but not within what the origin takes at once.
func (p *Plan) each() int {
	n := p.Setup.Instances
	if p.Setup.Concurrent > 0 {
		return max(1, p.MaxLoads/n)
	}
	return (p.MaxLoads + n - 1) / n
}

// slots is how many loads all instances may run.
func (p *Plan) slots() int { return p.each() * p.Setup.Instances }

// setThrough is told by the slots that the instances give to refreshes.
func (p *Plan) setThrough() {
	share := max(1, int(float64(p.each())*xfetch.RefreshShare+1e-9)) * p.Setup.Instances
	p.Through = min(xfetch.LoadsThrough(share, p.Setup.Delta), p.Setup.calls())
}

// loadRate is the loads per second of all keys, if each is read as the hottest.
func (s Setup) loadRate(r Refresh, jitter float64) float64 {
	_, entries := s.readers()
	return float64(s.Keys) * float64(entries) * (1 + r.Extra) / xfetch.MeanLife(s.TTL, jitter).Seconds()
}

// spreadLives sets the jitter with which refreshes of keys written together fit
// through the gate.
func (p *Plan) spreadLives() {
	need := xfetch.JitterFor(p.entries(), p.Refresh.Loads, p.Through, p.Setup.TTL, p.Refresh.Aim.Scale)
	p.Jitter = max(usualJitter, need)
	if up := math.Ceil(p.Jitter*100-1e-9) / 100; p.Jitter <= mostJitter {
		p.Jitter = min(up, mostJitter)
	}
}

// placeHotKey keeps the hottest key near where a node of the shared store cannot
// serve it, for as long as values may be stale, and splits it for the rest.
func (p *Plan) placeHotKey() {
	s := p.Setup
	if p.Copies = 1; !s.shared() {
		return
	}
	room := xfetch.NodeShare*s.Node - s.Other
	if room > 0 {
		need := xfetch.L1TTL(s.Rate, s.Instances, room)
		p.L1TTL = min(roundMillis(need), s.Staleness)
	} else {
		p.L1TTL = s.Staleness
	}
	p.Store = xfetch.SharedReads(s.Rate, s.Instances, p.L1TTL)
	p.Copies = xfetch.Copies(p.Store, s.Node, s.Other)
}

func roundMillis(d time.Duration) time.Duration {
	if up := d.Truncate(time.Millisecond); up < d {
		return up + time.Millisecond
	}
	return d
}

// compareColder plays the same options through for keys that are read less.
func (p *Plan) compareColder() {
	s := p.Setup
	rate, _ := s.readers()
	for _, part := range []float64{1, 10, 100, 1000, 10_000} {
		r := rate / part
		p.Colder = append(p.Colder, Colder{
			Rate:    s.Rate / part,
			Classic: s.refresh(xfetch.Classic, p.Refresh.Beta, r, p.jitter()),
			Chosen:  s.refresh(p.Refresh.Rule, p.Refresh.Beta, r, p.jitter()),
		})
	}
}
