package ladder

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird/sim/bubble"
)

// tiny is a run that takes no time.
var tiny = []string{"-products", "20", "-rate", "50", "-duration", "10s", "-ttl", "3s", "-servers", "5", "-service", "50ms"}

func TestParse_badFlagsAreNamed(t *testing.T) {
	for args, want := range map[string]string{
		"-nonsense":               "flag provided but not defined: -nonsense",
		"extra":                   `unexpected argument "extra"`,
		"-json extra":             `unexpected argument "extra"`,
		"-rate fast":              `invalid value "fast" for flag -rate: parse error`,
		"-rate 0":                 "-rate 0: must be from 1 to 1000000",
		"-rate -1":                "-rate -1: must be from 1 to 1000000",
		"-rate NaN":               "-rate NaN: must be from 1 to 1000000",
		"-rate Inf":               "-rate +Inf: must be from 1 to 1000000",
		"-hostile -0.1":           "-hostile -0.1: must be from 0 to 0.9",
		"-hostile 1":              "-hostile 1: must be from 0 to 0.9",
		"-hostile NaN":            "-hostile NaN: must be from 0 to 0.9",
		"-products 0":             "-products 0: must be from 1 to 1000000",
		"-products 1e3":           "for flag -products",
		"-zipf -1":                "-zipf -1: must be from 0 to 5",
		"-entries 0":              "-entries 0: must be from 1 to 10000000",
		"-servers 0":              "-servers 0: must be from 1 to 100000",
		"-duration 0s":            "-duration 0s: must be from 1s to 24h0m0s",
		"-duration 10":            "for flag -duration",
		"-ttl 1us":                "-ttl 1µs: must be from 1ms to 24h0m0s",
		"-ttl -1s":                "-ttl -1s: must be from 1ms to 24h0m0s",
		"-timeout 1h":             "-timeout 1h0m0s: must be from 1ms to 10m0s",
		"-service 0s":             "-service 0s: must be from 1µs to 10m0s",
		"-seed -1":                "for flag -seed",
		"-rate 1e6 -duration 24h": "86400000000 requests are too many, the most is 20000000",
		"-trace= ":                "-trace: wants a file name",
		"-trace f -products 3":    "-products: has no meaning with -trace",
		"-trace f -zipf 1":        "-zipf: has no meaning with -trace",
		"-trace f -duration 1m":   "-duration: has no meaning with -trace",
		"-trace f -rate 0":        "-rate 0: must be from 1 to 1000000",
		"-trace":                  "flag needs an argument: -trace",
	} {
		t.Run(args, func(t *testing.T) {
			var stdout bytes.Buffer
			_, err := Parse(strings.Fields(args), &stdout)
			require.ErrorContains(t, err, want)
			require.NotContains(t, err.Error(), "\n")
			require.Empty(t, stdout.String())
		})
	}
}

func TestParse_helpNamesEveryFlag(t *testing.T) {
	var stdout bytes.Buffer
	_, err := Parse([]string{"-h"}, &stdout)
	require.ErrorIs(t, err, flag.ErrHelp)
	new(Command).flags().VisitAll(func(f *flag.Flag) {
		require.Contains(t, stdout.String(), "-"+f.Name)
	})
	require.Contains(t, stdout.String(), "sim refresh")
}

func TestParse_traceHasItsOwnDefaults(t *testing.T) {
	c, err := Parse([]string{"-trace", "f"}, io.Discard)
	require.NoError(t, err)
	require.Zero(t, c.hostile)
	require.EqualValues(t, 1000, c.rate)

	c, err = Parse([]string{"-trace", "f", "-hostile", "0.2", "-rate", "7"}, io.Discard)
	require.NoError(t, err)
	require.EqualValues(t, 0.2, c.hostile)
	require.EqualValues(t, 7, c.rate)
}

