package main

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"testing"
)

// turn is one measurement of each subject of a row, in the row's order.
type turn []sample

// sample is what one operation took, on average over a trial.
type sample struct {
	ns            float64 // of the wall clock
	cpu           float64 // ns of processor time, all processors together; 0 where it is not known
	allocs, bytes float64
}

// cost is what ratios compare: processor time if it is known. When others want
// the processors too, the wall clock tells more of them than of the subject.
func (s sample) cost() float64 {
	if s.cpu > 0 {
		return s.cpu
	}
	return s.ns
}

// measure measures a row's subjects in turns, so that whatever else the machine
// does meanwhile hits all of them alike.
func measure(ctx context.Context, r row, procs int, p plan, w *workload, progress io.Writer) ([]turn, error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
	defer fmt.Fprint(progress, eraseLine)
	turns := make([]turn, p.count)
	for i := range turns {
		for _, s := range r.subjects {
			if err := ctx.Err(); err != nil {
				return nil, fmt.Errorf("interrupted: %w", err)
			}
			fmt.Fprintf(progress, "%s%d procs, turn %d of %d: %s/%s", eraseLine, procs, i+1, p.count, r.name, s.name)
			m, err := s.sample(w)
			if err != nil {
				return nil, fmt.Errorf("%s/%s: %w", r.name, s.name, err)
			}
			turns[i] = append(turns[i], m)
		}
	}
	return turns, nil
}

const eraseLine = "\r\x1b[K"

// sample measures a new trial of s, with no garbage of the last one about.
func (s subject) sample(w *workload) (sample, error) {
	t, err := s.open(w)
	if err != nil {
		return sample{}, err
	}
	defer t.end()
	runtime.GC()
	r := testing.Benchmark(t.run)
	n := float64(r.N)
	return sample{
		ns:     float64(r.T.Nanoseconds()) / n,
		cpu:    float64(t.cpu.Nanoseconds()) / n,
		allocs: float64(r.MemAllocs) / n,
		bytes:  float64(r.MemBytes) / n,
	}, t.check()
}
