package refresh

import (
	"errors"
	"flag"
	"fmt"
	"io"
)

const usage = `usage: sim refresh [flags]

Plays the early refresh of one key and prints what it observed beside the closed
forms: the chance that a read is elected to refresh, by time left before expiry,
and the loads that an expiry costs.

`

// Main runs the command with the arguments that follow its name and returns its
// exit code: 0, 1 when the report could not be written, 2 for bad input.
func Main(args []string, stdout, stderr io.Writer) int {
	setup, asJSON, err := parse(args, stdout)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintln(stderr, "sim refresh:", err)
		return 2
	}
	report := Run(setup)
	write := report.WriteText
	if asJSON {
		write = report.WriteJSON
	}
	if err := write(stdout); err != nil {
		fmt.Fprintln(stderr, "sim refresh:", err)
		return 1
	}
	return 0
}

// parse reads the flags into a valid setup, or prints help.
func parse(args []string, stdout io.Writer) (s Setup, asJSON bool, err error) {
	flags := flag.NewFlagSet("refresh", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // one line about an error is enough, and ours to print
	flags.Float64Var(&s.Rate, "rate", Default.Rate, "`reads` of the key per second, over all instances")
	flags.DurationVar(&s.Delta, "delta", Default.Delta, "how long a load takes, a `duration` such as 400ms")
	flags.DurationVar(&s.TTL, "ttl", Default.TTL, "how long an entry lives, a `duration`")
	flags.Float64Var(&s.Beta, "beta", Default.Beta, "`eagerness` to refresh early; 0 is never")
	flags.IntVar(&s.Instances, "instances", Default.Instances, "`number` of instances that share the entry")
	flags.IntVar(&s.Expiries, "expiries", Default.Expiries, "`number` of expiries to play")
	flags.IntVar(&s.Draws, "draws", Default.Draws, "`number` of draws for each time left")
	flags.Uint64Var(&s.Seed, "seed", Default.Seed, "`seed` of the random numbers; the same seed gives the same report")
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
