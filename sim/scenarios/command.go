package scenarios

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"strings"
	"sync/atomic"

	"github.com/earlybird-cache/earlybird/sim/bubble"
	"github.com/earlybird-cache/earlybird/sim/progress"
)

const usage = `usage: sim scenarios [flags]            list them
       sim scenarios [flags] NAME...    play some, or all

Plays what this project claims about caches, or repeats, and sets it beside closed
forms, a second engine and published measurements.

`

// A Command is the scenarios to play, with its flags set.
type Command struct {
	list     []Scenario
	seed     uint64
	effort   float64
	check    bool
	json     bool
	markdown bool
}

// Parse reads the arguments. Asked for help, it prints that and returns
// flag.ErrHelp; every other error is one line about a bad argument.
func Parse(args []string, stdout io.Writer) (*Command, error) {
	c := new(Command)
	flags := flag.NewFlagSet("scenarios", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.BoolVar(&c.check, "check", false, "play all, or those named, and exit with 1 if a row fails")
	flags.BoolVar(&c.json, "json", false, "print JSON")
	flags.BoolVar(&c.markdown, "markdown", false, "play all, or those named, and print what docs/prediction.md holds")
	flags.Uint64Var(&c.seed, "seed", 1, "`seed` of the random numbers; the same seed gives the same figures")
	flags.Float64Var(&c.effort, "effort", 1, "`size` of the samples; 0.01 is for a quick look")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			fmt.Fprint(stdout, usage)
			flags.SetOutput(stdout)
			flags.PrintDefaults()
			fmt.Fprintln(stdout)
			return nil, errors.Join(err, writeList(stdout))
		}
		return nil, err
	}
	if !(c.effort >= 1e-4 && c.effort <= 1000) {
		return nil, fmt.Errorf("-effort must be from 0.0001 to 1000, not %v", c.effort)
	}
	for _, name := range flags.Args() {
		if name == "all" {
			c.list = append(c.list, All()...)
			continue
		}
		s, ok := Find(name)
		if !ok {
			return nil, fmt.Errorf("no scenario %q; sim scenarios lists them", name)
		}
		c.list = append(c.list, s)
	}
	if len(c.list) == 0 && (c.check || c.markdown) {
		c.list = All()
	}
	return c, nil
}

// Run plays and prints. It returns the exit code.
func (c *Command) Run(r bubble.Runner, stdout, stderr io.Writer) int {
	if len(c.list) == 0 {
		return c.exit(writeList(stdout), stderr)
	}
	var done atomic.Int64
	meter := progress.Start(stderr, len(c.list), &done)
	played, err := Play(c.list, Options{Seed: c.seed, Effort: c.effort, Runner: r}, &done)
	meter.Stop()
	if err == nil {
		err = c.print(stdout, played)
	}
	if code := c.exit(err, stderr); code != 0 {
		return code
	}
	if failed := failures(played); c.check && len(failed) > 0 {
		fmt.Fprintf(stderr, "sim scenarios: %d rows fail: %s\n", len(failed), strings.Join(failed, "; "))
		return 1
	}
	return 0
}

func (c *Command) exit(err error, stderr io.Writer) int {
	if err == nil {
		return 0
	}
	fmt.Fprintln(stderr, "sim scenarios:", err)
	return 1
}

func (c *Command) print(w io.Writer, played []Played) error {
	switch {
	case c.json:
		return writeJSON(w, played)
	case c.markdown:
		return WriteMarkdown(w, played)
	}
	return writeText(w, played)
}

// failures names the rows that do not hold.
func failures(played []Played) (names []string) {
	for _, p := range played {
		for _, r := range p.Rows {
			if !r.OK() {
				names = append(names, p.Name+": "+r.Figure)
			}
		}
	}
	return names
}

type rowJSON struct {
	Scenario  string   `json:"scenario"`
	Figure    string   `json:"figure"`
	Expected  float64  `json:"expected"`
	Basis     Basis    `json:"basis"`
	Got       float64  `json:"got"`
	StdErr    float64  `json:"stderr"`
	Z         *float64 `json:"z"`
	Verdict   string   `json:"verdict"`
	Published string   `json:"published,omitempty"`
	Command   string   `json:"command"`
}

func writeJSON(w io.Writer, played []Played) error {
	rows := []rowJSON{}
	for _, p := range played {
		for _, r := range p.Rows {
			row := rowJSON{p.Name, r.Figure, r.Expected, r.Basis, r.Got, r.StdErr, nil, r.Verdict(), r.Published, r.Command}
			if !math.IsNaN(r.Z) {
				row.Z = &r.Z
			}
			rows = append(rows, row)
		}
	}
	out := json.NewEncoder(w)
	out.SetIndent("", "  ")
	return out.Encode(map[string][]rowJSON{"rows": rows})
}
