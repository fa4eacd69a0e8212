package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The test binary stands in for the command: with this variable set it is fuzz.
const asFuzz = "FUZZ_TEST_MAIN"

func TestMain(m *testing.M) {
	if os.Getenv(asFuzz) != "" {
		main()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestFuzz_json(t *testing.T) {
	code, stdout, stderr := fuzz(t, "-attack", "murmur", "-n", "1000", "-json")
	require.Equal(t, 0, code, "%s%s", stdout, stderr)
	require.Empty(t, stderr)
	var out map[string][]map[string]any
	require.NoError(t, json.Unmarshal([]byte(stdout), &out), "nothing but JSON: %s", stdout)
	require.Len(t, out["attacks"], 1)
	row := out["attacks"][0]
	require.Equal(t, "murmur", row["name"])
	require.EqualValues(t, 1000, row["requests"])
	for _, field := range []string{"requests", "origin_calls", "origin_per_million", "wrongful_refusals",
		"good_hit_before", "good_hit_during", "heap_growth", "p99_ms", "reject_vs_hit"} {
		require.IsType(t, 0.0, row[field], field)
	}
	require.Len(t, out["baselines"], 1)
	require.EqualValues(t, 1000, out["baselines"][0]["origin_calls"], "all pass an unkeyed filter")
}

func TestFuzz_text(t *testing.T) {
	code, stdout, stderr := fuzz(t, "-attack", "tangle", "-n", "1000")
	require.Equal(t, 0, code, "%s%s", stdout, stderr)
	require.Empty(t, stderr)
	require.Regexp(t, `(?m)^tangle +1,000 +0 +0 +0 +0 .* holds$`, stdout)
	require.Contains(t, stdout, "Result: 1 attack held off.")
	for line := range strings.Lines(stdout) {
		require.LessOrEqual(t, len([]rune(line)), 120, line)
	}
}

func TestFuzz_badFlagsAreOneLineAndTwo(t *testing.T) {
	for _, args := range []string{"extra", "-nonsense", "-attack", "-attack nonsense", "-n 0", "-n many", "-seed -1", "-targets 1ms"} {
		t.Run(args, func(t *testing.T) {
			code, stdout, stderr := fuzz(t, strings.Fields(args)...)
			require.Equal(t, 2, code)
			require.Empty(t, stdout)
			require.Equal(t, 1, strings.Count(stderr, "\n"), stderr)
			require.True(t, strings.HasPrefix(stderr, "fuzz: "), stderr)
		})
	}
}

func TestFuzz_help(t *testing.T) {
	code, stdout, stderr := fuzz(t, "-h")
	require.Equal(t, 0, code)
	require.Empty(t, stderr)
	require.Contains(t, stdout, "usage: fuzz")
}

// fuzz runs the command and returns its exit code and what it wrote.
func fuzz(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), asFuzz+"=1")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		require.True(t, errors.As(err, new(*exec.ExitError)), "%v", err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}
