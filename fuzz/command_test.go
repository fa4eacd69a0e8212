package main

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird/fuzz/hostile"
	"github.com/earlybird-cache/earlybird/fuzz/siege"
)

func TestParse_badFlagsAreNamed(t *testing.T) {
	for args, want := range map[string]string{
		"-nonsense":           "flag provided but not defined: -nonsense",
		"extra":               `unexpected argument "extra"`,
		"-json extra":         `unexpected argument "extra"`,
		"-attack":             "flag needs an argument: -attack",
		"-attack murmurs":     `-attack: unknown attack "murmurs": there are random, `,
		"-attack=":            `-attack: unknown attack "": there are random, `,
		"-attack ALL":         `-attack: unknown attack "ALL"`,
		"-n 0":                "-n 0: must be from 1 to 50000000",
		"-n -5":               "-n -5: must be from 1 to 50000000",
		"-n 1e6":              `invalid value "1e6" for flag -n`,
		"-n 50000001":         "-n 50000001: must be",
		"-seed x":             `invalid value "x" for flag -seed`,
		"-targets 10":         `invalid value "10" for flag -targets`,
		"-targets 0s":         "-targets 0s: must be at least 1s",
		"-targets 1s -json":   "-targets: goes with no other flag",
		"-targets 1s -n 1000": "-targets: goes with no other flag",
	} {
		t.Run(args, func(t *testing.T) {
			var stdout bytes.Buffer
			_, err := parse(strings.Fields(args), &stdout)
			require.ErrorContains(t, err, want)
			require.NotContains(t, err.Error(), "\n")
			require.Empty(t, stdout.String())
		})
	}
}

func TestParse_helpNamesEveryFlagAndAttack(t *testing.T) {
	var stdout bytes.Buffer
	_, err := parse([]string{"-h"}, &stdout)
	require.ErrorIs(t, err, flag.ErrHelp)
	for _, name := range []string{"attack", "n", "seed", "json", "targets"} {
		require.Regexp(t, "(?m)^  -"+name+"( |$)", stdout.String())
	}
	for _, a := range hostile.All() {
		require.Contains(t, stdout.String(), a.Name)
		require.Contains(t, stdout.String(), a.About)
	}
}

func TestParse_choosesAttacks(t *testing.T) {
	c, err := parse(nil, io.Discard)
	require.NoError(t, err)
	require.Len(t, c.plans, len(hostile.All()))
	c, err = parse([]string{"-attack", "smuggle", "-n", "7", "-seed", "9", "-json"}, io.Discard)
	require.NoError(t, err)
	require.Len(t, c.plans, 1)
	require.Equal(t, "smuggle", c.plans[0].Name)
	require.Equal(t, 7, c.n)
	require.EqualValues(t, 9, c.seed)
	require.True(t, c.json)
}

func TestScore_holdsUntilAnAttackBreaksThrough(t *testing.T) {
	var s score
	for _, r := range []siege.Row{{Name: "a", Verdict: siege.Holds}, {Name: "b", Verdict: siege.Baseline}, {Name: "c", Verdict: siege.Holds}} {
		require.NoError(t, s.add(r))
	}
	require.Len(t, s.Attacks, 2)
	require.Len(t, s.Baselines, 1, "of which nothing is expected")
	require.True(t, s.held())
	require.Equal(t, "Result: 2 attacks held off.", s.result())

	require.NoError(t, s.add(siege.Row{Name: "d", Verdict: "7 origin calls, at most 6"}))
	require.False(t, s.held())
	require.Equal(t, "Result: 1 attack of 3 broke through: d.", s.result())
}

func TestRun_deadOutputIsAnError(t *testing.T) {
	for _, args := range []string{"-attack tangle -n 1", "-attack tangle -n 1 -json", "-targets 1s"} {
		c, err := parse(strings.Fields(args), io.Discard)
		require.NoError(t, err)
		_, err = c.run(dead{})
		require.EqualError(t, err, "disk full", args)
	}
}

type dead struct{}

func (dead) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestFindTargets_looksIntoEveryTestFile(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	targets, err := findTargets(fstest.MapFS{
		"a_test.go":     file("package a\n\nfunc FuzzA(f *testing.F) {\n}\n\nfunc TestA(t *testing.T) {}\n"),
		"b/c/b_test.go": file("func FuzzB_two(fz *testing.F) {}\nfunc Fuzzy() {}\n// func FuzzC(f *testing.F)\nfunc FuzzD(f *testing.F) {}\n"),
		"b/b.go":        file("func FuzzE(f *testing.F) {}\n"),
	})
	require.NoError(t, err)
	require.Equal(t, []target{{".", "FuzzA"}, {"b/c", "FuzzB_two"}, {"b/c", "FuzzD"}}, targets)
}

func TestPrintTargets_knowsThoseOfTheModule(t *testing.T) {
	var out bytes.Buffer
	require.NoError(t, printTargets(&out, 10*time.Second))
	for _, name := range []string{"FuzzMatch", "FuzzJoin", "FuzzLoad", "FuzzDue", "FuzzOperations", "FuzzTwin", "FuzzGet"} {
		require.Regexp(t, `(?m)^go test -C '.+' -run '\^\$' -fuzz '\^`+name+`\$' -fuzztime 10s -fuzzminimizetime 1s \.$`, out.String())
	}
}
