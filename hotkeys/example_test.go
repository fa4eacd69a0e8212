package hotkeys_test

import (
	"fmt"
	"time"

	"github.com/earlybird-cache/earlybird/hotkeys"
)

func Example() {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	tracker, err := hotkeys.New(hotkeys.Options{
		Threshold: 100, // so low that every read is sampled
		Redact:    func(key string) string { return key[:5] + "*" },
		Now:       func() time.Time { return now },
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for range 300 {
		tracker.Touch("user:42")
	}
	for range 50 {
		tracker.Touch("user:7")
	}
	for _, k := range tracker.Top(10) {
		fmt.Printf("%s %.0f/s\n", k.Key, k.Rate)
	}
	for _, k := range tracker.Above(100) {
		fmt.Println("hot:", k.Key)
	}
	// Output:
	// user:* 300/s
	// user:* 50/s
	// hot: user:42
}

// A key that falls quiet for a moment stays hot.
func ExampleHysteresis() {
	rule := hotkeys.Hysteresis{Threshold: 1000}
	var key hotkeys.Standing
	for second, rate := range []float64{400, 1200, 900, 300, 300, 900} {
		key = rule.Next(key, rate, time.Duration(second)*time.Second)
		fmt.Print(key.Hot, " ")
	}
	// Output: false true true true true true
}

// How few reads must be looked at to find keys read 5,000 times a second, and
// what are the odds?
func ExampleSampleRate() {
	q := hotkeys.SampleRate(5000, time.Second)
	fmt.Printf("%.1f %% of the reads\n", 100*q)
	fmt.Printf("5,000/s missed:  %.1e\n", 1-hotkeys.Flagged(5000, 5000, time.Second, q))
	fmt.Printf("2,500/s flagged: %.1e\n", hotkeys.Flagged(2500, 5000, time.Second, q))
	// Output:
	// 3.5 % of the reads
	// 5,000/s missed:  9.8e-04
	// 2,500/s flagged: 9.6e-07
}

// Fifty processes keep a hot key for a second each and ask the shared tier fifty
// times a second, which one server bears. Two thousand need three copies.
func ExamplePlan() {
	plan, err := hotkeys.NewPlan(hotkeys.Rule{ServerReads: 800})
	if err != nil {
		fmt.Println(err)
		return
	}
	listed := []hotkeys.HotKey{{Key: "price:42", Lower: 9000}} // by Tracker.Above(plan.Floor())
	for second, processes := range []int{50, 2000, 2000} {
		for _, k := range plan.Update(time.Duration(second)*time.Second, listed, processes) {
			fmt.Println(k.Key, "is", k.State, k.Copies)
		}
	}
	fmt.Println(plan.State("price:43"))
	// Output:
	// price:42 is promoted 1
	// price:42 is split 3
	// cold 1
}
