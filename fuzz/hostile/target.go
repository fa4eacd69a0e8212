package hostile

import (
	"math/rand/v2"

	"github.com/earlybird-cache/earlybird/fuzz/archive"
	"github.com/earlybird-cache/earlybird/keyshape"
)

// A Target is the API under attack, as those see it who attack it.
type Target struct {
	// Archive is what the API serves. Attackers know the keys in it, as they would
	// from a crawl, and what keys look like.
	Archive *archive.Archive

	// MaxKeyLen is the length in bytes above which keys are refused.
	MaxKeyLen int

	// Reaches asks for a key and reports whether that reached the origin: what the time
	// that the answer takes gives away, without the noise. Attacks that learn need it.
	Reaches func(key string) bool

	// Create makes a thing with that key. Attackers who have an account need it.
	Create func(key string)

	// Rebuild waits until the guard has been built anew, as is done now and then.
	// Attacks that wait for that need it.
	Rebuild func()
}

// absent is f without what exists.
func (t *Target) absent(f func() string) func() string {
	return func() string {
		key := f()
		for t.Archive.Exists(key) {
			key = f()
		}
		return key
	}
}

// known returns a key that exists.
func (t *Target) known(rng *rand.Rand) string { return pick(rng, t.Archive.Keys()) }

// document returns the parts of a document's key.
func (t *Target) document(rng *rand.Rand) (locale, tenant, name string) {
	for {
		if parts, err := keyshape.Split(t.known(rng)); err == nil {
			return parts[0], parts[1], parts[2]
		}
	}
}

func pick[T any](rng *rand.Rand, from []T) T { return from[rng.IntN(len(from))] }

// oneOf calls one of the functions at random, each time.
func oneOf(rng *rand.Rand, fs ...func() string) func() string {
	return func() string { return pick(rng, fs)() }
}
