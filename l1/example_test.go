package l1_test

import (
	"fmt"
	"time"

	"github.com/earlybird-cache/earlybird/l1"
)

func Example() {
	tier, err := l1.New[string](l1.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer tier.Close()

	at := func(d time.Duration) int64 { return int64(d) } // any clock will do
	tier.Put("price:42", "9.90", 7, at(2*time.Second))

	fmt.Println(tier.Get("price:42", at(time.Second)))
	fmt.Println(tier.Put("price:42", "9.50", 6, at(9*time.Second))) // an older version
	fmt.Println(tier.Get("price:42", at(2*time.Second)))            // too late
	// Output:
	// 9.90 true
	// false
	//  false
}

// A fill that began before an invalidation does not store what it found.
func ExampleTier_Begin() {
	tier, _ := l1.New[string](l1.Options{})
	defer tier.Close()

	fill := tier.Begin("price:42") // a fill begins and reads the store,
	tier.Delete("price:42")        // an invalidation comes in between,
	kept := fill.Put("9.90", 7, int64(time.Minute))

	_, found := tier.Get("price:42", 0)
	fmt.Println(kept, found)
	// Output: false false
}
