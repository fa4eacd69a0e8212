package keyshape

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestMatch_acceptsExactlyTheClass(t *testing.T) {
	for _, c := range []struct {
		pattern string
		yes, no []string
	}{
		{"{uint}",
			[]string{"0", "7", "10", "18446744073709551615"},
			[]string{"", "00", "07", "+7", "-7", "-0", " 7", "7 ", "7\x00", "1e3", "0x7", "٧", "18446744073709551616", "99999999999999999999", "100000000000000000000"}},
		{"{uint:1..100}",
			[]string{"1", "9", "10", "100"},
			[]string{"0", "01", "101", "-1", "1000"}},
		{"{int}",
			[]string{"0", "-1", "9223372036854775807", "-9223372036854775808"},
			[]string{"-", "-0", "+1", "--1", "-01", "1-", "9223372036854775808", "-9223372036854775809"}},
		{"{int:-20..-3}",
			[]string{"-3", "-9", "-10", "-20"},
			[]string{"-2", "-21", "3", "20", "0", "-"}},
		{"{int:-5..12}",
			[]string{"-5", "-1", "0", "9", "12"},
			[]string{"-6", "13", "-0", "-12", "00"}},
		{"{int:-5..0}", []string{"-5", "0"}, []string{"-6", "1", "-0"}},
		{"{int:0..0}", []string{"0"}, []string{"-0", "1", "-1", "00"}},
		{"{int:5..5}", []string{"5"}, []string{"4", "6", "-5", "05"}},
		{"{uuid}",
			[]string{"00000000-0000-0000-0000-000000000000", "123e4567-e89b-12d3-a456-426614174000", "ffffffff-ffff-ffff-ffff-ffffffffffff"},
			[]string{"123E4567-e89b-12d3-a456-426614174000", "123e4567e89b12d3a456426614174000", "{123e4567-e89b-12d3-a456-426614174000}",
				"123e4567-e89b-12d3-a456-42661417400", "123e4567-e89b-12d3-a456-4266141740000", "123e4567-e89b-12d3-a456-42661417400g",
				"123e4567-e89b-12d3-a4560426614174000", "-23e4567-e89b-12d3-a456-426614174000", "123e4567-e89b-12d3-a456-4266141740-0"}},
		{"{ulid}",
			[]string{"01ARZ3NDEKTSV4RRFFQ69G5FAV", "00000000000000000000000000", "7ZZZZZZZZZZZZZZZZZZZZZZZZZ"},
			[]string{"80000000000000000000000000", "01arz3ndektsv4rrffq69g5fav", "01ARZ3NDEKTSV4RRFFQ69G5FA", "01ARZ3NDEKTSV4RRFFQ69G5FAVV",
				"01ARZ3NDEKTSV4RRFFQ69G5FAI", "01ARZ3NDEKTSV4RRFFQ69G5FAL", "01ARZ3NDEKTSV4RRFFQ69G5FAO", "01ARZ3NDEKTSV4RRFFQ69G5FAU", "O1ARZ3NDEKTSV4RRFFQ69G5FAV"}},
		{"{hex:4}", []string{"0000", "beef"}, []string{"", "bee", "beeff", "BEEF", "0xbe", "be f"}},
		{"{hex:1..3}", []string{"0", "00", "fff"}, []string{"", "0000", "g"}},
		{"{base58:2..4}", []string{"11", "Az9", "zzzz"}, []string{"1", "11111", "10", "1O", "1I", "1l", "1+"}},
		{"{slug}",
			[]string{"a", "7", "red-shoes", "a-1-b", strings.Repeat("x", 128)},
			[]string{"", "-", "-a", "a-", "a--b", "A", "a_b", "a b", "é", strings.Repeat("x", 129)}},
		{"{slug:3..5}", []string{"abc", "a-b", "ab-cd"}, []string{"ab", "a-", "abc-de", "ab--c"}},
		{"{digits:3..5}", []string{"000", "01234"}, []string{"12", "123456", "12a", "-12", "١٢٣"}},
		{"{lower:2}", []string{"en"}, []string{"EN", "e", "eng", "e1", "é"}},
		{"{upper:2}", []string{"DE"}, []string{"de", "D", "DEU", "D1"}},
		{"{base62:5..6}", []string{"0aZ9z", "000000"}, []string{"0aZ9", "0aZ9z_0", "0a-9z"}},
		{"{crockford:4}", []string{"0000", "ZY9A"}, []string{"zy9a", "0OOO", "ILI0", "UUUU", "000"}},
		{"{base32:2..8}",
			[]string{"MY", "MZXQ", "MZXW6", "MZXW6YQ", "MZXW6YTB"},
			[]string{"M", "A", "MZA", "MZXW6A", "MZX", "MZXW6Y", "MZ", "MZXW", "MZXW6YTBO", "my", "MY======", "M1", "M0"}},
		{"{base64url:2..12}",
			[]string{"Zg", "Zm8", "Zm9v", "dQw4w9WgXcQ", "_-_-"},
			[]string{"Z", "A", "AAAAA", "Zh", "Zm9", "dQw4w9WgXcR", "Zg==", "Zm+/", "Zm9vY"}},
		{"{luhn:2..19}",
			[]string{"18", "00", "4539578763621486", "79927398713", "0000000018"},
			[]string{"19", "4539578763621487", "4539 5787 6362 1486", "79927398710", "8", "-18"}},
		{"{mod97:20}",
			[]string{"529900T8BM49AURSDO55", "5493001KJTIIGC8Y1R12"},
			[]string{"529900T8BM49AURSDO56", "529900t8bm49aursdo55", "5299O0T8BM49AURSDO55", "529900T8BM49AURSDO5", "529900T8BM49AURSD5OA"}},
		{"{mod97:3}", // 98-100 mod 97 is 95; of 0, 98; 97 more or less is no spelling
			[]string{"195", "098"},
			[]string{"001", "196", "095"}},
		{"{isbn10}",
			[]string{"0306406152", "080442957X", "0000000000"},
			[]string{"0306406153", "080442957x", "0804429570", "X804429570", "X00000000X", "0-306-40615-2", "030640615"}},
		{"{isbn13}",
			[]string{"9780306406157", "9791034304523", "9780134190440"},
			[]string{"9780306406158", "9770306406150", "978-0-306-40615-7", "0306406152", "978030640615X"}},
		{"{snowflake:twitter}",
			[]string{"0", "1541815603606036480", "9223372036854775807"},
			[]string{"9223372036854775808", "01541815603606036480", "-1", "", "+1"}},
		{`{re:2..4:[a-z]{2}(\{\})?|[x\}]{3}}`,
			[]string{"ab", "ab{}", "xx}"},
			[]string{"a", "abc", "ab{", "AB", "xxxx", "ab\n"}},
		{"a{re:1..3:é+}b", []string{"aéb"}, []string{"aééb", "ab", "a\xc3b", "a\xa9b"}},
		{"{en|de|}", []string{"en", "de", ""}, []string{"e", "end", "EN", "fr", "en|de"}},
		{`{a\|b|c\}|\{\\}`, []string{"a|b", "c}", `{\`}, []string{"a", "b", "c", `\`, `{\\`}},
		{`\{x\}\|\\`, []string{`{x}|\`}, []string{`\{x\}\|\\`, `{x}`}},
		{"käse:\x00\xff", []string{"käse:\x00\xff"}, []string{"käse:", "kase:\x00\xff"}},
	} {
		set := MustCompile(c.pattern)
		for _, key := range c.yes {
			require.True(t, set.Match(key), "%s must match %q", c.pattern, key)
			require.True(t, referenceMatch(c.pattern, key, farFuture), "the reference disagrees: %s, %q", c.pattern, key)
		}
		for _, key := range c.no {
			require.False(t, set.Match(key), "%s must not match %q", c.pattern, key)
			require.False(t, referenceMatch(c.pattern, key, farFuture), "the reference disagrees: %s, %q", c.pattern, key)
		}
	}
}

func TestMatch_coversTheWholeKey(t *testing.T) {
	set := MustCompile("user:{uint}:{slug}")
	require.True(t, set.Match("user:12:ann-lee"))
	for _, key := range []string{"", "user:12:", "user:12", " user:12:ann", "user:12:ann\n", "user:12:ann:1", "user::ann", "xuser:12:ann", "user:12:ann\x00"} {
		require.False(t, set.Match(key), "%q", key)
	}
}

func TestMatch_triesEveryPattern(t *testing.T) {
	set := MustCompile("user:{uint}", "user:{uuid}", "home")
	for _, key := range []string{"user:1", "user:123e4567-e89b-12d3-a456-426614174000", "home"} {
		require.True(t, set.Match(key), "%q", key)
	}
	require.False(t, set.Match("user:home"))
}

// Where classes overlap, a key matches if any division of it does.
func TestMatch_findsADivisionIfThereIsOne(t *testing.T) {
	for _, c := range []struct {
		pattern, key string
		want         bool
	}{
		{"{slug}-{uint}", "red-shoes-12-7", true},
		{"{slug}-{uint}", "red-shoes-12-07", false},
		{"{slug}-{slug}", "a-b", true},
		{"{slug}-{slug}", "a--b", false},
		{"{uint}{uint}", "184467440737095516150", true},
		{"{uint}{uint}", "0123", true},
		{"{uint}{uint}", "00123", false},
		{"{uint}{uint}", "7", false},
		{"{hex:2..4}{hex:2..4}{hex:2}", "abcdef", true},
		{"{hex:2..4}{hex:2..4}{hex:2}", "abcde", false},
		{"{int:-9..9}{int:-9..9}x", "-5-5x", true},
		{"{int:-9..9}{int:-9..9}x", "-5--5x", false},
		{"{a|ab|abc}{c|bc|}d", "abcd", true},
		{"{a|ab}{b|}c{uint}", "abbc1", true},
		{"{a|ab}{b|}c{uint}", "abbbc1", false},
		{"{en|en-US}:{uint}", "en-US:4", true},
		{"{en|en-US}-{uint}", "en-4", true},
		{"{en|en-US}-{uint}", "en-US-4", true},
		{"{en|en-US}-{uint}", "en-UK-4", false},
		{"{x|}{uint}{|y}", "7", true},
		{"{uint}{|a|b}{slug}", "7a", true},
	} {
		require.Equal(t, c.want, referenceMatch(c.pattern, c.key, farFuture), "the reference: %s, %q", c.pattern, c.key)
		require.Equal(t, c.want, MustCompile(c.pattern).Match(c.key), "%s, %q", c.pattern, c.key)
	}
}

// A matcher that tried divisions one after another would not come back from
// any of these before the test times out.
func TestMatch_neverBacktracks(t *testing.T) {
	for _, c := range []struct{ pattern, key string }{
		{strings.Repeat("{slug:1..60}-", 32) + "x", strings.Repeat("a-", 900)},
		{strings.Repeat("{uint}", 50) + "x", strings.Repeat("1", 900)},
		{strings.Repeat("{a|aa|}", 60) + "b{hex:1..900}", strings.Repeat("a", 900)},
		{strings.Repeat("{hex:1..40}{base58:1..20}", 32), strings.Repeat("a", 1000) + "!"},
	} {
		set := MustCompile(c.pattern)
		for range 100 {
			require.False(t, set.Match(c.key), "%s", c.pattern)
		}
	}
}

func TestMatch_allocatesNothing(t *testing.T) {
	set := MustCompile("user:{uint}", "doc:{uuid}", "{en|en-US}/{slug}-{uint}", "{int}{int}{base58:9..20}",
		"{base32:8}", "{mod97:20}", "{isbn10}", "{re:1..9:z+}", "{snowflake:twitter}")
	joined := Joined(set, MustCompile("{uint}"))
	keys := []string{
		"user:123456", "doc:123e4567-e89b-12d3-a456-426614174000", "en/red-shoes-7", "5-6abcdefghi",
		"", "user:0123", "doc:123", "en/red-shoes", strings.Repeat("9", 60), strings.Repeat("x", 5000),
		"MZXW6YTB", "529900T8BM49AURSDO55", "080442957X", "zzz", "1541815603606036480",
		Join("user:1", "7"), Join("user:1", "07"),
	}
	require.Zero(t, testing.AllocsPerRun(100, func() {
		for _, key := range keys {
			set.Match(key)
			joined.Match(key)
		}
	}))
}

func TestMatch_nilMatchesAllAndZeroNone(t *testing.T) {
	var off *Set
	for _, key := range []string{"", "x", "\xff\x00", strings.Repeat("x", 1<<20)} {
		require.True(t, off.Match(key))
		require.False(t, new(Set).Match(key))
	}
}

func TestMatch_isSafeForManyGoroutines(t *testing.T) {
	set := MustCompile("{slug}-{uint}", "{uuid}")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 1000 {
				if !set.Match("red-shoes-12") || set.Match("red-shoes-012-x-") {
					t.Error("a shared set gave a wrong answer")
					return
				}
			}
		})
	}
	wg.Wait()
}

func TestUnion_matchesWhatAnyMemberMatches(t *testing.T) {
	set := Union(MustCompile("{uint}"), Joined(nil, nil), MustCompile("home"))
	for _, key := range []string{"7", "home", Join("a", "b")} {
		require.True(t, set.Match(key), "%q", key)
	}
	require.False(t, set.Match("away"))
	require.Nil(t, Union(MustCompile("x"), nil), "a set that matches everything makes a union that does")
	require.False(t, Union().Match(""))
}

func TestSet_printsItsPatterns(t *testing.T) {
	var off *Set
	require.Equal(t, "*", off.String())
	require.Equal(t, `"user:{uint}" | "{en|de}/{slug}"`, MustCompile("user:{uint}", "{en|de}/{slug}").String())
	require.Equal(t, `Join("{slug}", *, "{uint}" | "{uuid}")`, Joined(MustCompile("{slug}"), nil, MustCompile("{uint}", "{uuid}")).String())
}

// The id was made on 28 June 2022, 16:07:40.105 UTC.
func TestMatchAt_refusesIdsFromTheFuture(t *testing.T) {
	const id = "1541815603606036480"
	made := time.Date(2022, 6, 28, 16, 7, 40, 105e6, time.UTC)
	for _, c := range []struct {
		now  time.Time
		want bool
	}{
		{made, true},
		{made.Add(time.Hour), true},
		{made.Add(-time.Minute), true}, // the clocks of the machines that make ids differ
		{made.Add(-time.Minute - time.Millisecond), false},
		{made.Add(-time.Hour), false},
		{time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC), false},
		{time.Time{}, false},
	} {
		for pattern, key := range map[string]string{
			"{snowflake:1288834974657}":         id,
			"tweet:{snowflake:twitter}":         "tweet:" + id,
			"{slug}-{snowflake:twitter}-{uint}": "a-1-" + id + "-7",
		} {
			require.Equal(t, c.want, referenceMatch(pattern, key, c.now), "the reference: %s at %v", pattern, c.now)
			require.Equal(t, c.want, MustCompile(pattern).MatchAt(key, c.now), "%s at %v", pattern, c.now)
			require.True(t, MustCompile(pattern).Match(key), "Match asks no clock")
		}
		joined := Joined(nil, MustCompile("{snowflake:twitter}"))
		require.Equal(t, c.want, joined.MatchAt(Join("x", id), c.now))
	}
}

func TestMatchAt_isMatchForShapesWithoutTime(t *testing.T) {
	var off *Set
	require.True(t, off.MatchAt("x", time.Time{}))
	set := MustCompile("user:{uint}", "{ulid}")
	require.True(t, set.MatchAt("user:7", time.Time{}))
	require.False(t, set.MatchAt("user:07", farFuture))
}
