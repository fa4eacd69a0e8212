package earlybird

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird/store"
)

func TestGuardMark_isReadAsItWasWritten(t *testing.T) {
	for _, m := range []guardMark{
		{place: "era/1", known: []string{}},
		{place: "era/1", known: []string{"", "a\x00\xff"}},
	} {
		got, ok := parseGuardMark(m.String())
		require.True(t, ok)
		require.Equal(t, m, got)
	}
	many := guardMark{place: "era/1"}
	for i := range 100 {
		many.known = append(many.known, strings.Repeat("k", 50*i))
	}
	require.LessOrEqual(t, len(many.String()), store.MaxMark)
	got, ok := parseGuardMark(many.String())
	require.True(t, ok)
	require.Equal(t, many.known[:len(got.known)], got.known)
	require.Len(t, got.known, 6)
	for _, s := range []string{"", "\x01", "\x01\x00", "\x01\x05a", "\x02\x01a", "\x01\x01a\xff", strings.Repeat("\x01", 2000)} {
		_, ok := parseGuardMark(s)
		require.False(t, ok, "%q", s)
	}
}

func FuzzGuardMark(f *testing.F) {
	for i := range 10 {
		f.Add(guardMark{place: fmt.Sprint("era/", i), known: make([]string, i)}.String())
	}
	f.Fuzz(func(t *testing.T, s string) {
		m, ok := parseGuardMark(s)
		if !ok {
			return
		}
		require.NotEmpty(t, m.place)
		again, ok := parseGuardMark(m.String())
		require.True(t, ok)
		require.Equal(t, m, again)
	})
}
