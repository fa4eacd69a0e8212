package bloom

import (
	"math/rand/v2"
	"sync/atomic"
)

// A tally counts what became of the ids the guard was asked about.
type tally struct {
	refused   striped       // or would have been, in shadow
	audited   atomic.Uint64 // let through although denied
	passed    atomic.Uint64 // known to the filter and absent at the origin: false positives
	confirmed atomic.Uint64 // denied and absent at the origin
	refuted   atomic.Uint64 // denied and found at the origin

	// The counts as of the last build, from which the observed rate is taken;
	// under Guard.mu.
	deniedBefore, passedBefore uint64
}

func (t *tally) denied() uint64 { return t.refused.load() + t.audited.Load() }

// restart begins a new measurement.
func (t *tally) restart() { t.deniedBefore, t.passedBefore = t.denied(), t.passed.Load() }

// observed returns, since the last build, how many ids that the guard took for
// absent or the origin said were, and how many of those passed.
func (t *tally) observed() (absent, passed uint64) {
	passed = t.passed.Load() - t.passedBefore
	return t.denied() - t.deniedBefore + passed, passed
}

// striped is a counter that busy cores do not fight over. A stripe is chosen
// at random, not by the id's digest: under a replay all ids are the same.
type striped [8]struct {
	n atomic.Uint64
	_ [56]byte // a cache line each
}

func (s *striped) add() { s[rand.Uint32()%uint32(len(s))].n.Add(1) }

func (s *striped) load() (sum uint64) {
	for i := range s {
		sum += s[i].n.Load()
	}
	return sum
}
