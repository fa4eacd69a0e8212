package bloom

import (
	"encoding/binary"
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"

	bitsbloom "github.com/bits-and-blooms/bloom/v3"
	"github.com/stretchr/testify/require"
)

// murmur3-128 absorbs blocks of two words into a state of two words, and each
// absorption can be undone. So, knowing one id of 32 bytes, change its first
// block at will and solve for the second block that leads back to the same
// state: another id of the same length with the same hash, whatever follows.
type murmur struct{ h1, h2 uint64 }

const (
	mul1 = 0x87c37b91114253d5
	mul2 = 0x4cf5ad432745937f
	add1 = 0x52dce729
	add2 = 0x38495ab5
)

func (m murmur) absorb(w1, w2 uint64) murmur {
	h1 := m.h1 ^ bits.RotateLeft64(w1*mul1, 31)*mul2
	h1 = (bits.RotateLeft64(h1, 27)+m.h2)*5 + add1
	h2 := m.h2 ^ bits.RotateLeft64(w2*mul2, 33)*mul1
	h2 = (bits.RotateLeft64(h2, 31)+h1)*5 + add2
	return murmur{h1, h2}
}

// blockTo returns the block that takes m to the target.
func (m murmur) blockTo(target murmur) (w1, w2 uint64) {
	k1 := m.h1 ^ bits.RotateLeft64((target.h1-add1)*inverse(5)-m.h2, -27)
	k2 := m.h2 ^ bits.RotateLeft64((target.h2-add2)*inverse(5)-target.h1, -31)
	return bits.RotateLeft64(k1*inverse(mul2), -31) * inverse(mul1),
		bits.RotateLeft64(k2*inverse(mul1), -33) * inverse(mul2)
}

// inverse of an odd number modulo 2⁶⁴: each Newton step doubles the right bits.
func inverse(odd uint64) uint64 {
	x := odd
	for range 5 {
		x *= 2 - odd*x
	}
	return x
}

// craft makes another id with the murmur3 hash of the one given, whose first
// block is a and b.
func craft(id string, a, b uint64) string {
	word := func(i int) uint64 { return binary.LittleEndian.Uint64([]byte(id[8*i:])) }
	target := murmur{}.absorb(word(0), word(1)).absorb(word(2), word(3))
	c, d := murmur{}.absorb(a, b).blockTo(target)
	out := make([]byte, 0, len(id))
	for _, w := range []uint64{a, b, c, d} {
		out = binary.LittleEndian.AppendUint64(out, w)
	}
	return string(append(out, id[32:]...))
}

// From one known id an attacker makes as many strangers as he likes that the
// bare library lets through, whatever its rate; the keyed guard refuses them
// like any others.
func TestMayContain_refusesCraftedIDs(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	const (
		known  = "product/7f3b9c2e-41d5-4a8e-9d06-5be2f0c1a7d4"
		ids    = 20_000
		crafts = 100_000
		rate   = 1e-3
	)
	plain := bitsbloom.NewWithEstimates(ids, 1e-9)
	plain.AddString(known)
	for id := range numbered("product", ids-1) {
		plain.AddString(id)
	}
	g := built(t, Options{FalsePositiveRate: rate}, "product", ids)
	g.Add(known)
	for i := range ids / 2 { // to the design count
		g.Add(name("later", i))
	}

	rng := rand.New(rand.NewPCG(seed, 0))
	passedPlain, passed := 0, 0
	for range crafts {
		id := craft(known, rng.Uint64(), rng.Uint64())
		require.NotEqual(t, known, id)
		if plain.TestString(id) {
			passedPlain++
		}
		if g.MayContain(id) {
			passed++
		}
	}
	require.Equal(t, crafts, passedPlain, "the attack is real")
	mean := float64(crafts) * rate
	require.LessOrEqual(t, float64(passed), mean+4*math.Sqrt(mean))
	require.NotZero(t, passed, "at the designed rate, that is, not at none: this guard is full")
}
