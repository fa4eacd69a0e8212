// Package hostile makes the keys that strangers ask for: streams of requests meant to
// reach the origin, to wash good entries out of a cache, to make it slow or to make it
// confuse one thing with another.
//
// An [Attack] is a name, what it tries, and an endless stream of keys drawn from a
// seed. Its [Target] is what the attackers know. All keys but those of scan are keys
// of nothing, so that every one of them that reaches the origin is one too many.
package hostile

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"strings"
)

// An Attack is one way to ask for what does not exist.
type Attack struct {
	Name  string
	About string // what it tries, in one line
	start func(t *Target, rng *rand.Rand) func() string
}

// Keys returns the keys that the attack asks for, without end. The same seed and target
// give the same keys, as far as the target answers the same. If the attack has to find
// something out first, it does so before the first key.
func (a Attack) Keys(t *Target, seed uint64) iter.Seq[string] {
	return func(yield func(string) bool) {
		next := a.start(t, rand.New(rand.NewPCG(seed, 0xbad)))
		for yield(next()) {
		}
	}
}

// All returns every attack.
func All() []Attack {
	return []Attack{
		{"random", "well-formed ids drawn at random", random},
		{"sequential", "one id after the other, from the first on", sequential},
		{"near", "ids one edit away from one that exists", near},
		{"unicode", "look-alikes, broken UTF-8, control characters and plain bytes", unicode},
		{"spelling", "other spellings of ids that exist: 07, +7, %37, 7.0", spelling},
		{"smuggle", "separators and lengths inside the parts of composite keys", smuggle},
		{"oversize", "keys as long as is allowed, and longer, up to 1 MiB", oversize},
		{"tangle", "keys that are hard to tell from well-formed ones", tangle},
		{"murmur", "ids made to have all the hashes of one that exists, if the hash is murmur3", murmur},
		{"replay", "fifty ids found to pass the guard, over and over", replay},
		{"stale-replay", "the same after the guard has been built anew", staleReplay},
		{"pollute", "random ids, after the guard was flooded with records made for that", pollute},
		{"deleted", "ids that existed until lately, over and over", deleted},
		{"hammer", "fifty absent ids, asked for by everybody at once", hammer},
		{"negative-flood", "an absent id per request, to wash out what is remembered", random},
		{"collide", "ids that share a bucket under FNV-1a, CRC-32 or Java's string hash", collide},
		{"scan", "everything that exists, in turn, to wash out what is popular", scan},
	}
}

// Named returns the attack of that name. Its error lists the names there are.
func Named(name string) (Attack, error) {
	var names []string
	for _, a := range All() {
		if a.Name == name {
			return a, nil
		}
		names = append(names, a.Name)
	}
	return Attack{}, fmt.Errorf("unknown attack %q: there are %s", name, strings.Join(names, ", "))
}
