package workload

import (
	"math/rand/v2"
	"strings"
)

// Half of what strangers ask for could not be a key at all. The other half looks
// right and does not exist: half of that is a new id each time, which no memory of
// absences helps against, and half comes again and again from a list of pooled ids,
// as crawlers ask for what was deleted long ago.
const pooled = 500

// strangers make hostile keys: keys that do not exist.
type strangers struct {
	population *Population
	pool       []string
}

func newStrangers(p *Population, rng *rand.Rand) *strangers {
	s := &strangers{population: p, pool: make([]string, pooled)}
	for i := range s.pool {
		s.pool[i] = s.absent(rng, 2*uint64(len(p.keys))+pooled)
	}
	return s
}

// key returns the next hostile key.
func (s *strangers) key(rng *rand.Rand) string {
	switch rng.IntN(4) {
	case 0:
		return s.absent(rng, 1<<62)
	case 1:
		return s.pool[rng.IntN(len(s.pool))]
	default:
		return s.malformed(rng)
	}
}

// absent returns a well-formed key with an id below limit that does not exist.
// At least half of the ids below limit must be free.
func (s *strangers) absent(rng *rand.Rand, limit uint64) string {
	for {
		if key := s.population.family.spell(rng.Uint64N(limit)); !s.population.Exists(key) {
			return key
		}
	}
}

// malformed returns a key that no well-behaved caller would send: one that exists,
// with something done to it.
func (s *strangers) malformed(rng *rand.Rand) string {
	key := s.population.keys[rng.IntN(len(s.population.keys))]
	key = attacks[rng.IntN(len(attacks))](key)
	for s.population.Exists(key) { // in a trace, any text may be a key
		key += "'"
	}
	return key
}

var attacks = []func(key string) string{
	func(string) string { return "" },
	func(key string) string { return key + "' OR 1=1--" },
	func(key string) string { return "../../" + key },
	func(key string) string { return key + "\x00" },
	func(key string) string { return " " + key },
	func(key string) string { return strings.ToUpper(key) + "%0A" },
	func(key string) string { return key + strings.Repeat("9", 30) + "." },
	func(key string) string { return key + strings.Repeat("A", 2000) },
}
