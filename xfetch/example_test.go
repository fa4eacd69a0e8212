package xfetch_test

import (
	"fmt"
	"time"

	"github.com/earlybird-cache/earlybird/xfetch"
)

// An entry that lives a minute and took 400 ms to load.
func Example() {
	const ttl = time.Minute
	scale := xfetch.ClampScale(xfetch.Scale(400*time.Millisecond, 1), ttl)
	fmt.Println("no draw can succeed before", (ttl - xfetch.Window(scale)).Round(time.Millisecond))

	for _, left := range []time.Duration{10 * time.Second, 2 * time.Second, 400 * time.Millisecond, 100 * time.Millisecond} {
		fmt.Printf("%5v left: elected with probability %.2g\n", left, xfetch.Probability(left, scale))
	}
	// Output:
	// no draw can succeed before 45.305s
	//   10s left: elected with probability 1.4e-11
	//    2s left: elected with probability 0.0067
	// 400ms left: elected with probability 0.37
	// 100ms left: elected with probability 0.78
}

func ExampleDue() {
	const scale = 400 * time.Millisecond
	fmt.Println(xfetch.Due(2*time.Second, scale, 0.5))   // -ln(.5) = .69 scales: not yet
	fmt.Println(xfetch.Due(2*time.Second, scale, 0.006)) // 5.1 scales: beyond expiry
	fmt.Println(xfetch.Due(0, scale, 1))                 // expired
	// Output:
	// false
	// true
	// true
}

func ExampleSmooth() {
	var delta time.Duration
	for _, load := range []time.Duration{100, 100, 500, 100} {
		delta = xfetch.Smooth(delta, load*time.Millisecond)
		fmt.Println(delta)
	}
	// Output:
	// 100ms
	// 100ms
	// 200ms
	// 175ms
}

// A key that is read three times a second is nearly always late with the classic
// rule, as a load takes 400 ms.
func ExampleRule() {
	const ttl, rate = time.Minute, 3
	known := xfetch.Known{Cost: xfetch.Cost{Mean: 400 * time.Millisecond}, Rate: rate}
	for _, rule := range []xfetch.Rule{xfetch.Classic, xfetch.Deadline, {Late: 0.01}} {
		aim := rule.Aim(known, 1, ttl)
		law := xfetch.Law{Rate: rate, Scale: aim.Scale, Shift: aim.Shift}
		fmt.Printf("aims %v before expiry, starts %v before it, late %.2g %%\n", aim.Shift.Round(time.Millisecond),
			law.ExpectedLeft().Round(time.Millisecond), 100*law.LateProbability(known.Cost.Lead()))
	}
	// Output:
	// aims 0s before expiry, starts 267ms before it, late 64 %
	// aims 3.07s before expiry, starts 3.337s before it, late 0.01 %
	// aims 1.535s before expiry, starts 1.802s before it, late 1 %
}

// Loads that take a second or three: what to allow for.
func ExampleCost() {
	var cost xfetch.Cost
	for _, load := range []time.Duration{1, 1, 3, 1, 1} {
		cost = cost.After(load * time.Second)
		fmt.Println(cost.Mean.Round(time.Millisecond), cost.Lead().Round(time.Millisecond))
	}
	// Output:
	// 1s 2s
	// 1s 1.75s
	// 1.5s 3.063s
	// 1.375s 2.797s
	// 1.281s 2.535s
}

func ExampleJitterFor() {
	// 20,000 keys written together that live ten minutes, one load each, at an
	// origin that can take 200 loads a second.
	j := xfetch.JitterFor(20_000, 1, 200, 10*time.Minute, 0)
	fmt.Printf("%.3f\n", j)
	// Output: 0.167
}

func ExampleLaw() {
	law := xfetch.Law{Rate: 10, Scale: time.Second, Aware: time.Second}
	early, hard := law.LoadsPerExpiry()
	fmt.Printf("loads per expiry: %.2f early, %.2f late\n", early, hard)
	fmt.Printf("first refresh starts %v before expiry\n", law.ExpectedLeft().Round(time.Millisecond))
	fmt.Printf("not finished in time: %.1f %%\n", 100*law.LateProbability(time.Second))
	fmt.Printf("with singleflight on 10 instances: %.2f loads\n", law.FleetLoads(10))
	// Output:
	// loads per expiry: 2.65 early, 0.06 late
	// first refresh starts 2.88s before expiry
	// not finished in time: 2.5 %
	// with singleflight on 10 instances: 2.32 loads
}
