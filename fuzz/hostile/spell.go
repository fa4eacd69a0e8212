package hostile

import (
	"math/rand/v2"
	"strings"

	"github.com/earlybird-cache/earlybird/fuzz/archive"
)

// spelling writes keys that exist as an origin might still understand them. Where it
// does, each spelling is an entry of its own, which no invalidation finds, and the
// supply of them is endless.
func spelling(t *Target, rng *rand.Rand) func() string {
	return t.absent(func() string {
		kind, id, _ := strings.Cut(t.known(rng), ":")
		return pick(rng, spellings)(kind, id, rng)
	})
}

// spellings are ways to write the key kind:id. Those of a document's key change its first
// length, for that is its kind.
var spellings = []func(kind, id string, rng *rand.Rand) string{
	func(kind, id string, rng *rand.Rand) string { return kind + ":" + zeros(rng) + id },
	func(kind, id string, rng *rand.Rand) string { return zeros(rng) + kind + ":" + id },
	func(kind, id string, _ *rand.Rand) string { return kind + ":+" + id },
	func(kind, id string, _ *rand.Rand) string { return kind + ":-" + id },
	func(kind, id string, rng *rand.Rand) string { return kind + ":" + id + spaces(rng) },
	func(kind, id string, rng *rand.Rand) string { return spaces(rng) + kind + ":" + id },
	func(kind, id string, rng *rand.Rand) string { return kind + ":" + id + "." + zeros(rng) },
	func(kind, id string, _ *rand.Rand) string { return kind + ":" + id + "/" },
	func(kind, id string, _ *rand.Rand) string { return kind + ":" + id + "#" },
	func(kind, id string, rng *rand.Rand) string { return kind + ":" + id + "?v=" + text(rng, digits, 6) },
	func(kind, id string, _ *rand.Rand) string { return kind + "%3A" + id },
	func(kind, id string, _ *rand.Rand) string { return kind + ":" + "%" + hexOf(id[0]) + id[1:] },
	func(kind, id string, _ *rand.Rand) string { return "P" + kind + ":" + id },
	func(kind, id string, _ *rand.Rand) string { return strings.ToUpper(kind+":"+id[:1]) + id[1:] + "%00" },
	func(kind, id string, _ *rand.Rand) string { return kind + ":0x" + id },
	func(kind, id string, _ *rand.Rand) string { return kind + ":" + id + "e0" },
	func(kind, id string, _ *rand.Rand) string { return kind + "::" + id },
	func(kind, id string, _ *rand.Rand) string { return kind + ":" + id + "' OR '1'='1" },
	func(kind, id string, _ *rand.Rand) string { return "../" + kind + ":" + id },
}

func zeros(rng *rand.Rand) string { return strings.Repeat("0", 1+rng.IntN(20)) }

func spaces(rng *rand.Rand) string { return text(rng, " \t\r\n\v\x00", 1+rng.IntN(8)) }

func hexOf(b byte) string {
	const hex = "0123456789ABCDEF"
	return string([]byte{hex[b>>4], hex[b&15]})
}

// unicode writes what looks like a key that exists, and what is no text at all. In the
// names of documents, where any byte may stand, that is well-formed.
func unicode(t *Target, rng *rand.Rand) func() string {
	return t.absent(oneOf(rng,
		func() string { return disguised(rng, t.known(rng)) },
		func() string {
			locale, tenant, name := t.document(rng)
			return archive.Document(locale, tenant, disguised(rng, name))
		},
		func() string { return text(rng, anyByte, rng.IntN(64)) },
	))
}

// disguised replaces one byte of s by something that looks like it, or puts something
// invisible or broken in.
func disguised(rng *rand.Rand, s string) string {
	i := rng.IntN(len(s))
	if looks, ok := lookAlikes[s[i]]; ok && rng.IntN(2) == 0 {
		return s[:i] + pick(rng, looks) + s[i+1:]
	}
	return s[:i] + pick(rng, unseen) + s[i:]
}

var lookAlikes = map[byte][]string{
	'a': {"а", "ɑ", "a\u0301", "ａ"},
	'c': {"с", "ⅽ", "ｃ"},
	'd': {"ԁ", "ⅾ", "ｄ"},
	'e': {"е", "℮", "é", "e\u0301", "ｅ"},
	'i': {"і", "ı", "ⅰ", "ｉ"},
	'o': {"о", "ο", "ｏ"},
	'p': {"р", "ρ", "ｐ"},
	's': {"ѕ", "ｓ"},
	'0': {"０", "٠", "߀", "𝟎"},
	'1': {"１", "١", "𝟏", "l"},
	'7': {"７", "٧", "𝟕"},
	':': {"：", "։", "꞉"},
	',': {"，", "‚"},
	'-': {"‐", "–", "−", "\u00ad"},
	'/': {"∕", "⁄", "／"},
	'.': {"．", "․", "。"},
}

var unseen = []string{
	"\u200b", "\u200d", "\u2060", "\ufeff", // without width
	"\u202e", "\u2066", // right to left
	"\u0301", "\ufe0f", // marks on what comes before
	"\x00", "\x1b[2J", "\x7f", "\r\n", // controls
	"\xff", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82", // not UTF-8
	"\U000e0041", "\uffff",
}
