// Package workload makes the requests that the simulator plays: who asks for which
// key, and when.
//
// A Population is the set of keys that exist. A Stream is a sequence of requests for
// them, with strangers' requests for other keys mixed in. The same Stream yields the
// same requests every time it is played, which is what lets one traffic be shown to
// several ways of caching.
package workload

import (
	"fmt"
	"math/rand/v2"

	"github.com/earlybird-cache/earlybird/keyshape"
)

// A Population is the set of keys that exist at the origin, numbered from 0. It is
// made by Catalogue or FromKeys, does not change, and may be shared.
type Population struct {
	keys    []string
	numbers map[string]int
	family  family
	shapes  *keyshape.Set
}

// A family is a way to spell keys: the pattern that all of them match, and how to
// spell one that matches and does not exist yet.
type family struct {
	pattern string
	spell   func(id uint64) string
}

var (
	products = family{"product:{uint}", func(id uint64) string { return fmt.Sprintf("product:%d", id) }}
	integers = family{"{uint}", func(id uint64) string { return fmt.Sprintf("%d", id) }}
	slugs    = family{"{slug}", func(id uint64) string { return fmt.Sprintf("no-such-%x", id) }}
	anything = family{"", func(id uint64) string { return fmt.Sprintf("no such key %x", id) }}
)

// Catalogue returns n products, the first the most popular. Their ids are numbers
// with gaps between them, and tell nothing about popularity.
func Catalogue(n int, seed uint64) *Population {
	rng := rand.New(rand.NewPCG(seed, 0xca7a))
	keys := make([]string, n)
	id := uint64(0)
	for i := range keys {
		id += 1 + rng.Uint64N(9)
		keys[i] = products.spell(id)
	}
	rng.Shuffle(n, func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	return newPopulation(keys, products)
}

// FromKeys returns the population of the given distinct keys, in their order. It
// keeps the slice. Their shape is the strictest one it knows that fits all of them.
func FromKeys(keys []string) *Population {
	for _, f := range []family{integers, slugs} {
		if all(keys, keyshape.MustCompile(f.pattern).Match) {
			return newPopulation(keys, f)
		}
	}
	return newPopulation(keys, anything)
}

func all(keys []string, match func(string) bool) bool {
	for _, key := range keys {
		if !match(key) {
			return false
		}
	}
	return true
}

func newPopulation(keys []string, f family) *Population {
	p := &Population{keys: keys, numbers: make(map[string]int, len(keys)), family: f}
	for i, key := range keys {
		p.numbers[key] = i
	}
	if f.pattern != "" {
		p.shapes = keyshape.MustCompile(f.pattern)
	}
	return p
}

// Keys returns every key that exists. The slice is the population's own: read it
// only.
func (p *Population) Keys() []string { return p.keys }

// Number returns the number of key, an index into Keys, and whether key exists.
func (p *Population) Number(key string) (n int, exists bool) {
	n, exists = p.numbers[key]
	return n, exists
}

// Exists reports whether key exists.
func (p *Population) Exists(key string) bool {
	_, exists := p.numbers[key]
	return exists
}

// Pattern returns the key pattern that every key matches, "" if the keys have nothing
// in common.
func (p *Population) Pattern() string { return p.family.pattern }

// Shapes returns Pattern compiled; nil, which accepts every key, if it is "".
func (p *Population) Shapes() *keyshape.Set { return p.shapes }
