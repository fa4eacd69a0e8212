package hostile

import (
	"encoding/binary"
	"math/bits"
	"math/rand/v2"

	"github.com/earlybird-cache/earlybird/fuzz/archive"
	"github.com/earlybird-cache/earlybird/keyshape"
)

// murmur makes strangers that no unkeyed Bloom filter can tell from an acquaintance:
// for one document that exists, any number of names that have its hashes under murmur3,
// and so its bits in every filter that places ids by it, however low its rate.
func murmur(t *Target, rng *rand.Rand) func() string {
	return t.absent(func() string {
		locale, tenant, name := t.document(rng)
		id := archive.ID(archive.Document(locale, tenant, name))
		keep := len(id) - len(name) - len(",")
		twin, _ := Twin(id, keep, rng) // the archive's names are long enough
		return keyshape.Join(locale) + twin
	})
}

// Twin returns another id of the same length with the same murmur3-128 hash, of this
// id and of every continuation of it, leaving its first keep bytes alone. It reports
// false if the id is too short: that takes some free bytes at the end of a block of 16
// and all of the next block.
//
// The hash absorbs block after block into a state of 128 bits, and each step can be
// undone, for nothing in it is secret. So let one block be anything; there is exactly
// one next block that leads back to where the original leads.
func Twin(id string, keep int, rng *rand.Rand) (twin string, ok bool) {
	const enough = 4 // free bytes
	first := (keep + enough - 1) / block
	if len(id) < (first+2)*block {
		return "", false
	}
	out := []byte(id)
	var before state
	for i := range first {
		before = before.absorb(out, i)
	}
	after := before.absorb(out, first).absorb(out, first+1)
	for i := max(keep, first*block); i < (first+1)*block; i++ {
		out[i] = byte(rng.Uint32())
	}
	before.absorb(out, first).bridge(after, out, first+1)
	return string(out), true
}

// block is what murmur3-128 absorbs at a time, in bytes.
const block = 16

// state is that of murmur3-128 between two blocks.
type state struct{ h1, h2 uint64 }

const (
	c1 = 0x87c37b91114253d5
	c2 = 0x4cf5ad432745937f
	n1 = 0x52dce729
	n2 = 0x38495ab5
)

// absorb returns the state after block i of id.
func (s state) absorb(id []byte, i int) state {
	k1 := binary.LittleEndian.Uint64(id[i*block:])
	k2 := binary.LittleEndian.Uint64(id[i*block+8:])
	s.h1 ^= bits.RotateLeft64(k1*c1, 31) * c2
	s.h1 = (bits.RotateLeft64(s.h1, 27)+s.h2)*5 + n1
	s.h2 ^= bits.RotateLeft64(k2*c2, 33) * c1
	s.h2 = (bits.RotateLeft64(s.h2, 31)+s.h1)*5 + n2
	return s
}

// bridge makes block i of id the one that leads from s to the state to.
func (s state) bridge(to state, id []byte, i int) {
	mixed1 := s.h1 ^ bits.RotateLeft64((to.h1-n1)*inverse(5)-s.h2, -27)
	mixed2 := s.h2 ^ bits.RotateLeft64((to.h2-n2)*inverse(5)-to.h1, -31)
	k1 := bits.RotateLeft64(mixed1*inverse(c2), -31) * inverse(c1)
	k2 := bits.RotateLeft64(mixed2*inverse(c1), -33) * inverse(c2)
	binary.LittleEndian.PutUint64(id[i*block:], k1)
	binary.LittleEndian.PutUint64(id[i*block+8:], k2)
}

// inverse returns the inverse of an odd number modulo 2^64, by Newton's iteration: an
// odd number is its own inverse in the lowest three bits, and each step doubles the
// bits that are right.
func inverse(odd uint64) uint64 {
	x := odd
	for range 5 {
		x *= 2 - odd*x
	}
	return x
}
