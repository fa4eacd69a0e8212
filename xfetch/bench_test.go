package xfetch

import (
	"math/rand/v2"
	"testing"
	"time"
)

var sink bool

// What does a read pay before the window opens, when its caller does not keep
// the instant and calls Due anyway?
func BenchmarkDue_beforeWindow(b *testing.B) {
	scale := 400 * time.Millisecond
	for b.Loop() {
		sink = Due(time.Minute, scale, 0.5)
	}
}

// And inside it? The logarithm is nearly all of that.
func BenchmarkDue_inWindow(b *testing.B) {
	scale := 400 * time.Millisecond
	rng := rand.New(rand.NewPCG(1, 2))
	for b.Loop() {
		sink = Due(5*time.Second, scale, rng.Float64())
	}
}

// The planner calls this once per plan; it is the only form that integrates.
func BenchmarkFleetLoads(b *testing.B) {
	law := atRate(10, 1)
	for b.Loop() {
		sink = law.FleetLoads(10) > 1
	}
}
