package keyshape

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCompile_pointsAtTheColumn(t *testing.T) {
	for _, c := range []struct {
		pattern string
		column  int
		reason  string
	}{
		{"", 1, "empty"},
		{"user:{uin}", 7, `no class is named "uin"`},
		{"user:{}", 7, `no class is named ""`},
		{"user:{uint", 6, "never closed"},
		{`user:{uint\}`, 6, "never closed"},
		{"user:uint}", 10, "stands for itself only as"},
		{"a|b", 2, "stands for itself only as"},
		{`a\d`, 2, "escapes"},
		{`ab\`, 3, "escapes"},
		{"{a{b|c}", 3, "stands for itself only as"},
		{`{a|b\n}`, 5, "escapes"},
		{"x{a|b|a}", 7, `"a" twice`},
		{"x{uint|uuid}", 3, "not classes"},
		{"{uint:}", 7, "nothing follows"},
		{"{uint:7}", 7, "not a range"},
		{"{uint:07..9}", 7, "not a bound"},
		{"{uint:-1..9}", 7, "not a bound"},
		{"{uint:1..18446744073709551616}", 10, "not a bound"},
		{"{int:1..+9}", 9, "not a bound"},
		{"{int:-0..9}", 6, "not a bound"},
		{"{int:9..1}", 6, "range is empty"},
		{"{uuid:4}", 7, "no argument"},
		{"{ulid:4}", 7, "no argument"},
		{"{hex}", 5, "needs a length"},
		{"{hex:0}", 6, "not a length"},
		{"{hex:08}", 6, "not a length"},
		{"{hex:+8}", 6, "not a length"},
		{"{hex:1025}", 6, "not a length"},
		{"{hex:4..}", 9, "not a length"},
		{"{hex:9..4}", 6, "range is empty"},
		{"{snowflake}", 11, "needs an epoch"},
		{"{snowflake:mastodon}", 12, "needs an epoch"},
		{"{snowflake:-1}", 12, "needs an epoch"},
		{"{snowflake:007}", 12, "needs an epoch"},
		{"{snowflake:9223372036854775807}", 12, "needs an epoch"},
		{"{base32:6}", 9, "no number of whole bytes"},
		{"{base64url:13}", 12, "no number of whole bytes"},
		{"{luhn:1..4}", 7, "at least 2"},
		{"{luhn:65}", 7, "not a length"},
		{"{mod97:2}", 8, "at least 3"},
		{"{isbn10:10}", 9, "no argument"},
		{"{isbn13:x}", 9, "no argument"},
		{"{re}", 4, "needs a length"},
		{"{re:[a-z]+}", 5, "not a length"},
		{"{re:1..4}", 9, "followed by a colon"},
		{"{re:1..257:x}", 8, "not a length"},
		{"{re:1..4:[a-z}", 10, "missing closing ]"},
		{"{re:1..4:x{2}", 1, "never closed"},
		{"{re:1..4:(}", 10, "missing closing )"},
		{"{re:1..4:a)|(b}", 10, "unexpected )"},
		{"{slug}-{re:1..4:x+}{uint}", 8, "neighbours decide"},
		{"{slug}-{luhn:9}{uint}", 8, "neighbours decide"},
		{"{base32:2..8}{upper:1..2}", 1, "neighbours decide"},
		{"{slug:3...9}", 10, "not a length"},
		{"a{slug:1024}{slug:1024}", 13, "longer than 2048"},
		{strings.Repeat("{uint}", 65), 385, "more than 64"},
		{strings.Repeat("x", 4097), 4097, "longer than 4096"},
	} {
		set, err := Compile("ok", c.pattern)
		require.Nil(t, set)
		var bad *PatternError
		require.ErrorAs(t, err, &bad, "%q", c.pattern)
		require.Equal(t, c.pattern, bad.Pattern)
		require.Contains(t, bad.Reason, c.reason, "%q", c.pattern)
		require.Equal(t, c.column, bad.Column, "%q: %s", c.pattern, bad.Reason)
	}
}

func TestCompile_refusesNoPattern(t *testing.T) {
	_, err := Compile()
	require.ErrorContains(t, err, "no pattern was given")
}

func TestMustCompile_panicsWithTheError(t *testing.T) {
	require.PanicsWithError(t, `keyshape: pattern "{x}", column 2: no class is named "x"`, func() { MustCompile("{x}") })
}

// The rules for ends are an optimisation that no answer shows; this shows that
// ordinary patterns get the one-pass rules.
func TestCompile_decidesEndsOfOrdinaryPatterns(t *testing.T) {
	for pattern, want := range map[string][]ending{
		"user:{uint}":             {byWidth, byTail},
		"{uuid}":                  {byWidth},
		"{slug}/{uint}":           {atRunEnd, byWidth, byTail},
		"{uint}{hex:4}":           {byTail, byWidth},
		"{en|de}/{uint}":          {byWidth, byWidth, byTail},
		"{en|en-US}/{uint}":       {atRunEnd, byWidth, byTail},
		"{en|de-AT}-{uint}":       {byLongest, byWidth, byTail},
		"{slug}-{uint}":           {undecided, byWidth, byTail},
		"{uint}{|x}{slug}":        {undecided, undecided, byTail},
		"{en|en-US}-{uint}":       {undecided, byWidth, byTail},
		"{uint}{uuid}-{hex:1..2}": {undecided, byWidth, byWidth, byTail},
	} {
		p, err := compile(pattern)
		require.NoError(t, err)
		var got []ending
		for _, c := range p.pieces {
			got = append(got, c.end)
		}
		require.Equal(t, want, got, pattern)
	}
}
