package keyshape

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// vocabulary is pieces of patterns, each with strings in it and just outside.
var vocabulary = []struct {
	piece   string
	samples []string
}{
	{"{uint}", []string{"0", "7", "42", "18446744073709551615", "18446744073709551616", "07"}},
	{"{uint:8..12}", []string{"8", "9", "12", "7", "13", "08"}},
	{"{int}", []string{"0", "-1", "99", "-0", "-9223372036854775808"}},
	{"{int:-3..11}", []string{"-3", "11", "1", "-4", "12"}},
	{"{int:-30..-4}", []string{"-4", "-30", "-3", "4"}},
	{"{uuid}", []string{"123e4567-e89b-12d3-a456-426614174000"}},
	{"{ulid}", []string{"01ARZ3NDEKTSV4RRFFQ69G5FAV", "81ARZ3NDEKTSV4RRFFQ69G5FAV"}},
	{"{hex:2}", []string{"00", "a7"}},
	{"{hex:1..3}", []string{"a", "00", "fff", "ffff"}},
	{"{base58:1..4}", []string{"1", "zz", "Az9k", "0"}},
	{"{slug}", []string{"a", "a-b", "12-7", "a--b", "-"}},
	{"{slug:60..70}", []string{strings.Repeat("a", 62), strings.Repeat("a-", 31) + "a", strings.Repeat("7", 64), strings.Repeat("7", 66)}},
	{"{slug:2..4}", []string{"ab", "a-b", "abcd", "a-", "a"}},
	{"{digits:1..3}", []string{"0", "00", "123"}},
	{"{lower:1..2}", []string{"a", "zz", "A"}},
	{"{upper:1..2}", []string{"A", "ZZ", "a"}},
	{"{base62:1..3}", []string{"a", "Z0", "-"}},
	{"{crockford:2}", []string{"0Z", "0U"}},
	{"{base32:2..7}", []string{"MY", "MZ", "MZXQ", "MZXW6", "MZXW6YQ"}},
	{"{base64url:2..4}", []string{"Zg", "Zh", "Zm8", "Zm9", "Zm9v"}},
	{"{luhn:2..5}", []string{"18", "19", "00", "26", "12344"}},
	{"{mod97:3..4}", []string{"195", "098", "001", "A69", "0098"}},
	{"{isbn10}", []string{"080442957X", "0306406152", "0306406153"}},
	{"{isbn13}", []string{"9780306406157", "9780306406158"}},
	{"{snowflake:0}", []string{"0", "4194304", "4194303", "12582912000", "251658240000", "251662434304", "251662434303"}},
	{"{re:1..3:a+|b{2}}", []string{"a", "aaa", "bb", "aaaa"}},
	{"{a|ab|}", []string{"", "a", "ab", "b"}},
	{"{1|-1|1-}", []string{"1", "-1", "1-"}},
	{`{\||x}`, []string{"|", "x", `\`}},
	{"-", []string{"-", "--"}},
	{"a", []string{"a"}},
	{`\{1`, []string{"{1", "1"}},
}

// draw makes a pattern of a few pieces and a key that nearly fits it.
func draw(rng *rand.Rand) (pattern, key string) {
	var text, sample strings.Builder
	for range 1 + rng.IntN(4) {
		v := vocabulary[rng.IntN(len(vocabulary))]
		text.WriteString(v.piece)
		sample.WriteString(v.samples[rng.IntN(len(v.samples))])
	}
	return text.String(), damage(rng, sample.String())
}

// damage leaves half of the keys alone and changes, drops or doubles a byte of
// the others.
func damage(rng *rand.Rand, key string) string {
	if key == "" || rng.IntN(2) == 0 {
		return key
	}
	i := rng.IntN(len(key))
	switch rng.IntN(3) {
	case 0:
		return key[:i] + string("0a-Z\xff"[rng.IntN(5)]) + key[i+1:]
	case 1:
		return key[:i] + key[i+1:]
	default:
		return key[:i] + key[i:i+1] + key[i:]
	}
}

// The epoch of the vocabulary's snowflakes is 1970, so that all of these are
// near the edge between past and future.
func drawNow(rng *rand.Rand) time.Time {
	return time.UnixMilli(rng.Int64N(3) - 60_000)
}

func TestMatchAt_agreesWithTheReference(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	const draws = 6000
	matched, refused := 0, 0
	for range draws {
		pattern, key := draw(rng)
		now := drawNow(rng)
		set, err := Compile(pattern)
		if err != nil {
			require.ErrorContains(t, err, "neighbours decide")
			refused++
			continue
		}
		want := referenceMatch(pattern, key, now)
		require.Equal(t, want, set.MatchAt(key, now), "%s, %q, %d", pattern, key, now.UnixMilli())
		if want {
			matched++
		}
	}
	require.Greater(t, matched, draws/10, "hardly any key matched, so little was tested")
	require.Less(t, refused, draws/2, "hardly any pattern compiled, so little was tested")
}

func FuzzMatch(f *testing.F) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		pattern, key := draw(rng)
		f.Add(pattern, key, drawNow(rng).UnixMilli())
	}
	f.Add("user:{uint", "user:1", int64(0))
	f.Add("{en|en-US}-{slug:1..9}", "en-US-a", int64(0))
	f.Fuzz(func(t *testing.T, pattern, key string, millis int64) {
		now := time.UnixMilli(millis % (1 << 60))
		if len(key) > 200 || len(pattern) > 200 {
			return // the reference is slow
		}
		set, err := Compile(pattern)
		if err != nil {
			var bad *PatternError
			if !errors.As(err, &bad) || bad.Pattern != pattern || bad.Column < 1 || bad.Column > len(pattern)+1 {
				t.Fatalf("%q: an error that points nowhere: %#v", pattern, err)
			}
			return
		}
		if got, want := set.MatchAt(key, now), referenceMatch(pattern, key, now); got != want {
			t.Fatalf("%s, %q, %v: got %v, want %v", pattern, key, now, got, want)
		}
	})
}

// FuzzJoin cuts two strings into lists of parts, and wants a key of its own for
// each list, which Split and Part take apart again.
func FuzzJoin(f *testing.F) {
	f.Add("acme1\x0023", "acme\x00123", "\x00", "\x00")
	f.Add("a:b,cd:e", "ab:c,d:e", ",", ",")
	f.Add("a,b:c", "a,b:c", ",", ":")
	f.Add("", "\x00", "\x00", "\x00")
	f.Fuzz(func(t *testing.T, first, second, cutFirst, cutSecond string) {
		a, b := strings.Split(first, cutFirst), strings.Split(second, cutSecond)
		if got, want := Join(a...) == Join(b...), slices.Equal(a, b); got != want {
			t.Fatalf("%q and %q: equal keys %v, equal lists %v", a, b, got, want)
		}
		key := Join(a...)
		got, err := Split(key)
		if err != nil {
			t.Fatalf("%q: %v", key, err)
		}
		if !slices.Equal(got, a) {
			t.Fatalf("%q splits into %q, not %q", key, got, a)
		}
		for i, want := range a {
			if got, ok := Part(key, i); !ok || got != want {
				t.Fatalf("Part(%q, %d) = %q, %v, want %q", key, i, got, ok, want)
			}
		}
	})
}

// FuzzSplit wants any key either refused by Split, Part and Joined alike, or
// made by Join of exactly the parts that Split finds.
func FuzzSplit(f *testing.F) {
	for _, key := range []string{"", "0:,", "5:acme1,2:23,", "05:acme1,", "1:a,1:b", "18446744073709551617:a,"} {
		f.Add(key)
	}
	f.Fuzz(func(t *testing.T, key string) {
		parts, err := Split(key)
		_, ok := Part(key, 0)
		if err != nil {
			if !errors.Is(err, ErrNotJoined) || ok {
				t.Fatalf("%q: Split says %v, Part %v", key, err, ok)
			}
			return
		}
		if again := Join(parts...); again != key {
			t.Fatalf("%q splits into %q, which join to %q", key, parts, again)
		}
		if ok != (len(parts) > 0) || !Joined(make([]*Set, len(parts))...).Match(key) {
			t.Fatalf("%q: Part and Joined disagree with Split", key)
		}
	})
}
