package main

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// printTargets prints a command for each native fuzz target of the module around the
// working directory. Go runs one target at a time, and wants to be told which.
func printTargets(w io.Writer, d time.Duration) error {
	root, err := moduleRoot()
	if err != nil {
		return err
	}
	targets, err := findTargets(os.DirFS(root))
	if err != nil {
		return err
	}
	var b strings.Builder
	for _, t := range targets {
		fmt.Fprintf(&b, "go test -C '%s' -run '^$' -fuzz '^%s$' -fuzztime %v -fuzzminimizetime 1s .\n", filepath.Join(root, t.dir), t.name, d)
	}
	_, err = io.WriteString(w, b.String())
	return err
}

func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	for err == nil {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", fmt.Errorf("no go.mod here or above")
		}
		dir = up
	}
	return "", err
}

// A target is a native fuzz target.
type target struct{ dir, name string }

var fuzzFunc = regexp.MustCompile(`(?m)^func (Fuzz\w*)\(\w+ \*testing\.F\)`)

// findTargets looks for fuzz targets in all test files below root, in order.
func findTargets(root fs.FS) (targets []target, err error) {
	err = fs.WalkDir(root, ".", func(file string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(file, "_test.go") {
			return err
		}
		text, err := fs.ReadFile(root, file)
		for _, match := range fuzzFunc.FindAllSubmatch(text, -1) {
			targets = append(targets, target{path.Dir(file), string(match[1])})
		}
		return err
	})
	return targets, err
}
