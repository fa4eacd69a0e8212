package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"
)

// job is one measurement in a process of its own, whose heap holds nothing else.
type job struct {
	Row, Subject string
	Entries      int
	Procs        int
	Benchtime    time.Duration
}

// inJobEnv is set for a process that reads a job from standard input and answers
// with a sample.
const inJobEnv = "EARLYBIRD_BENCH_JOB"

func inJob() bool { return os.Getenv(inJobEnv) != "" }

// apart is a subject that is measured by inside, in a process of its own.
func apart(row, name string, inside func(job) (sample, error)) subject {
	return subject{name: name, inside: inside, sample: func(ctx context.Context, w *workload) (sample, error) {
		return job{row, name, w.entries, runtime.GOMAXPROCS(0), w.benchtime}.sample(ctx)
	}}
}

// sample has this program run once more, for j.
func (j job) sample(ctx context.Context) (sample, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	in, err := json.Marshal(j)
	if err != nil {
		return nil, err
	}
	var complaint strings.Builder
	cmd := exec.CommandContext(ctx, self)
	cmd.Env = append(os.Environ(), inJobEnv+"=1")
	cmd.Stdin, cmd.Stderr = strings.NewReader(string(in)), &complaint
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("its process: %w: %s", err, strings.TrimSpace(complaint.String()))
	}
	var s sample
	return s, json.Unmarshal(out, &s)
}

// runJob is what such a process does. It returns the exit code.
func runJob(in io.Reader, out, complaint io.Writer) int {
	s, err := jobFrom(in)
	if err == nil {
		err = json.NewEncoder(out).Encode(s)
	}
	if err != nil {
		fmt.Fprintln(complaint, err)
		return 1
	}
	return 0
}

func jobFrom(in io.Reader) (sample, error) {
	var j job
	if err := json.NewDecoder(in).Decode(&j); err != nil {
		return nil, err
	}
	r := slices.IndexFunc(rows, func(r row) bool { return r.name == j.Row })
	if r < 0 {
		return nil, fmt.Errorf("no row %q", j.Row)
	}
	s := slices.IndexFunc(rows[r].subjects, func(s subject) bool { return s.name == j.Subject && s.inside != nil })
	if s < 0 || j.Entries < 1 || j.Procs < 1 {
		return nil, errors.New("a job that nobody can do")
	}
	runtime.GOMAXPROCS(j.Procs)
	return rows[r].subjects[s].inside(j)
}
