package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"regexp"
	"time"
)

// plan is what to measure, and how.
type plan struct {
	rows      []row
	procs     []int
	count     int // turns
	benchtime time.Duration
	json      bool

	// Combined, and a table for each combination: of hit. Other rows take the
	// first of each.
	keys       []int
	popularity []popularity
	values     []int // bytes

	entries  int // of memory and gc
	requests int // of each synthetic stream of ratio
	traces   []namedRequests
}

func newPlan() plan {
	return plan{
		rows: rows, procs: []int{1, 2}, count: 10, benchtime: 400 * time.Millisecond,
		keys: []int{100_000}, popularity: []popularity{1.01}, values: []int{16},
		entries: 1_000_000, requests: 50_000,
	}
}

// What a person may ask for.
const (
	mostProcs  = 1024
	mostTurns  = 10_000
	mostTime   = time.Hour
	mostKeys   = 100_000_000
	mostValue  = 1 << 20
	mostMemory = 64 << 30 // bytes of all values
	leastKeys  = 2 * batchLen
	leastValue = keyLen - valueAt
)

// parse reads the flags. Usage, if it is asked for, goes to help.
func parse(args []string, help io.Writer) (plan, error) {
	p, only := newPlan(), regexp.MustCompile("")
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	f.SetOutput(io.Discard) // main says what is wrong, in one line
	f.Usage = func() {}
	f.Func("rows", "only rows whose names match the `expression`: "+names(), func(s string) (err error) {
		only, err = regexp.Compile(s)
		return err
	})
	f.IntVar(&p.count, "count", p.count, "turns: medians and quartiles are taken over them")
	f.DurationVar(&p.benchtime, "benchtime", p.benchtime, "how long each subject runs in a turn")
	f.BoolVar(&p.json, "json", false, "print JSON instead of tables")
	f.Func("procs", "processors to use, a `list` (default 1,2)", listOf(&p.procs, number(1, mostProcs)))
	f.Func("keys", "numbers of products, a `list` (default 100000)", listOf(&p.keys, number(leastKeys, mostKeys)))
	f.Func("zipf", "popularities, a `list` of Zipf exponents and uniform (default 1.01)", listOf(&p.popularity, parsePopularity))
	f.Func("value", "bytes of a value, a `list` (default 16)", listOf(&p.values, number(leastValue, mostValue)))
	f.IntVar(&p.entries, "entries", p.entries, "entries in memory, for memory and gc")
	f.IntVar(&p.requests, "requests", p.requests, "requests in each synthetic stream of ratio")
	f.Func("trace", "a request trace for ratio, one key a line, gzip'd or not: a `file`; may be repeated", func(s string) error {
		t, err := openTrace(s)
		p.traces = append(p.traces, t)
		return err
	})
	if err := f.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			usage(f, help)
		}
		return p, err
	}
	if f.NArg() > 0 {
		return p, fmt.Errorf("unexpected argument %q", f.Arg(0))
	}
	p.rows = matching(only)
	if len(p.rows) == 0 {
		return p, fmt.Errorf("-rows is %q: matches none of %s", only, names())
	}
	return p, p.check()
}

func usage(f *flag.FlagSet, help io.Writer) {
	fmt.Fprintln(help, "usage: go run . [flags]")
	f.SetOutput(help)
	f.PrintDefaults()
}

func matching(only *regexp.Regexp) (matched []row) {
	for _, r := range rows {
		if only.MatchString(r.name) {
			matched = append(matched, r)
		}
	}
	return matched
}

func (p plan) check() error {
	switch {
	case p.count < 1 || p.count > mostTurns:
		return fmt.Errorf("-count is %d: must be from 1 to %d", p.count, mostTurns)
	case p.benchtime <= 0 || p.benchtime > mostTime:
		return fmt.Errorf("-benchtime is %v: must be positive and at most %v", p.benchtime, mostTime)
	case p.entries < leastKeys || p.entries > mostKeys:
		return fmt.Errorf("-entries is %d: must be from %d to %d", p.entries, leastKeys, mostKeys)
	case p.requests < leastKeys || p.requests > mostKeys:
		return fmt.Errorf("-requests is %d: must be from %d to %d", p.requests, leastKeys, mostKeys)
	}
	for _, n := range p.keys {
		for _, size := range p.values {
			if int64(n)*int64(size) > mostMemory {
				return fmt.Errorf("%d -keys with a -value of %d bytes are more than %d GiB", n, size, mostMemory>>30)
			}
		}
	}
	return nil
}

// combinations are the workloads of p.
func (p plan) combinations() (all []variant) {
	for _, n := range p.keys {
		for _, pop := range p.popularity {
			for _, size := range p.values {
				w := workload{products: n, popularity: pop, valueLen: size}
				all = append(all, variant{w.String(), func() *workload {
					w := newWorkload(n, pop, size)
					w.benchtime = p.benchtime
					return w
				}})
			}
		}
	}
	return all
}
