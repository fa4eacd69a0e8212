package refresh

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// run is Main with small sizes unless args say otherwise.
func run(args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = Main(append([]string{"-expiries", "500", "-draws", "1000"}, args...), &out, &errs)
	return code, out.String(), errs.String()
}

func TestMain_badInputIsOneLine(t *testing.T) {
	for args, want := range map[string]string{
		"-rate NaN":                           "-rate",
		"-rate -1":                            "-rate",
		"-rate 0":                             "-rate",
		"-rate +Inf":                          "-rate",
		"-rate ten":                           "-rate",
		"-delta 0s":                           "-delta",
		"-delta -1s":                          "-delta",
		"-delta 2":                            "-delta",
		"-ttl 399ms":                          "-ttl 399ms is shorter than -delta 400ms",
		"-ttl -1m":                            "-ttl",
		"-ttl 10000h":                         "-ttl",
		"-beta NaN":                           "-beta",
		"-beta -0.1":                          "-beta",
		"-beta 1e300":                         "-beta",
		"-beta 1e-9":                          "-beta",
		"-instances 0":                        "-instances",
		"-instances -3":                       "-instances",
		"-instances 1.5":                      "-instances",
		"-instances 99999999999":              "-instances",
		"-expiries 1":                         "-expiries",
		"-expiries 100000000":                 "-expiries",
		"-draws 0":                            "-draws",
		"-seed -1":                            "-seed",
		"-rate 1e12 -delta 1h -ttl 2h":        "-rate",
		"-rate 1e7 -beta 0.01":                "loads per expiry",
		"-rate 1e9 -delta 1s -ttl 1s":         "loads per expiry",
		"-rate 1e9 -delta 1s -ttl 1s -beta 9": "loads per expiry",
		"-unknown":                            "-unknown",
		"refresh":                             `"refresh"`,
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
	for _, flag := range []string{"-rate", "-delta", "-ttl", "-beta", "-instances", "-seed", "-json"} {
		require.Contains(t, stdout, "\n  "+flag)
	}
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestMain_lostOutputFails(t *testing.T) {
	for _, format := range []string{"-json=false", "-json"} {
		var stderr bytes.Buffer
		code := Main([]string{"-expiries", "2", "-draws", "2", format}, brokenPipe{}, &stderr)
		require.Equal(t, 1, code)
		require.Contains(t, stderr.String(), "broken pipe")
	}
}

func TestMain_textIsAligned(t *testing.T) {
	code, stdout, stderr := run("-rate", "100", "-delta", "1s", "-beta", "0.5", "-instances", "1")
	require.Zero(t, code)
	require.Empty(t, stderr)
	require.Contains(t, stdout, "100 reads/s over 1 instance;")
	require.Contains(t, stdout, "singleflight in each of 1 instance ")
	widths := map[int]bool{}
	for line := range strings.Lines(stdout) {
		if strings.HasPrefix(line, "  share") || strings.HasPrefix(line, "  loads") || strings.HasPrefix(line, "    started") {
			widths[len(line)] = true
		}
	}
	require.Len(t, widths, 1, stdout)
}

func TestMain_jsonSaysTheSame(t *testing.T) {
	code, stdout, _ := run("-json", "-rate", "10", "-delta", "1s", "-instances", "4")
	require.Zero(t, code)
	var got reportJSON
	decoder := json.NewDecoder(strings.NewReader(stdout))
	decoder.DisallowUnknownFields()
	require.NoError(t, decoder.Decode(&got))
	require.Equal(t, 10.0, got.Rate)
	require.Equal(t, 1.0, got.DeltaS)
	require.Len(t, got.Loads, 2)
	require.Equal(t, None, got.Loads[0].Coordination)
	require.InDelta(t, 2.7056, *got.Loads[0].Theory, 1e-4)
	require.Equal(t, Singleflight, got.Loads[1].Coordination)
	require.Nil(t, got.Loads[1].EarlyTheory)
	require.NotNil(t, got.Loads[1].LateTheory)
	_, again, _ := run("-json", "-rate", "10", "-delta", "1s", "-instances", "4")
	require.Equal(t, stdout, again)
}

func TestMain_notesSayWhenTheoryIsSilent(t *testing.T) {
	for args, want := range map[string]string{
		"-ttl 400ms":           "ttl is short",
		"-beta 0":              "nothing is refreshed early",
		"-rate 1":              "reads/s",
		"-beta 0.01 -delta 1s": "no read rate would help",
	} {
		code, stdout, _ := run(strings.Fields(args)...)
		require.Zero(t, code, args)
		require.Contains(t, stdout, "Note: ", args)
		require.Contains(t, stdout, want, args)
	}
	_, stdout, _ := run("-rate", "100")
	require.NotContains(t, stdout, "Note")
	_, stdout, _ = run("-ttl", "400ms", "-json")
	require.Contains(t, stdout, `"theory": null`)
}
