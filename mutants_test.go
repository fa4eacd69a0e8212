package earlybird_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird/internal/model"
)

// TestMutants is the proof that the model test finds faults. It builds the
// model test once, with all faults in place, and then runs of it, with each of
// them in force, what the fault is said to show in. A fault that shows there only
// by luck is one that the scripts are to meet more often.
func TestMutants(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the package, and runs its model test some hundred times")
	}
	bin := buildMutants(t)

	t.Run("no fault", func(t *testing.T) {
		t.Parallel()
		out, err := runMutant(t, bin, "", "-test.run=^TestModel")
		require.NoError(t, err, "%s", out)
	})
	for _, f := range faults() {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			if out, err := runMutant(t, bin, f.name, where(t, f.shows)...); err != nil {
				t.Log(brokenPromise(t, out))
				return
			}
			out, err := runMutant(t, bin, f.name, "-test.run=^TestModel", "-model.runs=300", "-model.storm=50000")
			require.Error(t, err, "the model test does not notice")
			t.Errorf("it does not show in %q, but: %s", f.shows, brokenPromise(t, out))
		})
	}
}

// where returns what to run of the model test: the profile or the storm of that
// name, often enough to meet whatever one run in twenty meets.
func where(t *testing.T, name string) []string {
	if slices.ContainsFunc(model.Storms(), func(s model.Storm) bool { return s.Name == name }) {
		return []string{"-test.run=^TestModel_storm$/^" + name + "$", "-model.storm=50000"}
	}
	_, err := model.ProfileNamed(name)
	require.NoError(t, err)
	return []string{"-test.run=^TestModel$", "-model.profile=" + name, "-model.runs=200"}
}

// brokenPromise returns the promise that a failed run says was broken, and in
// which profile if that was not in a storm.
func brokenPromise(t *testing.T, out string) string {
	_, what, found := strings.Cut(out, "broken promise: ")
	require.True(t, found, "it failed for another reason:\n%s", out)
	promise, _, _ := strings.Cut(what, "\n")
	if profile := regexp.MustCompile(`(?m)^\s*profile (\w+)$`).FindString(what); profile != "" {
		promise += ", in " + strings.TrimSpace(profile)
	}
	return promise
}

// fault is one that the edits plant.
type fault struct{ name, shows string }

var plantedFault = regexp.MustCompile(`planted\("([^"]+)", "([^"]+)"\)`)

func faults() []fault {
	var all []fault
	for _, e := range edits {
		for _, m := range plantedFault.FindAllStringSubmatch(e.new, -1) {
			all = append(all, fault{m[1], m[2]})
		}
	}
	return all
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
	out, err := exec.CommandContext(t.Context(), "go", "test", "-c", "-vet=off", "-ldflags=-s -w",
		"-overlay", listFile, "-o", bin, "model_test.go", "race_off_test.go").CombinedOutput() // the model test needs no others
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
	cmd := exec.CommandContext(ctx, bin, append(args, "-test.failfast", fmt.Sprintf("-model.seed=%d", cmp.Or(*modelSeed, usualSeed)))...)
	cmd.Env = append(os.Environ(), "EARLYBIRD_PLANTED_FAULT="+fault)
	out, err := cmd.CombinedOutput()
	return string(out), err
}