func TestRun_json(t *testing.T) {
	code, stdout, stderr := run(t, "", append(tiny, "-json")...)
	require.Equal(t, 0, code, stderr)
	require.Empty(t, stderr)

	var out map[string][]map[string]any
	require.NoError(t, json.Unmarshal([]byte(stdout), &out))
	require.Len(t, out, 1)
	require.Len(t, out["rows"], len(rungs))
	for i, row := range out["rows"] {
		require.Equal(t, rungs[i].name, row["name"])
		require.Len(t, row, 11)
		for _, field := range []string{"reads", "origin_calls", "calls_per_episode", "max_concurrent",
			"waited", "p50_ms", "p99_ms", "p999_ms", "hostile_leaked", "errors"} {
			require.IsType(t, 0.0, row[field], field)
		}
	}
}

func TestRun_text(t *testing.T) {
	code, stdout, stderr := run(t, "", tiny...)
	require.Equal(t, 0, code, stderr)
	require.Empty(t, stderr)
	lines := strings.Split(stdout, "\n")
	for i, line := range lines[:2+len(rungs)] {
		require.Len(t, line, len(lines[0]), "line %d is not aligned", i)
	}
	for i, rung := range rungs {
		require.Contains(t, lines[2+i], rung.name)
	}
	require.Regexp(t, regexp.MustCompile(`(?m)^Result: earlybird makes [0-9.]+ % of the origin calls of "no cache"`), stdout)
	for _, line := range lines {
		require.LessOrEqual(t, len(line), 110)
	}
}

func TestRun_trace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trace")
	require.NoError(t, os.WriteFile(path, []byte(strings.Repeat("1\n2\n3\n1\n", 50)), 0o600))
	for name, args := range map[string][]string{
		"file":         {"-trace", path},
		"stdin":        {"-trace", "-"},
		"with hostile": {"-trace", path, "-hostile", "0.3"},
	} {
		t.Run(name, func(t *testing.T) {
			code, stdout, stderr := run(t, "a b\nc\na b\n", append(args, "-json")...)
			require.Equal(t, 0, code, stderr)
			require.Contains(t, stdout, `"name": "earlybird"`)
		})
	}
}

func TestRun_damagedTracePrintsNothing(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"empty":     "",
		"hole":      "1\n\n2\n",
		"nul":       "1\n2\x003\n",
		"long":      strings.Repeat("x", 5000) + "\n",
		"truncated": "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\x33\xe4",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	for _, name := range []string{"empty", "hole", "nul", "long", "truncated", "missing", "."} {
		for _, format := range []string{"-json", "-json=false"} {
			t.Run(name+format, func(t *testing.T) {
				path := filepath.Join(dir, name)
				code, stdout, stderr := run(t, "", "-trace", path, format)
				require.Equal(t, 2, code)
				require.Empty(t, stdout)
				require.Equal(t, 1, strings.Count(stderr, "\n"), "one line: %s", stderr)
				require.Contains(t, stderr, filepath.Base(path))
			})
		}
	}
	code, stdout, stderr := run(t, "", "-trace", "-")
	require.Equal(t, 2, code)
	require.Empty(t, stdout)
	require.Equal(t, "sim: trace standard input: holds no request\n", stderr)
}

func TestRun_deadOutputIsAnError(t *testing.T) {
	c, err := Parse(tiny, io.Discard)
	require.NoError(t, err)
	var stderr bytes.Buffer
	require.Equal(t, 1, c.Run(bubble.In(t), nil, dead{}, &stderr))
	require.Equal(t, "sim: disk full\n", stderr.String())
}

type dead struct{}

func (dead) Write([]byte) (int, error) { return 0, errors.New("disk full") }

// run runs the command with the given standard input.
func run(t *testing.T, stdin string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	c, err := Parse(args, io.Discard)
	require.NoError(t, err)
	var out, errs bytes.Buffer
	code = c.Run(bubble.In(t), strings.NewReader(stdin), &out, &errs)
	return code, out.String(), errs.String()
}
