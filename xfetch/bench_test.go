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

// Does a shift make it dearer?
func BenchmarkAim_beforeWindow(b *testing.B) {
	aim := Aim{400 * time.Millisecond, 2 * time.Second}
	for b.Loop() {
		sink = aim.Due(time.Minute, 0.5)
	}
}

// What does an entry pay when it is written?
func BenchmarkRule(b *testing.B) {
	known := Known{Cost: Cost{400 * time.Millisecond, 50 * time.Millisecond}, Rate: 25}
	for b.Loop() {
		sink = Deadline.Aim(known, 1, time.Minute).Shift > 0
	}
}

// The planner calls this once per plan; it is the only form that integrates.
func BenchmarkFleetLoads(b *testing.B) {
	law := atRate(10, 1)
	for b.Loop() {
		sink = law.FleetLoads(10) > 1
	}
}
