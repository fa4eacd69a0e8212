package bloom

import (
	"math"
	"time"
)

// Stats is what a guard knows of itself. Those of a nil guard are zero.
type Stats struct {
	State  State
	Shadow bool // refusals are counted, not made
	Grace  bool // the last build's predecessor still vouches for ids too
	// WantsBuild: the guard fails open, or holds over 1.25 times its design
	// count, and a build would mend it.
	WantsBuild bool
	Building   bool   // a build or load is under way
	Reading    uint64 // ids it has read so far

	KeyID uint64    // names the secret in force, without giving it away
	Read  time.Time // when the ids in force began to be read from their source

	IDs      uint64  // distinct ids held, give or take the false-positive rate
	Capacity uint64  // design count: ids at which the rate asked for is reached
	Bits     uint64  // of the filter
	Hashes   int     // probes for each id
	Fill     float64 // share of the bits that are set
	// EstimatedRate is the share of absent ids that should pass: Fill to the
	// power of Hashes, for both filters together while in grace.
	EstimatedRate float64

	// Counters since New.
	Refused      uint64 // answers "certainly absent", in shadow too
	Audited      uint64 // denied ids let through to be checked
	PassedAbsent uint64 // ids that the filter knew and the origin did not
	Confirmed    uint64 // ids that the filter denied and the origin did not have
	Refuted      uint64 // ids that the filter denied although the origin had them
	Builds       uint64 // builds and loads that succeeded

	// ObservedRate is, since the last build, the share of absent ids that
	// passed. Ids that were deleted after the build pass too.
	ObservedRate float64
	// Alarm: more absent ids passed than chance allows at the rate asked for.
	// Somebody knows ids that pass, or many were deleted; a build cures both.
	Alarm bool
}

// Stats returns the present figures.
func (g *Guard) Stats() Stats {
	if g == nil {
		return Stats{}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.settleLocked()
	s := Stats{
		State:        g.stateLocked(),
		Shadow:       g.opts.Shadow,
		WantsBuild:   g.wantsBuildLocked(),
		Refused:      g.tally.refused.load(),
		Audited:      g.tally.audited.Load(),
		PassedAbsent: g.tally.passed.Load(),
		Confirmed:    g.tally.confirmed.Load(),
		Refuted:      g.tally.refuted.Load(),
		Builds:       g.builds,
	}
	if g.next != nil {
		s.Building, s.Reading = true, g.next.reading.Load()
	}
	if absent, passed := g.tally.observed(); absent > 0 {
		s.ObservedRate = float64(passed) / float64(absent)
		s.Alarm = alarming(absent, passed, g.opts.FalsePositiveRate)
	}
	if g.current != nil {
		s.describe(g.current)
	}
	return s
}

func (s *Stats) describe(gen *generation) {
	s.KeyID, s.Read = gen.secret.keyID(), gen.born
	s.IDs, s.Capacity = gen.count(), gen.n
	s.Bits, s.Hashes = uint64(gen.m), int(gen.k)
	s.Fill = gen.fillNow()
	s.EstimatedRate = gen.rate()
	s.Grace = gen.old != nil
}

// alarming reports whether more than nε + 4√(nε) of n absent ids passed, four
// standard deviations over what was asked for. The bound takes the count for
// normal, which it is not while it is small: below ten nothing is said.
func alarming(absent, passed uint64, rate float64) bool {
	mean := float64(absent) * rate
	return passed >= 10 && float64(passed) > mean+4*math.Sqrt(mean)
}
