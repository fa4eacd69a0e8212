package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"time"

	"github.com/earlybird-cache/earlybird/fuzz/hostile"
	"github.com/earlybird-cache/earlybird/fuzz/siege"
)

const usage = `usage: fuzz [flags]

Attacks a cache in this process with hostile keys while good readers go on, and prints
what the origin, the good readers and the memory felt of it.

`

// command is what the flags say.
type command struct {
	plans   []siege.Plan
	n       int
	seed    uint64
	json    bool
	targets time.Duration // 0: attack
}

const maxRequests = 50_000_000

// parse reads the arguments. Asked for help, it prints that to stdout and returns
// flag.ErrHelp; every other error is one line about a bad flag.
func parse(args []string, stdout io.Writer) (*command, error) {
	c := new(command)
	attack := ""
	f := flag.NewFlagSet("fuzz", flag.ContinueOnError)
	f.SetOutput(io.Discard) // main says what is wrong, in one line
	f.StringVar(&attack, "attack", "all", "`name` of the attack, or all")
	f.IntVar(&c.n, "n", 200_000, "hostile `requests` in each attack")
	f.Uint64Var(&c.seed, "seed", 1, "`seed` of the archive and of all requests")
	f.BoolVar(&c.json, "json", false, "print JSON")
	f.DurationVar(&c.targets, "targets", 0, "attack nothing, but print a command for each native fuzz target, to run for this `time`")
	if err := f.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			help(f, stdout)
		}
		return nil, err
	}
	given := make(map[string]bool)
	f.Visit(func(f *flag.Flag) { given[f.Name] = true })
	switch {
	case f.NArg() > 0:
		return nil, fmt.Errorf("unexpected argument %q", f.Arg(0))
	case c.n < 1 || c.n > maxRequests:
		return nil, fmt.Errorf("-n %d: must be from 1 to %d", c.n, maxRequests)
	case given["targets"] && c.targets < time.Second:
		return nil, fmt.Errorf("-targets %v: must be at least 1s", c.targets)
	case given["targets"] && len(given) > 1:
		return nil, errors.New("-targets: goes with no other flag")
	}
	var err error
	c.plans, err = plansFor(attack)
	return c, err
}

func help(f *flag.FlagSet, w io.Writer) {
	fmt.Fprint(w, usage)
	f.SetOutput(w)
	f.PrintDefaults()
	fmt.Fprintln(w, "\nAttacks:")
	for _, a := range hostile.All() {
		fmt.Fprintf(w, "  %-15s %s\n", a.Name, a.About)
	}
}

func plansFor(attack string) ([]siege.Plan, error) {
	if attack == "all" {
		return siege.Plans(), nil
	}
	p, err := siege.Named(attack)
	if err != nil {
		return nil, fmt.Errorf("-attack: %w", err)
	}
	return []siege.Plan{p}, nil
}

// run does what c says and reports whether every attack was held off.
func (c *command) run(stdout io.Writer) (held bool, err error) {
	if c.targets > 0 {
		return true, printTargets(stdout, c.targets)
	}
	if !c.json {
		return c.runAsText(stdout)
	}
	var s score
	if err := c.play(s.add); err != nil {
		return false, err
	}
	out := json.NewEncoder(stdout)
	out.SetIndent("", "  ")
	return s.held(), out.Encode(s)
}

// play plays all attacks, each before its baseline, and reports each row when it is
// there.
func (c *command) play(report func(siege.Row) error) error {
	s := siege.New(c.n, c.seed)
	for _, p := range c.plans {
		for _, p := range append([]siege.Plan{p}, p.Baselines()...) {
			row, err := s.Play(p)
			if err == nil {
				err = report(row)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// score is the rows of a run.
type score struct {
	Attacks   []siege.Row `json:"attacks"`
	Baselines []siege.Row `json:"baselines,omitempty"`
}

func (s *score) add(r siege.Row) error {
	if r.Verdict == siege.Baseline {
		s.Baselines = append(s.Baselines, r)
	} else {
		s.Attacks = append(s.Attacks, r)
	}
	return nil
}

// held reports whether no attack broke through.
func (s *score) held() bool { return len(s.broken()) == 0 }

func (s *score) broken() (rows []siege.Row) {
	for _, r := range s.Attacks {
		if r.Broken() {
			rows = append(rows, r)
		}
	}
	return rows
}
