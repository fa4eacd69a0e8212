package bloom

import (
	"math/rand/v2"
	"sync/atomic"
)

// A tally counts what became of the ids the guard was asked about.
type tally struct {
	refused     striped       // or would have been, in shadow
	passed      atomic.Uint64 // passed and then absent at the origin: false positives
	wronglyHeld atomic.Uint64 // found at the origin although the filter denies them

	// The counts as of the last build, from which the observed rate is taken;
	// under Guard.mu.
	refusedBefore, passedBefore uint64
}

// restart begins a new measurement.
func (t *tally) restart() {
	t.refusedBefore, t.passedBefore = t.refused.load(), t.passed.Load()
}

// observed returns, since the last build, how many ids known to be absent were
// asked for and how many of those passed.
func (t *tally) observed() (absent, passed uint64) {
	passed = t.passed.Load() - t.passedBefore
	return t.refused.load() - t.refusedBefore + passed, passed
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
