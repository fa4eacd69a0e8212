package bloom_test

import (
	"context"
	"fmt"

	"github.com/earlybird-cache/earlybird/bloom"
)

func ExampleGuard() {
	guard, err := bloom.New(bloom.Options{FalsePositiveRate: 1e-6})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("before the build:", guard.MayContain("sku-999"))

	// In earnest the ids come from a query; an error it yields ends the build
	// and leaves the guard as it was.
	products := func(yield func(string, error) bool) {
		for i := range 100 {
			if !yield(fmt.Sprintf("sku-%03d", i), nil) {
				return
			}
		}
	}
	if err := guard.Build(context.Background(), products); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("exists:", guard.MayContain("sku-042"))
	fmt.Println("does not:", guard.MayContain("sku-999"))

	guard.Add("sku-999") // about to be created
	fmt.Println("now does:", guard.MayContain("sku-999"))
	fmt.Println(guard.Stats().State)
	// Output:
	// before the build: true
	// exists: true
	// does not: false
	// now does: true
	// ready
}
