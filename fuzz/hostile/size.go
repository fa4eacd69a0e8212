package hostile

import (
	"math/rand/v2"
	"strings"

	"github.com/earlybird-cache/earlybird/fuzz/archive"
)

// oversize asks for keys of up to 1 MiB, which cost whoever hashes or copies them before
// looking at their length, and for documents with the longest names that are allowed,
// which cost memory wherever they are remembered.
func oversize(t *Target, rng *rand.Rand) func() string {
	huge := "product:" + strings.Repeat("7", 1<<20)
	frame := len(archive.Document("en", "acme", huge[:t.MaxKeyLen])) - t.MaxKeyLen
	longest := t.MaxKeyLen - frame // name of a document
	return t.absent(oneOf(rng,
		func() string { return huge[:t.MaxKeyLen+1+rng.IntN(len(huge)-t.MaxKeyLen)] },
		func() string { return huge[:t.MaxKeyLen+1] },
		func() string { return archive.Document("en", "acme", text(rng, anyByte, 16)+huge[:longest-16]) },
	))
}

// tangle asks for keys that look well-formed for as long as possible, in many ways at
// once: every hyphen of a slug may be the one before the number. Where shapes are
// matched by trying each, that takes time that grows faster than the key.
func tangle(t *Target, rng *rand.Rand) func() string {
	return t.absent(oneOf(rng,
		func() string { return "page:" + hyphened(rng, 60) + "x" },
		func() string { return "page:" + hyphened(rng, 60) + "-" },
		func() string { return "page:" + hyphened(rng, 60) + "99999999999999999999" },
		func() string { return "page:" + strings.Repeat("1-", 50+rng.IntN(20)) + "-1" },
		func() string { return strings.Repeat("1:,", 1+rng.IntN(t.MaxKeyLen/3)) },
		func() string { return strings.Repeat("9", 1+rng.IntN(t.MaxKeyLen-1)) + ":" },
	))
}

// hyphened returns a slug of n words of one letter or digit.
func hyphened(rng *rand.Rand, n int) string {
	var b strings.Builder
	for range n {
		b.WriteString(text(rng, slugBytes, 1) + "-")
	}
	return b.String()
}
