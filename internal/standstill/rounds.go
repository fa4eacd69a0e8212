package standstill

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// mostRounds is how often a round is played at most.
const mostRounds = 8

// Rounds plays round. If anything fails in it, and the process stood still for
// longer than most meanwhile, that can be the machine's fault: then the round is
// played again, until one passes or its failure is nobody else's. What fails round
// after round fails the test, however busy the machine is.
//
// A round gets a T of its own. What it starts ends with the test.
func Rounds(t *testing.T, most time.Duration, round func(t testing.TB)) {
	t.Helper()
	for n := 1; ; n++ {
		r := &attempt{T: t}
		w := Begin()
		var done sync.WaitGroup
		done.Go(func() { round(r) })
		done.Wait()
		_, _, longest := w.End()
		failures := r.failures()
		switch {
		case failures == "":
			return
		case longest <= most || n == mostRounds || t.Failed():
			t.Fatalf("round %d, in which the process stood still for %v:\n%s", n, longest, failures)
		}
		t.Logf("round %d does not count, for the process stood still for %v:\n%s", n, longest, failures)
	}
}

// attempt is the T of a round: what fails in it is noted, and nothing else.
type attempt struct {
	*testing.T
	mu     sync.Mutex
	failed bool
	notes  []string
}

func (r *attempt) failures() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.failed {
		return ""
	}
	return "failed: " + strings.Join(r.notes, "\n")
}

func (r *attempt) note(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failed = true
	r.notes = append(r.notes, text)
}

func (r *attempt) Failed() bool { return r.failures() != "" }

func (r *attempt) Fail() { r.note("") }

func (r *attempt) FailNow() {
	r.note("")
	runtime.Goexit()
}

func (r *attempt) Error(args ...any) { r.note(fmt.Sprintln(args...)) }

func (r *attempt) Errorf(format string, args ...any) { r.note(fmt.Sprintf(format, args...)) }

func (r *attempt) Fatal(args ...any) {
	r.note(fmt.Sprintln(args...))
	runtime.Goexit()
}

func (r *attempt) Fatalf(format string, args ...any) {
	r.note(fmt.Sprintf(format, args...))
	runtime.Goexit()
}
