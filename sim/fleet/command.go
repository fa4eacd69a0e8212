package fleet

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
)

const usage = `usage: sim fleet [flags]

Runs a fleet of real caches before one slow origin, with a real Redis or Valkey
server that they share, in real time, and prints what origin, readers and server
saw with one set of defences after the other. With -cold, -hot or -outage it plays that
instead:

  -cold         a crowd comes to all instances for a key that no cache has
  -hot          nearly all readers want one key, on a Cluster of three masters with a
                replica each: what each master bears, and for how long an old value
                is served after a change; -keys, -ttl and -near are not used
  -outage kill  the server is killed while it is in use, and started again, empty
  -outage stop  the server is stopped, so that it accepts and never answers, and
                goes on

All runs on this machine: where it has few processors, they are what readers wait
for. What is stored on a server that was running before begins with sim-fleet. and
is deleted; what others do with that server meanwhile is counted with the rest.

`

// Command is the command with its flags set.
type Command struct {
	setup   Setup
	scene   scene
	json    bool
	verbose bool
}

// Main runs the command with the arguments that follow its name and returns its exit
// code: 0, 1 when it could not be played or written, 2 for bad input.
func Main(args []string, stdout, stderr io.Writer) int {
	c, err := parse(args, stdout)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintln(stderr, "sim fleet:", err)
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	report, err := c.setup.run(ctx, c.scene, stderr)
	if ctx.Err() != nil {
		err = errors.New("interrupted")
	}
	if err == nil && c.json {
		err = report.writeJSON(stdout)
	} else if err == nil {
		err = report.writeText(stdout, c.verbose)
	}
	if err != nil {
		fmt.Fprintln(stderr, "sim fleet:", err)
		return 1
	}
	return 0
}

// parse reads the flags into a valid command, or prints help.
func parse(args []string, stdout io.Writer) (c Command, err error) {
	c.setup = Default
	flags := flag.NewFlagSet("fleet", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // one line about an error is enough, and ours to print
	c.setup.flags(flags)
	cold := flags.Bool("cold", false, "play a crowd at a cold key")
	hot := flags.Bool("hot", false, "play a key that is far hotter than the rest, on a Cluster")
	outage := flags.String("outage", "", "play an outage of the server, which is `kill` or stop")
	flags.BoolVar(&c.json, "json", false, "print JSON")
	flags.BoolVar(&c.verbose, "v", false, "print the server's commands, too")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			fmt.Fprint(stdout, usage)
			flags.SetOutput(stdout)
			flags.PrintDefaults()
		}
		return c, err
	}
	if flags.NArg() > 0 {
		return c, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	}
	if c.scene, err = sceneOf(*cold, *hot, *outage); err != nil {
		return c, err
	}
	if *outage != "" && c.setup.Redis != Auto {
		return c, errors.New("-outage needs -redis auto: it does not harm a server that others may use")
	}
	return c, c.setup.Validate()
}

func sceneOf(cold, hot bool, outage string) (scene, error) {
	switch {
	case outage != "" && outage != kill && outage != stop:
		return scene{}, fmt.Errorf("-outage must be %s or %s, not %q", kill, stop, outage)
	case cold && hot, (cold || hot) && outage != "":
		return scene{}, errors.New("-cold, -hot and -outage are commands of their own: give one of them")
	case cold:
		return scene{reads: coldReads, play: playCold}, nil
	case hot:
		return scene{reads: hotReads, play: playHot, cluster: true}, nil
	case outage != "":
		return scene{reads: outageReads, play: func(ctx context.Context, r *run) error { return playOutage(ctx, r, outage) }}, nil
	}
	return scene{reads: rungReads, play: playRungs}, nil
}
