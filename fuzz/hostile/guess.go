package hostile

import (
	"math/rand/v2"
	"strings"

	"github.com/earlybird-cache/earlybird/fuzz/archive"
	"github.com/earlybird-cache/earlybird/keyshape"
)

// random draws from all ids that a well-behaved caller could send. No two are likely to
// be the same, so no memory of absences helps.
func random(t *Target, rng *rand.Rand) func() string {
	return t.absent(oneOf(rng,
		func() string { return archive.Product(rng.Uint64()) },
		func() string { return archive.Page(text(rng, slugBytes, 3+rng.IntN(20)), rng.Uint64()) },
		func() string { return archive.Document("en", "acme", text(rng, anyByte, 40)) },
	))
}

// sequential counts ids up, and passes over those that exist: the sweep of a scraper
// who looks for gaps and for what comes next.
func sequential(t *Target, _ *rand.Rand) func() string {
	id := uint64(0)
	return t.absent(func() string {
		id++
		return archive.Product(id)
	})
}

// near makes typing errors in keys that exist: half of them anywhere in the key, half in
// the id alone, which leaves most of them well-formed.
func near(t *Target, rng *rand.Rand) func() string {
	anywhere := func() string { return edit(rng, t.known(rng), anyByte) }
	within := func() string {
		key := t.known(rng)
		if parts, err := keyshape.Split(key); err == nil {
			return archive.Document(parts[0], parts[1], edit(rng, parts[2], anyByte))
		}
		kind, id, _ := strings.Cut(key, ":")
		if kind == "page" {
			return kind + ":" + edit(rng, id, slugBytes)
		}
		return kind + ":" + edit(rng, id, digits)
	}
	return t.absent(oneOf(rng, anywhere, within))
}

const (
	digits    = "0123456789"
	slugBytes = "abcdefghijklmnopqrstuvwxyz0123456789"
)

var anyByte = func() string {
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	return string(all)
}()

// text returns n bytes of the alphabet.
func text(rng *rand.Rand, alphabet string, n int) string {
	out := make([]byte, n)
	for i := range out {
		out[i] = alphabet[rng.IntN(len(alphabet))]
	}
	return string(out)
}

// edit replaces, inserts, drops or swaps one byte of s, which is not empty.
func edit(rng *rand.Rand, s, alphabet string) string {
	i := rng.IntN(len(s))
	b := text(rng, alphabet, 1)
	switch rng.IntN(4) {
	case 0:
		return s[:i] + b + s[i+1:]
	case 1:
		return s[:i] + b + s[i:]
	case 2:
		return s[:i] + s[i+1:]
	}
	j := max(i, 1)
	if len(s) == 1 {
		return s + b
	}
	return s[:j-1] + s[j:j+1] + s[j-1:j] + s[j+1:]
}
