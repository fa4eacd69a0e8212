// Command fuzz attacks the cache and says what got through.
//
//	go run ./fuzz                       every attack, on the cache with all its defences
//	go run ./fuzz -attack murmur        one of them
//	go run ./fuzz -targets 10s | sh -e  every native fuzz target of the module, ten seconds each
//
// It exits with 0 if all attacks stayed within their bounds, 1 if one broke through or the
// run failed, and 2 for flags that make no sense. Flag -h lists the attacks.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
)

func main() {
	c, err := parse(os.Args[1:], os.Stdout)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return
	case err != nil:
		fmt.Fprintln(os.Stderr, "fuzz:", err)
		os.Exit(2)
	}
	held, err := c.run(os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "fuzz:", err)
	}
	if err != nil || !held {
		os.Exit(1)
	}
}
