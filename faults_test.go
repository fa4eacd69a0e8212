package earlybird_test

import "slices"

// edit replaces text in a file. The text must occur there exactly once, so
// that this table fails when the code has moved on without it.
type edit struct{ file, old, new string }

// edits plant faults, each in force when planted is asked for it by name; what
// planted is told beside is the profile or the storm of the model test in which
// the fault shows soonest. The model test must tell the cache with any one of
// them from the cache without.
// With dawdle they also hold goroutines up in windows that are otherwise a few
// nanoseconds wide; the faultless cache is dawdling too.
var edits = slices.Concat(readEdits, changeEdits, loadEdits, tierEdits)

// planting is what each edited package needs beside.
const planting = `
import (
	"math/rand/v2"
	"os"
	"runtime"
)

var plantedFault = os.Getenv("EARLYBIRD_PLANTED_FAULT")

func planted(fault, _ string) bool { return fault == plantedFault }

func dawdle() {
	for range rand.IntN(20) {
		runtime.Gosched()
	}
}
`
