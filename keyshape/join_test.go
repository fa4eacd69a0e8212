package keyshape

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"
)

func TestJoin_spellsLengthsOut(t *testing.T) {
	require.Equal(t, "", Join())
	require.Equal(t, "0:,", Join(""))
	require.Equal(t, "5:acme1,2:23,", Join("acme1", "23"))
	require.Equal(t, "12:"+strings.Repeat("x", 12)+",", Join(strings.Repeat("x", 12)))
	require.Equal(t, Join("a", "b", "c"), Join("a")+Join("b", "c"))
}

// Lists that one way or another of gluing parts together confuses: nothing
// between them, a separator that parts may contain, an escape that parts may
// contain, a field name glued to its value, a terminator.
func TestJoin_tellsListsApartThatGlueConfuses(t *testing.T) {
	keys := map[string][]string{}
	for _, parts := range [][]string{
		{"acme1", "23"}, {"acme", "123"},
		{"a:b", "cd:e"}, {"ab:c", "d:e"}, {"a", "b:cd:e"}, {"a:b:cd:e"},
		{"a,b"}, {"a", "b"}, {"a", "", "b"}, {"a,", "b"}, {"a", ",b"},
		{}, {""}, {"", ""}, {"", "", ""}, {","}, {":"}, {"0:,"}, {"0:,", ""},
		{"1:a,"}, {"1:a,", "1:b,"}, {"1:a,1:b,"}, {"a,1:b"},
		{`a\`, "b"}, {`a\,b`}, {"a\x00b"}, {"a", "\x00b"}, {"a\x00", "b"}, {"\x00"},
		{"user", "7", "en"}, {"user", "7en"}, {"user7", "en"}, {"us", "er7en"},
		{"é"}, {"e\u0301"}, {"\xc3"}, {"\xc3", "\xa9"},
	} {
		key := Join(parts...)
		if other, taken := keys[key]; taken {
			t.Fatalf("%q and %q share the key %q", parts, other, key)
		}
		keys[key] = parts
		got, err := Split(key)
		require.NoError(t, err)
		require.Equal(t, parts, got)
	}
}

// Lists drawn from few parts and few bytes meet often enough for a collision
// to show: about 20,000 draws of some 4,000 lists.
func TestJoin_equalKeysOnlyForEqualLists(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	keys := map[string][]string{}
	for range 20_000 {
		parts := make([]string, rng.IntN(4))
		for i := range parts {
			for range rng.IntN(4) {
				parts[i] += string("01:,"[rng.IntN(4)])
			}
		}
		key := Join(parts...)
		if other, taken := keys[key]; taken {
			require.Equal(t, other, parts, "both make %q", key)
		}
		keys[key] = parts
	}
}

func TestSplit_refusesEverySecondSpelling(t *testing.T) {
	for _, key := range []string{
		"1", "1:", "1:a", "1:a;", "a", ",", ":", ":,", ":a,", "0:", "0,", "1:ab,", "2:a,", "-1:a,", "+1:a,", " 1:a,", "1 :a,", "1:a, ", "1:a,\n",
		"01:a,", "00:,", "1:a,01:b,", "1:a,1:b", "1:a,x", "0x1:a,", "1.0:a,", "١:a,",
		"18446744073709551617:a,", "9223372036854775807:a,", "9999999999999999999999999999:a,", "4294967297:a,",
	} {
		_, err := Split(key)
		require.ErrorIs(t, err, ErrNotJoined, "%q", key)
		_, ok := Part(key, 0)
		require.False(t, ok, "Part must not trust %q", key)
		require.False(t, Joined(nil).Match(key), "%q", key)
	}
}

func TestPart_isTheInverseOfJoin(t *testing.T) {
	parts := []string{"acme", "", "1:a,", strings.Repeat("\x00", 1000)}
	key := Join(parts...)
	for i, want := range parts {
		got, ok := Part(key, i)
		require.True(t, ok)
		require.Equal(t, want, got)
	}
	for _, i := range []int{-1, 4, 1 << 30} {
		got, ok := Part(key, i)
		require.False(t, ok)
		require.Empty(t, got)
	}
	_, ok := Part("", 0)
	require.False(t, ok, "the empty list has no part")
}

func TestPart_refusesAKeyDamagedBehindThePart(t *testing.T) {
	_, ok := Part(Join("a", "b")+"junk", 0)
	require.False(t, ok)
}

func TestSplitAndPart_copyNothing(t *testing.T) {
	key := Join("acme", "", "1234567")
	within := func(s string) bool {
		lo, at := uintptr(unsafe.Pointer(unsafe.StringData(key))), uintptr(unsafe.Pointer(unsafe.StringData(s)))
		return lo <= at && at+uintptr(len(s)) <= lo+uintptr(len(key))
	}
	parts, err := Split(key)
	require.NoError(t, err)
	for i, want := range parts {
		got, _ := Part(key, i)
		require.True(t, within(got) && within(want), "part %d was copied", i)
	}
	require.Zero(t, testing.AllocsPerRun(100, func() {
		Part(key, 2)
		Part(key+"", 9)
		_, _ = Split("1:a,1:b")
	}))
	require.Equal(t, 1.0, testing.AllocsPerRun(100, func() { _, _ = Split(key) }), "the slice only")
	require.Equal(t, 1.0, testing.AllocsPerRun(100, func() { Join("acme", "", "1234567") }), "the key only")
}

func TestJoined_matchesPartByPart(t *testing.T) {
	set := Joined(MustCompile("{slug}"), nil, MustCompile("{uint}", "{uuid}"))
	require.True(t, set.Match(Join("acme", "\x00 anything", "7")))
	require.True(t, set.Match(Join("acme", "", "123e4567-e89b-12d3-a456-426614174000")))
	for _, key := range []string{
		"", "acme", Join("acme", "x", "07"), Join("Acme", "x", "7"), Join("acme", "x"), Join("acme", "x", "7", ""), Join("acme", "x", "7") + "x",
		"4:acme,1:x,01:7,",
	} {
		require.False(t, set.Match(key), "%q", key)
	}
	require.True(t, Joined().Match(Join()))
	require.False(t, Joined().Match(Join("")))
}

func TestJoined_nests(t *testing.T) {
	set := Joined(MustCompile("v1"), Joined(MustCompile("{uint}"), MustCompile("{slug}")))
	require.True(t, set.Match(Join("v1", Join("7", "a-b"))))
	require.False(t, set.Match(Join("v1", Join("7", "a--b"))))
	require.False(t, set.Match(Join("v1", "7", "a-b")))
}

func TestJoined_keepsItsOwnSets(t *testing.T) {
	sets := []*Set{MustCompile("a")}
	set := Joined(sets...)
	sets[0] = nil
	require.False(t, set.Match(Join("b")))
}
