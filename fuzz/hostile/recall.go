package hostile

import (
	"math/rand/v2"
	"slices"

	"github.com/earlybird-cache/earlybird/fuzz/archive"
)

const (
	Learnt  = 50 // ids that replay and stale-replay ask for
	Pounded = 50 // ids that hammer asks for
)

// replay asks for random ids until it has found some that pass the guard by accident,
// and then for those and no others: each costs the origin a call, if nobody remembers.
// Where none pass it goes on with random ids.
func replay(t *Target, rng *rand.Rand) func() string {
	if passing := learn(t, rng); len(passing) > 0 {
		return around(passing)
	}
	return random(t, rng)
}

// staleReplay learns as replay does, but then the guard is built anew.
func staleReplay(t *Target, rng *rand.Rand) func() string {
	next := replay(t, rng)
	t.Rebuild()
	return next
}

// learn returns up to Learnt ids that reached the origin. It gives up in time.
func learn(t *Target, rng *rand.Rand) (passing []string) {
	const tries = 300_000
	next := random(t, rng)
	for i := 0; i < tries && len(passing) < Learnt; i++ {
		if key := next(); t.Reaches(key) {
			passing = append(passing, key)
		}
	}
	return passing
}

// pollute has means to create records, and creates so many that a filter made for fewer
// would pass everything. Then it asks for random ids.
func pollute(t *Target, rng *rand.Rand) func() string {
	for range len(t.Archive.Keys()) {
		t.Create(archive.Product(rng.Uint64()))
	}
	t.Rebuild()
	return random(t, rng)
}

// deleted asks for what is no more. A Bloom filter cannot forget, so until the next
// build the guard lets these pass.
func deleted(t *Target, _ *rand.Rand) func() string {
	return around(t.Archive.Deleted())
}

// hammer asks for few absent ids, so that many ask for the same one at the same moment,
// above all when its absence has just been forgotten.
func hammer(t *Target, rng *rand.Rand) func() string {
	next := random(t, rng)
	keys := make([]string, Pounded)
	for i := range keys {
		keys[i] = next()
	}
	return around(keys)
}

// scan reads everything that exists, so that what is popular makes way for what nobody
// will ask for again.
func scan(t *Target, rng *rand.Rand) func() string {
	keys := slices.Clone(t.Archive.Keys())
	rng.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	return around(keys)
}

// around returns the keys in order, over and over.
func around(keys []string) func() string {
	i := -1
	return func() string {
		i = (i + 1) % len(keys)
		return keys[i]
	}
}
