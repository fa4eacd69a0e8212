package earlybird_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestMutants is the proof that the model test finds faults. It builds the
// tests once, with all faults in place, and then runs TestModel and its storm
// with each of them in force.
func TestMutants(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the package, and runs its model test some hundred times")
	}
	bin := buildMutants(t)

	t.Run("no fault", func(t *testing.T) {
		out, err := runMutant(t, bin, "")
		require.NoError(t, err, "%s", out)
	})
	atOnce := make(chan struct{}, 2)
	for _, fault := range faults() {
		t.Run(fault, func(t *testing.T) {
			t.Parallel()
			atOnce <- struct{}{}
			defer func() { <-atOnce }()
			out, err := runMutant(t, bin, fault, "-model.runs=300", "-model.storm=100000")
			require.Error(t, err, "the model test does not notice")
			_, what, found := strings.Cut(out, "broken promise: ")
			require.True(t, found, "it failed for another reason:\n%s", out)
			promise, _, _ := strings.Cut(what, "\n")
			t.Log(promise)
		})
	}
}

var plantedFault = regexp.MustCompile(`planted\("([^"]+)"\)`)

// faults returns the names of the faults that the edits plant.
func faults() []string {
	var names []string
	for _, e := range edits {
		for _, m := range plantedFault.FindAllStringSubmatch(e.new, -1) {
			names = append(names, m[1])
		}
	}
	return names
}

func buildMutants(t *testing.T) (bin string) {
	dir := t.TempDir()
	overlay := struct{ Replace map[string]string }{make(map[string]string)}
	for file, text := range edited(t) {
		path, err := filepath.Abs(file)
		require.NoError(t, err)
		overlay.Replace[path] = filepath.Join(dir, strings.ReplaceAll(file, "/", "_"))
		require.NoError(t, os.WriteFile(overlay.Replace[path], []byte(text), 0o600))
	}
	list, err := json.Marshal(overlay)
	require.NoError(t, err)
	listFile := filepath.Join(dir, "overlay.json")
	require.NoError(t, os.WriteFile(listFile, list, 0o600))

	bin = filepath.Join(dir, "mutants.exe") // a name that every system runs
	out, err := exec.CommandContext(t.Context(), "go", "test", "-c", "-vet=off", "-overlay", listFile, "-o", bin, ".").CombinedOutput()
	require.NoError(t, err, "%s", out)
	return bin
}

// edited returns the text of every edited file, and of one more file for each
// of their packages.
func edited(t *testing.T) map[string]string {
	texts := make(map[string]string)
	for _, e := range edits {
		if texts[e.file] == "" {
			text, err := os.ReadFile(e.file)
			require.NoError(t, err)
			texts[e.file] = string(text)
		}
		require.Equal(t, 1, strings.Count(texts[e.file], e.old), "how often %s has\n%s", e.file, e.old)
		texts[e.file] = strings.Replace(texts[e.file], e.old, e.new, 1)

		pkg, _, _ := strings.Cut(texts[e.file], "\n")
		require.True(t, strings.HasPrefix(pkg, "package "), e.file)
		texts[filepath.Join(filepath.Dir(e.file), "planting.go")] = pkg + "\n" + planting
	}
	return texts
}

func runMutant(t *testing.T, bin, fault string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute) // should it hang
	defer cancel()
	cmd := exec.CommandContext(ctx, bin, append(args, "-model.seed=1", "-test.run=^TestModel", "-test.failfast")...)
	cmd.Env = append(os.Environ(), "EARLYBIRD_PLANTED_FAULT="+fault)
	out, err := cmd.CombinedOutput()
	return string(out), err
}
