// Package bubble runs the simulator's worlds in virtual time.
//
// A world is a function that uses goroutines, channels, timers and contexts as
// any program does. Run puts it into a bubble of testing/synctest, where the
// clock jumps to the next timer as soon as everybody waits: minutes of traffic
// pass in as much real time as their work takes. Nothing in a world may wait for
// something outside it, the network included, and every goroutine that it starts
// must end before it does.
package bubble

import (
	"fmt"
	"os"
	"runtime/debug"
	"testing"
	"testing/synctest"
)

// A Runner runs worlds. Its zero value is unusable: Main makes one in a program,
// In in a test. It may run several worlds at once, each with a clock of its own.
type Runner struct{ t *testing.T }

// In returns a Runner for the test t.
func In(t *testing.T) Runner { return Runner{t} }

// Main calls f with a Runner and exits the process with the code f returns.
// It never returns, and writes nothing itself unless f panics.
//
// Only the testing package can open a bubble, so f runs as the one test of a test
// binary that is never seen: the program has parsed its own arguments before, and
// leaves before testing can report anything.
func Main(f func(Runner) int) {
	os.Args = os.Args[:1]
	everything := func(_, _ string) (bool, error) { return true, nil }
	program := testing.InternalTest{Name: "program", F: func(t *testing.T) {
		os.Exit(guarded(f, Runner{t}))
	}}
	testing.Main(everything, []testing.InternalTest{program}, nil, nil)
}

// guarded is f with a panic turned into a report and exit code 1: left alone it
// would reach the testing package, which would speak of a failed test.
func guarded(f func(Runner) int, r Runner) (code int) {
	defer func() {
		if p := recover(); p != nil {
			fmt.Fprintln(os.Stderr, Panicked(p))
			code = 1
		}
	}()
	return f(r)
}

// Run runs world in a bubble and returns when it and all its goroutines have
// ended. A panic in world itself, and a world in which everybody waits for ever,
// come back as an error; a panic in a goroutine of the world's own is the world's
// to catch (see Panicked).
func (r Runner) Run(world func()) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = Panicked(p)
		}
	}()
	var inner error
	synctest.Test(r.t, func(*testing.T) {
		defer func() {
			if p := recover(); p != nil {
				inner = Panicked(p)
			}
		}()
		world()
	})
	return inner
}

// Panicked makes an error of a recovered panic and the stack it left behind.
func Panicked(p any) error { return fmt.Errorf("panic: %v\n\n%s", p, debug.Stack()) }
