// Command sim shows what a cache does to an origin and its clients, on the real
// cache: in virtual time, or, with many caches and a real Redis, in real time.
//
//	go run ./sim             one stream of requests on a ladder of ways to cache
//	go run ./sim refresh     the early refresh of one key beside its closed forms
//	go run ./sim scenarios   everything that is claimed, played and checked
//	go run ./sim fleet       a fleet of caches that share a Redis server
//	go run ./sim plan        the options of a cache from its keys, its origin and two targets
//
// Flag -h explains each.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"strings"

	"github.com/earlybird-cache/earlybird/sim/bubble"
	"github.com/earlybird-cache/earlybird/sim/fleet"
	"github.com/earlybird-cache/earlybird/sim/ladder"
	"github.com/earlybird-cache/earlybird/sim/plan"
	"github.com/earlybird-cache/earlybird/sim/refresh"
	"github.com/earlybird-cache/earlybird/sim/scenarios"
)

func main() {
	args := os.Args[1:]
	switch {
	case len(args) == 0 || strings.HasPrefix(args[0], "-"):
		climb(args)
	case args[0] == "refresh":
		os.Exit(refresh.Main(args[1:], os.Stdout, os.Stderr))
	case args[0] == "fleet":
		os.Exit(fleet.Main(args[1:], os.Stdout, os.Stderr))
	case args[0] == "scenarios":
		play(args[1:])
	case args[0] == "plan":
		os.Exit(plan.Main(args[1:], os.Stdout, os.Stderr))
	default:
		fail(fmt.Errorf("unknown command %q; sim -h lists them", args[0]))
	}
}

// climb plays the ladder. It does not return.
func climb(args []string) {
	command, err := ladder.Parse(args, os.Stdout)
	if errors.Is(err, flag.ErrHelp) {
		os.Exit(0)
	}
	if err != nil {
		fail(err)
	}
	// Each collection looks at the stacks of thousands of clients who wait: let there
	// be fewer of them.
	debug.SetGCPercent(200)
	bubble.Main(func(r bubble.Runner) int {
		return command.Run(r, os.Stdin, os.Stdout, os.Stderr)
	})
}

// play plays scenarios. It does not return.
func play(args []string) {
	command, err := scenarios.Parse(args, os.Stdout)
	if errors.Is(err, flag.ErrHelp) {
		os.Exit(0)
	}
	if err != nil {
		fail(err)
	}
	bubble.Main(func(r bubble.Runner) int { return command.Run(r, os.Stdout, os.Stderr) })
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "sim:", err)
	os.Exit(2)
}
