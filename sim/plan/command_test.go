package plan

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func run(args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = Main(args, &out, &errs)
	return code, out.String(), errs.String()
}

func TestMain_badInputIsOneLine(t *testing.T) {
	for args, want := range map[string]string{
		"-rate NaN":          "-rate",
		"-rate -1":           "-rate",
		"-rate 0":            "-rate",
		"-rate +Inf":         "-rate",
		"-delta 0s":          "-delta",
		"-delta -1s":         "-delta",
		"-delta 2":           "-delta",
		"-deviation -1s":     "-deviation",
		"-ttl 99ms":          "-ttl 99ms is shorter than -delta 100ms",
		"-ttl -1m":           "-ttl",
		"-ttl 10000h":        "-ttl",
		"-keys 0":            "-keys",
		"-keys -5":           "-keys",
		"-keys 99999999999":  "-keys",
		"-instances 0":       "-instances",
		"-instances 1.5":     "-instances",
		"-roundtrip -1ms":    "-roundtrip",
		"-roundtrip 2m":      "-roundtrip",
		"-capacity 0":        "-capacity",
		"-capacity NaN":      "-capacity",
		"-concurrent -1":     "-concurrent",
		"-node 0":            "-node",
		"-node NaN":          "-node",
		"-other -1":          "-other",
		"-other 1e9":         "-other",
		"-staleness -1s":     "-staleness",
		"-staleness 2m":      "-staleness",
		"-extra 0":           "-extra",
		"-extra NaN":         "-extra",
		"-extra 11":          "-extra",
		"-late 0":            "-late",
		"-late 1":            "-late",
		"-late NaN":          "-late",
		"-seed -1":           "-seed",
		"-unknown":           "-unknown",
		"plan":               `"plan"`,
		"-json unasked-for ": `"unasked-for"`,
	} {
		code, stdout, stderr := run(strings.Fields(args)...)
		require.Equal(t, 2, code, args)
		require.Empty(t, stdout, args)
		require.Contains(t, stderr, want, args)
		require.Equal(t, 1, strings.Count(stderr, "\n"), "%s: %q", args, stderr)
	}
}

func TestMain_helpIsNotAnError(t *testing.T) {
	code, stdout, stderr := run("-h")
	require.Zero(t, code)
	require.Empty(t, stderr)
	for _, flag := range []string{"-rate", "-delta", "-ttl", "-instances", "-capacity", "-concurrent", "-keys", "-extra", "-late", "-seed", "-json"} {
		require.Contains(t, stdout, "\n  "+flag)
	}
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestMain_lostOutputFails(t *testing.T) {
	for _, format := range []string{"-json=false", "-json"} {
		var stderr bytes.Buffer
		require.Equal(t, 1, Main([]string{format}, brokenPipe{}, &stderr))
		require.Contains(t, stderr.String(), "broken pipe")
	}
}

func TestMain_jsonSaysTheSame(t *testing.T) {
	args := []string{"-json", "-rate", "3", "-capacity", "500", "-concurrent", "20"}
	code, stdout, stderr := run(args...)
	require.Zero(t, code, stderr)
	var got planJSON
	decoder := json.NewDecoder(strings.NewReader(stdout))
	decoder.DisallowUnknownFields()
	require.NoError(t, decoder.Decode(&got))

	s := Default
	s.Rate, s.Capacity, s.Concurrent = 3, 500, 20
	p := Make(s)
	require.Equal(t, 3.0, got.Setup.Rate)
	require.Equal(t, 200.0, got.MaxLoadRate, "20 calls of 100 ms at once")
	require.Equal(t, p.Refresh.Beta, got.Beta)
	require.Equal(t, p.Refresh.Late, got.Predicted.Late)
	require.Equal(t, p.Options(), got.Options)
	require.Len(t, got.Colder, 5)
	require.Len(t, got.Figures, 7)
	_, again, _ := run(args...)
	require.Equal(t, stdout, again)
}

func TestMain_textNamesEveryFigure(t *testing.T) {
	code, stdout, stderr := run("-rate", "0.5")
	require.Zero(t, code, stderr)
	for _, want := range []string{
		"rule ", "beta ", "jitter ", "MaxLoads ", "MaxLoadRate ", "L1 TTL ", "copies ",
		"late refreshes", "extra loads", "origin load", "busiest second", "after a flush",
		"earlybird.Options[V]{", "go run ./sim refresh",
	} {
		require.Contains(t, stdout, want)
	}
	require.NotContains(t, stdout, "NaN")
	require.NotContains(t, stdout, "Inf")
}
