package plan

import (
	"errors"
	"flag"
	"fmt"
	"io"
)

const usage = `usage: sim plan [flags]

Works out the options of a cache from what is known of its keys, its origin and
the fleet, and from two targets: how much more an early refresh may load the
origin, and how many refreshes may come late. Prints each figure with its formula,
what to expect of it, and the options in Go.

`

// Main runs the command with the arguments that follow its name and returns its
// exit code: 0, 1 when the plan could not be written, 2 for bad input.
func Main(args []string, stdout, stderr io.Writer) int {
	setup, asJSON, err := parse(args, stdout)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintln(stderr, "sim plan:", err)
		return 2
	}
	plan := Make(setup)
	write := plan.WriteText
	if asJSON {
		write = plan.WriteJSON
	}
	if err := write(stdout); err != nil {
		fmt.Fprintln(stderr, "sim plan:", err)
		return 1
	}
	return 0
}

// parse reads the flags into a valid setup, or prints help.
func parse(args []string, stdout io.Writer) (s Setup, asJSON bool, err error) {
	flags := flag.NewFlagSet("plan", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // one line about an error is enough, and ours to print
	s = Default
	s.flags(flags)
	flags.BoolVar(&asJSON, "json", false, "print JSON")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			fmt.Fprint(stdout, usage)
			flags.SetOutput(stdout)
			flags.PrintDefaults()
		}
		return s, false, err
	}
	if flags.NArg() > 0 {
		return s, false, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	return s, asJSON, s.Validate()
}

func (s *Setup) flags(flags *flag.FlagSet) {
	flags.Float64Var(&s.Rate, "rate", s.Rate, "`reads` of the hottest key per second, over all instances")
	flags.DurationVar(&s.Delta, "delta", s.Delta, "how long a load takes on average, a `duration` such as 400ms")
	flags.DurationVar(&s.Deviation, "deviation", s.Deviation, "by how much loads differ from that on average, a `duration`")
	flags.DurationVar(&s.TTL, "ttl", s.TTL, "how long a value may live, a `duration`")
	flags.IntVar(&s.Keys, "keys", s.Keys, "`number` of keys that live at a time, and may have been written together")
	flags.IntVar(&s.Instances, "instances", s.Instances, "`number` of instances of the cache")
	flags.DurationVar(&s.RoundTrip, "roundtrip", s.RoundTrip, "to the store that instances share and back, a `duration`; 0: they share none")
	flags.Float64Var(&s.Capacity, "capacity", s.Capacity, "`calls` per second that the origin can take")
	flags.IntVar(&s.Concurrent, "concurrent", s.Concurrent, "`calls` at once that the origin can take; 0: as many as -capacity makes")
	flags.Float64Var(&s.Node, "node", s.Node, "`reads` per second that a node of the shared store can take")
	flags.Float64Var(&s.Other, "other", s.Other, "`reads` per second of other keys on the hottest key's node")
	flags.DurationVar(&s.Staleness, "staleness", s.Staleness, "how much longer than in the shared store a value may live in an instance, a `duration`")
	flags.Float64Var(&s.Extra, "extra", s.Extra, "target: loads beyond one per life, as a `share`")
	flags.Float64Var(&s.Late, "late", s.Late, "target: `share` of refreshes that may start with less than a load's time left")
	flags.Uint64Var(&s.Seed, "seed", s.Seed, "`seed` for the run that the last line proposes; nothing in a plan is random")
}
