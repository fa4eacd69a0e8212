package hostile

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	bitsbloom "github.com/bits-and-blooms/bloom/v3"
	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird/fuzz/archive"
)

// newRNG returns a source whose seed the test prints.
func newRNG(t *testing.T) *rand.Rand {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

func TestTwin_sharesEveryBit(t *testing.T) {
	rng := newRNG(t)
	for range 2000 {
		id := text(rng, anyByte, 48+rng.IntN(60))
		keep := rng.IntN(len(id) - 3*block + 1)
		twin, ok := Twin(id, keep, rng)
		require.True(t, ok, "%d of %d bytes", keep, len(id))
		require.NotEqual(t, id, twin)
		require.Len(t, twin, len(id))
		require.Equal(t, id[:keep], twin[:keep])
		require.Equal(t, bitsbloom.Locations([]byte(id), 30), bitsbloom.Locations([]byte(twin), 30))
		require.Equal(t, bitsbloom.Locations([]byte(id+"more"), 30), bitsbloom.Locations([]byte(twin+"more"), 30))
	}
}

func TestTwin_needsTwoBlocks(t *testing.T) {
	rng := newRNG(t)
	for _, c := range []struct {
		length, keep int
		ok           bool
	}{
		{31, 0, false}, {32, 0, true}, {32, 12, true}, {32, 13, false}, {47, 13, false}, {48, 13, true}, {48, 28, true}, {48, 29, false},
	} {
		_, ok := Twin(strings.Repeat("x", c.length), c.keep, rng)
		require.Equal(t, c.ok, ok, "%+v", c)
	}
}

func FuzzTwin(f *testing.F) {
	f.Add("4:acme,45:invoices/2024/000000-0123456789abcdef.pdf,", 10, uint64(1))
	f.Add(strings.Repeat("\x00", 32), 0, uint64(2))
	f.Add("short", 5, uint64(3))
	f.Fuzz(func(t *testing.T, id string, keep int, seed uint64) {
		if keep < 0 || keep > len(id) {
			return
		}
		twin, ok := Twin(id, keep, rand.New(rand.NewPCG(seed, 0)))
		if !ok {
			return
		}
		if len(twin) != len(id) || twin[:keep] != id[:keep] {
			t.Fatalf("%q is no twin of %q up to %d", twin, id, keep)
		}
		if !slices.Equal(bitsbloom.Locations([]byte(id), 8), bitsbloom.Locations([]byte(twin), 8)) {
			t.Fatalf("%q and %q have different bits", twin, id)
		}
	})
}

// The attack is real: an ordinary filter lets all of it through, whatever its rate.
func TestMurmur_passesEveryUnkeyedFilter(t *testing.T) {
	keys := keysOf(t, "murmur", 20_000)
	require.EqualValues(t, 1, wellFormed(keys))
	require.Len(t, distinct(keys), len(keys))
	for _, rate := range []float64{1e-2, 1e-9} {
		filter := bitsbloom.NewWithEstimates(10_000, rate)
		for id := range theArchive.IDs() {
			filter.AddString(id)
		}
		for _, key := range keys {
			require.True(t, filter.TestString(archive.ID(key)), "rate %v: %q", rate, key)
		}
	}
}
