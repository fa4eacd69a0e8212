package refresh

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"runtime"
	"strings"
	"time"
)

const usage = `usage: sim refresh [flags]

Plays the early refresh of one key and prints what it observed beside the closed
forms: the chance that a read is elected to refresh, by time left before expiry,
and the loads that an expiry costs. Two engines play it: one plays every read as an
event, the other draws elections alone, exactly, and needs no reads.

`

// Main runs the command with the arguments that follow its name and returns its
// exit code: 0, 1 when the report could not be written, 2 for bad input.
func Main(args []string, stdout, stderr io.Writer) int {
	setup, asJSON, err := parse(args, stdout)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	var report Report
	if err == nil {
		report, err = Run(setup, NewWatch(stderr))
	}
	if err != nil {
		fmt.Fprintln(stderr, "sim refresh:", err)
		return 2
	}
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

// length is how much is played, when that is given by keys and time.
type length struct {
	keys     int
	duration time.Duration
}

// parse reads the flags into a valid setup, or prints help.
func parse(args []string, stdout io.Writer) (s Setup, asJSON bool, err error) {
	s = Default
	s.Workers = min(maxWorkers, runtime.GOMAXPROCS(0))
	flags := flag.NewFlagSet("refresh", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // one line about an error is enough, and ours to print
	var n length
	s.keyFlags(flags)
	s.fleetFlags(flags)
	s.runFlags(flags, &n)
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
	if err := s.Validate(); err != nil {
		return s, false, err
	}
	given := false
	flags.Visit(func(f *flag.Flag) { given = given || f.Name == "expiries" })
	if err := s.lengthen(n, given); err != nil {
		return s, false, err
	}
	return s, asJSON, s.Validate()
}

// lengthen turns keys and a duration into expiries.
func (s *Setup) lengthen(n length, given bool) error {
	const maxKeys = 1_000_000_000
	switch {
	case n.keys < 1 || n.keys > maxKeys:
		return fmt.Errorf("-keys must be from 1 to %d, not %d", maxKeys, n.keys)
	case n.duration < 0 || n.duration > maxTTL:
		return fmt.Errorf("-duration must be from 0 to %v, not %v", maxTTL, n.duration)
	case n.duration > 0 && given:
		return errors.New("-duration and -expiries both say how much to play: give one of them")
	}
	expiries := float64(s.Expiries)
	if n.keys > 1 && n.duration == 0 {
		expiries *= float64(n.keys)
	}
	if n.duration > 0 {
		expiries = s.perDuration(n.duration, n.keys)
	}
	if expiries > maxExpiries {
		return fmt.Errorf("%.3g expiries are too many, and %d is the most: lower -keys, -duration or -expiries", expiries, maxExpiries)
	}
	s.Expiries = max(2, int(expiries))
	return nil
}

// Command is the command line that plays the setup's key and fleet, for a reader of
// its figures to try.
func (s Setup) Command() string {
	d := Default
	own, usual := flag.NewFlagSet("", flag.ContinueOnError), flag.NewFlagSet("", flag.ContinueOnError)
	for flags, setup := range map[*flag.FlagSet]*Setup{own: &s, usual: &d} {
		setup.keyFlags(flags)
		setup.fleetFlags(flags)
	}
	line := "sim refresh"
	own.VisitAll(func(f *flag.Flag) {
		if value := f.Value.String(); value != usual.Lookup(f.Name).Value.String() {
			if strings.HasSuffix(value, "m0s") { // 1m rather than 1m0s
				value = value[:len(value)-len("0s")]
			}
			line += fmt.Sprintf(" -%s=%s", f.Name, value)
		}
	})
	return line
}

func (s *Setup) keyFlags(flags *flag.FlagSet) {
	flags.Float64Var(&s.Rate, "rate", s.Rate, "`reads` of a key per second, over all instances")
	flags.DurationVar(&s.Delta, "delta", s.Delta, "how long a load takes on average, a `duration` such as 400ms")
	flags.Var(&s.Cost, "cost", "`distribution` of what loads take: "+costUsage)
	flags.DurationVar(&s.TTL, "ttl", s.TTL, "how long an entry lives, a `duration`")
	flags.Float64Var(&s.Jitter, "jitter", s.Jitter, "`share` by which lives are shortened at random")
	flags.StringVar(&s.Rule, "rule", s.Rule, "classic, or deadline: aim so that refreshes end in time at any rate")
	flags.Float64Var(&s.Beta, "beta", s.Beta, "`eagerness` to refresh early; 0 is never")
	flags.StringVar(&s.Estimator, "estimator", s.Estimator, "what is remembered of load times: ewma, or the last one")
	flags.DurationVar(&s.Stored, "stored", s.Stored, "a load time to remember instead, whatever loads take, a `duration`")
	flags.Float64Var(&s.Reach, "reach", s.Reach, "the most by which the deadline rule comes early, a `share` of the life; 0 is its default")
	flags.Float64Var(&s.KnownRate, "known", s.KnownRate, "the `reads` per second that the deadline rule builds on; 0 is the true rate")
}

func (s *Setup) fleetFlags(flags *flag.FlagSet) {
	flags.IntVar(&s.Instances, "instances", s.Instances, "`number` of instances that share the entry")
	flags.StringVar(&s.Coordination, "coordination", s.Coordination, "none, singleflight in each instance, or lease")
	flags.DurationVar(&s.RoundTrip, "roundtrip", s.RoundTrip, "`time` until others see a lease")
	flags.DurationVar(&s.Lag, "lag", s.Lag, "`time` until others see a new value")
	flags.BoolVar(&s.Inline, "inline", s.Inline, "elected readers wait for the load they start, which otherwise runs behind them")
	flags.DurationVar(&s.Skew, "skew", s.Skew, "standard deviation of the instances' clocks, a `duration`")
	flags.DurationVar(&s.Step, "step", s.Step, "in which all clocks move, a `duration`; 0 is smoothly")
}

func (s *Setup) runFlags(flags *flag.FlagSet, n *length) {
	flags.IntVar(&n.keys, "keys", 1, "`number` of such keys")
	flags.DurationVar(&n.duration, "duration", 0, "how long each key is watched, a `duration`; 0 is for -expiries")
	flags.IntVar(&s.Expiries, "expiries", s.Expiries, "`number` of expiries of each key to play")
	flags.IntVar(&s.Events, "events", s.Events, "the event engine plays about as many `reads`; 0 leaves it out")
	flags.IntVar(&s.Draws, "draws", s.Draws, "`number` of draws for each time left")
	flags.Uint64Var(&s.Seed, "seed", s.Seed, "`seed` of the random numbers; the same seed gives the same figures")
	flags.IntVar(&s.Workers, "workers", s.Workers, "`number` of goroutines; the figures do not depend on it")
}
