package bloom

import "math"

// Stats is what a guard knows of itself. Counters only grow.
type Stats struct {
	State    State
	Shadow   bool // refusals are counted, not made
	Building bool // a build is under way
	// WantsBuild: the guard fails open, or holds over 1.25 times its design
	// count, and a build would mend it.
	WantsBuild bool

	IDs      uint64 // distinct ids held, give or take the false-positive rate
	Capacity uint64 // design count: ids at which the rate asked for is reached
	Bits     uint64 // of the filter
	Hashes   int    // probes for each id
	Fill     float64
	// EstimatedRate is the share of absent ids that should pass: Fill to the
	// power of Hashes.
	EstimatedRate float64

	Refused      uint64 // answers "certainly absent", in shadow too
	PassedAbsent uint64 // ids that passed and were then reported absent
	// WrongRefusals are ids reported found that the guard denies.
	WrongRefusals uint64
	// ObservedRate is, since the last build, the share of absent ids that
	// passed. Ids that were deleted after the build pass too.
	ObservedRate float64
	// Alarm: more absent ids passed than chance allows at the rate asked for.
	// Somebody knows ids that pass, or many were deleted; a build cures both.
	Alarm bool

	Builds uint64 // that succeeded
}

// Stats returns the present figures; those of a nil guard are zero.
func (g *Guard) Stats() Stats {
	if g == nil {
		return Stats{}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	s := Stats{
		State:         g.stateLocked(),
		Shadow:        g.opts.Shadow,
		Building:      g.next != nil,
		Refused:       g.tally.refused.load(),
		PassedAbsent:  g.tally.passed.Load(),
		WrongRefusals: g.tally.wronglyHeld.Load(),
		Builds:        g.builds,
	}
	s.WantsBuild = s.State != Ready
	if gen := g.current; gen != nil {
		s.IDs, s.Capacity = gen.count(), gen.n
		s.Bits, s.Hashes = uint64(gen.m), int(gen.k)
		s.Fill = gen.fillNow()
		s.EstimatedRate = gen.rateAt(s.Fill)
		s.WantsBuild = s.WantsBuild || gen.past(rebuildAt)
	}
	if absent, passed := g.tally.observed(); absent > 0 {
		s.ObservedRate = float64(passed) / float64(absent)
		s.Alarm = alarming(absent, passed, g.opts.FalsePositiveRate)
	}
	return s
}

// alarming reports whether more than nε + 4√(nε) of n absent ids passed, four
// standard deviations over what was asked for. The bound takes the count for
// normal, which it is not while it is small: below ten nothing is said.
func alarming(absent, passed uint64, rate float64) bool {
	mean := float64(absent) * rate
	return passed >= 10 && float64(passed) > mean+4*math.Sqrt(mean)
}

// ReportAbsent tells the guard that id passed and the origin then did not have
// it. If the filter knows the id, that was a false positive (or the id has
// been deleted); if not, the guard had been open or in shadow and would have
// been right.
func (g *Guard) ReportAbsent(id string) {
	if g == nil {
		return
	}
	if gen := g.serving.Load(); gen != nil && gen.has(gen.secret.digest(id)) {
		g.tally.passed.Add(1)
	}
}

// ReportFound tells the guard that the origin has id. If the filter denies it,
// as only shadow or a neighbour that created the id unseen can bring to light,
// then the filter does not know all that exists: the id is added, and the
// guard counts as Damaged until the next build. Call it for reads that went to
// the origin; it costs as much as MayContain.
func (g *Guard) ReportFound(id string) {
	if g == nil {
		return
	}
	if gen := g.serving.Load(); gen == nil || gen.has(gen.secret.digest(id)) {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.current == nil || g.current.has(g.current.secret.digest(id)) {
		return // somebody was faster
	}
	g.tally.wronglyHeld.Add(1)
	g.addLocked(id)
	g.damaged = true
	g.settleLocked()
}
