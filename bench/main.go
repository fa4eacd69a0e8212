package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"testing"
)

func main() {
	if inJob() {
		os.Exit(runJob(os.Stdin, os.Stdout, os.Stderr))
	}
	p, err := parse(os.Args[1:], os.Stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return
	case err != nil:
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := bench(ctx, p, os.Stdout, progress()); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// progress is standard error if somebody watches.
func progress() io.Writer {
	if info, err := os.Stderr.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
		return os.Stderr
	}
	return io.Discard
}

// bench measures what p says and prints what came of it, each table as soon as
// it is known. Whose turn it is appears on progress.
func bench(ctx context.Context, p plan, out, progress io.Writer) error {
	testing.Init()
	if err := flag.Set("test.benchtime", p.benchtime.String()); err != nil {
		return err
	}
	rep := newReport(p, out)
	if err := rep.begin(); err != nil {
		return err
	}
	for _, r := range p.rows {
		for _, v := range p.variantsOf(r) {
			w := v.workload()
			for _, procs := range p.procsOf(r) {
				m, err := measure(ctx, r, procs, p, w, progress)
				if err != nil {
					return err
				}
				if err := rep.add(newTable(r, v.label, procs, m)); err != nil {
					return err
				}
			}
		}
	}
	return rep.end()
}

// procsOf is the numbers of processors that r is measured with.
func (p plan) procsOf(r row) []int {
	if r.once {
		return []int{slices.Max(p.procs)}
	}
	return p.procs
}

// variantsOf is what r is measured with.
func (p plan) variantsOf(r row) []variant {
	if r.variants != nil {
		return r.variants(p)
	}
	return p.combinations()[:1]
}
