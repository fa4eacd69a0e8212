package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
)

// turn is one measurement of each subject of a row, in the row's order. nil is
// that of a subject which did not do what the row is about.
type turn []sample

// measurement is what came of a row.
type measurement struct {
	turns  []turn
	failed map[string]error // subjects that have no figures
}

// measure measures a row's subjects in turns, so that whatever else the machine
// does meanwhile hits all of them alike.
func measure(ctx context.Context, r row, procs int, p plan, w *workload, progress io.Writer) (measurement, error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
	defer fmt.Fprint(progress, eraseLine)
	m := measurement{turns: make([]turn, p.count), failed: make(map[string]error)}
	for i := range m.turns {
		for _, s := range r.subjects {
			if err := ctx.Err(); err != nil {
				return m, fmt.Errorf("interrupted: %w", err)
			}
			fmt.Fprintf(progress, "%s%d procs, turn %d of %d: %s/%s", eraseLine, procs, i+1, p.count, r.name, s.name)
			x, err := m.sample(ctx, s, w)
			if err != nil {
				return m, fmt.Errorf("%s/%s: %w", r.name, s.name, err)
			}
			m.turns[i] = append(m.turns[i], x)
		}
	}
	if err := m.failed[r.base]; err != nil {
		return m, fmt.Errorf("%s/%s, which others are compared with: %w", r.name, r.base, err)
	}
	return m, nil
}

const eraseLine = "\r\x1b[K"

// sample measures s, unless that failed in an earlier turn. A peer that cannot do
// what the row is about is a result too.
func (m measurement) sample(ctx context.Context, s subject, w *workload) (sample, error) {
	if m.failed[s.name] != nil {
		return nil, nil
	}
	x, err := s.sample(ctx, w)
	if _, stray := errors.AsType[*strayError](err); stray {
		m.failed[s.name] = err
		return nil, nil
	}
	return x, err
}
