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

// The test binary stands in for the command: with this variable set it is sim.
const asSim = "SIM_TEST_MAIN"

func TestMain(m *testing.M) {
	if os.Getenv(asSim) != "" {
		main()
	}
	os.Exit(m.Run())
}

func TestSim_playsTheLadder(t *testing.T) {
	code, stdout, stderr := sim(t, "", "-products", "20", "-rate", "50", "-duration", "5s", "-json")
	require.Equal(t, 0, code, stderr)
	require.Empty(t, stderr, "progress is for terminals")
	var out struct{ Rows []struct{ Name string } }
	require.NoError(t, json.Unmarshal([]byte(stdout), &out), "nothing but JSON: %s", stdout)
	require.Equal(t, "earlybird", out.Rows[len(out.Rows)-1].Name)
}

func TestSim_readsATraceFromStdin(t *testing.T) {
	code, stdout, stderr := sim(t, "1\n2\n1\n", "-trace", "-")
	require.Equal(t, 0, code, stderr)
	require.Contains(t, stdout, "earlybird")
	require.NotContains(t, stdout, "PASS")
}

func TestSim_badInputIsOneLineAndTwo(t *testing.T) {
	for _, args := range []string{"ladder", "-nonsense", "-rate 0", "-json extra", "-trace /no/such/file", "-trace -", "refresh -nonsense",
		"fleet -nonsense", "fleet -instances 0", "scenarios -nonsense", "scenarios no-such", "scenarios -effort NaN", "scenarios -seed -1"} {
		t.Run(args, func(t *testing.T) {
			code, stdout, stderr := sim(t, "", strings.Fields(args)...)
			require.Equal(t, 2, code)
			require.Empty(t, stdout)
			require.Equal(t, 1, strings.Count(stderr, "\n"), stderr)
			require.True(t, strings.HasPrefix(stderr, "sim"), stderr)
		})
	}
}

func TestSim_help(t *testing.T) {
	for _, args := range []string{"-h", "-help", "--help", "refresh -h", "fleet -h", "scenarios -h"} {
		code, stdout, stderr := sim(t, "", strings.Fields(args)...)
		require.Equal(t, 0, code, args)
		require.Contains(t, stdout, "usage: sim", args)
		require.Empty(t, stderr, args)
	}
}

func TestSim_playsScenarios(t *testing.T) {
	code, stdout, stderr := sim(t, "", "scenarios", "-check", "-json", "lab-expired-key", "lab-generations")
	require.Equal(t, 0, code, stderr)
	require.Empty(t, stderr)
	var out struct {
		Rows []struct{ Scenario, Verdict string }
	}
	require.NoError(t, json.Unmarshal([]byte(stdout), &out), stdout)
	require.Equal(t, "lab-expired-key", out.Rows[0].Scenario)
	require.Equal(t, "holds", out.Rows[0].Verdict)
}

// sim runs the command and returns its exit code and what it wrote.
func sim(t *testing.T, stdin string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), asSim+"=1")
	cmd.Stdin = strings.NewReader(stdin)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		require.True(t, errors.As(err, new(*exec.ExitError)), "%v", err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}
