package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

const defaultKeys = 100_000

func main() {
	p, err := parse(os.Args[1:])
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

// plan is what to measure, and how.
type plan struct {
	rows      []row
	procs     []int
	count     int // turns
	benchtime time.Duration
	keys      int
	json      bool
}

func parse(args []string) (plan, error) {
	p := plan{procs: []int{1, 2}, keys: defaultKeys}
	only := regexp.MustCompile("")
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.Func("procs", "processors to use, in turn, as a `list` (default 1,2)", func(s string) (err error) {
		p.procs, err = counts(s)
		return err
	})
	f.IntVar(&p.count, "count", 10, "turns: medians and quartiles are taken over them")
	f.DurationVar(&p.benchtime, "benchtime", time.Second, "how long each subject runs in a turn")
	f.Func("rows", "only rows whose names match the `expression`: "+names(), func(s string) (err error) {
		only, err = regexp.Compile(s)
		return err
	})
	f.BoolVar(&p.json, "json", false, "print JSON instead of tables")
	f.SetOutput(io.Discard) // main says what is wrong, in one line
	f.Usage = func() {}
	if err := f.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			usage(f)
		}
		return p, err
	}
	for _, r := range rows {
		if only.MatchString(r.name) {
			p.rows = append(p.rows, r)
		}
	}
	switch {
	case f.NArg() > 0:
		return p, fmt.Errorf("unexpected argument %q", f.Arg(0))
	case p.count < 1:
		return p, fmt.Errorf("-count is %d: must be at least 1", p.count)
	case p.benchtime <= 0:
		return p, fmt.Errorf("-benchtime is %v: must be positive", p.benchtime)
	case len(p.rows) == 0:
		return p, fmt.Errorf("-rows is %q: matches none of %s", only, names())
	}
	return p, nil
}

// progress is standard error if somebody watches.
func progress() io.Writer {
	if info, err := os.Stderr.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
		return os.Stderr
	}
	return io.Discard
}

func usage(f *flag.FlagSet) {
	fmt.Fprintln(os.Stderr, "usage: go run . [flags]")
	f.SetOutput(os.Stderr)
	f.PrintDefaults()
}

// counts parses a list of positive numbers.
func counts(list string) (ns []int, err error) {
	for s := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("%q is not a positive number", s)
		}
		ns = append(ns, n)
	}
	return ns, nil
}

func names() string {
	var ns []string
	for _, r := range rows {
		ns = append(ns, r.name)
	}
	return strings.Join(ns, ", ")
}

// bench measures what p says and prints what came of it. Whose turn it is
// appears on progress.
func bench(ctx context.Context, p plan, out, progress io.Writer) error {
	testing.Init()
	if err := flag.Set("test.benchtime", p.benchtime.String()); err != nil {
		return err
	}
	rep, w := newReport(p), newWorkload(p.keys)
	for _, procs := range p.procs {
		for _, r := range p.rows {
			turns, err := measure(ctx, r, procs, p, w, progress)
			if err != nil {
				return err
			}
			rep.add(r, procs, turns)
		}
	}
	if p.json {
		e := json.NewEncoder(out)
		e.SetIndent("", "  ")
		return e.Encode(rep)
	}
	return rep.print(out)
}
