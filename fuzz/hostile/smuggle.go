package hostile

import (
	"fmt"
	"math/rand/v2"

	"github.com/earlybird-cache/earlybird/fuzz/archive"
	"github.com/earlybird-cache/earlybird/keyshape"
)

// smuggle takes the key of a document that exists apart and puts it together so that it
// might be taken for the same: by who joins parts with separators, by who reads lengths
// carelessly, or by the guard, which is asked about a part of the key only.
func smuggle(t *Target, rng *rand.Rand) func() string {
	return t.absent(func() string {
		locale, tenant, name := t.document(rng)
		return pick(rng, forgeries)(t, rng, locale, tenant, name)
	})
}

var forgeries = []func(t *Target, rng *rand.Rand, locale, tenant, name string) string{
	// The boundary between two parts is elsewhere.
	func(_ *Target, _ *rand.Rand, l, t, n string) string {
		return keyshape.Join(l, t[:len(t)-1], t[len(t)-1:]+n)
	},
	func(_ *Target, _ *rand.Rand, l, t, n string) string { return keyshape.Join(l, t+n[:1], n[1:]) },
	func(_ *Target, _ *rand.Rand, l, t, n string) string { return keyshape.Join(l+t, n) },
	func(_ *Target, rng *rand.Rand, l, t, n string) string {
		return keyshape.Join(l, t+text(rng, slugBytes, 2), n)
	},

	// Separators inside of parts.
	func(_ *Target, _ *rand.Rand, l, t, n string) string { return keyshape.Join(l, t+","+length(n), n) },
	func(_ *Target, _ *rand.Rand, l, t, n string) string {
		return keyshape.Join(l, "x", ","+keyshape.Join(t, n))
	},
	func(_ *Target, rng *rand.Rand, l, t, n string) string {
		return keyshape.Join(l, t, n+pick(rng, separators)+text(rng, slugBytes, 4))
	},
	func(_ *Target, rng *rand.Rand, l, t, n string) string {
		sep := pick(rng, separators)
		return l + sep + t + sep + n
	},

	// Too many parts, too few, the wrong ones, one within another.
	func(_ *Target, _ *rand.Rand, l, t, n string) string { return keyshape.Join(l, t, n, "") },
	func(_ *Target, _ *rand.Rand, l, _, n string) string { return keyshape.Join(l, n) },
	func(_ *Target, _ *rand.Rand, l, t, n string) string { return keyshape.Join(l, n, t) },
	func(_ *Target, _ *rand.Rand, l, t, n string) string { return keyshape.Join(l, t, keyshape.Join(t, n)) },
	func(_ *Target, _ *rand.Rand, l, t, n string) string {
		return keyshape.Join(l, t, "") + keyshape.Join(l, t, n)
	},
	func(_ *Target, _ *rand.Rand, l, t, n string) string { return keyshape.Join(l) + keyshape.Join(l, t, n) },

	// Lengths that lie, or are written otherwise.
	func(_ *Target, rng *rand.Rand, l, t, n string) string {
		return keyshape.Join(l, t) + fmt.Sprintf("%d:%s,", rng.IntN(2*len(n)), n)
	},
	func(_ *Target, rng *rand.Rand, l, t, n string) string {
		return keyshape.Join(l) + fmt.Sprintf("%d:%s,", uint64(len(t))+1<<(32+rng.IntN(32)), t) + keyshape.Join(n)
	},
	func(_ *Target, rng *rand.Rand, l, t, n string) string {
		return keyshape.Join(l, t) + zeros(rng) + keyshape.Join(n)
	},

	// What the guard is asked about is the ID of something that exists, or of a thing
	// of another kind.
	func(_ *Target, rng *rand.Rand, _, t, n string) string {
		return keyshape.Join(text(rng, slugBytes, 2)) + keyshape.Join(t, n)
	},
	func(target *Target, rng *rand.Rand, l, _, _ string) string {
		return keyshape.Join(l) + target.known(rng)
	},
	func(target *Target, rng *rand.Rand, _, t, n string) string {
		return archive.ID(target.known(rng)) + keyshape.Join(t, n)
	},
}

var separators = []string{":", ",", "/", "|", ";", "\x00", "\x1f", "\n", "::", ",0:,"}

func length(s string) string { return fmt.Sprintf("%d:", len(s)) }
