package bloom_test

import (
	"context"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"

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

// products stands for a table with an index on its id.
var products = []string{"sku-001", "sku-002", "sku-003", "sku-004", "sku-005"}

// scan stands for SELECT id FROM products WHERE id > after ORDER BY id.
func scan(_ context.Context, after string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		from, _ := slices.BinarySearch(products, after+"\x00")
		for _, id := range products[from:] {
			if !yield(id, nil) {
				return
			}
		}
	}
}

// A source that breaks off is resumed after the last id it gave.
func ExampleSource() {
	broke := false
	source := bloom.Source{
		Open: func(ctx context.Context, after string) iter.Seq2[string, error] {
			fmt.Printf("reading on after %q\n", after)
			return func(yield func(string, error) bool) {
				for id := range scan(ctx, after) {
					if id > "sku-003" && !broke {
						broke = true
						yield("", fmt.Errorf("connection reset"))
						return
					}
					if !yield(id, nil) {
						return
					}
				}
			}
		},
		Progress: func(ids int, last string) { fmt.Println(ids, "ids, the last is", last) },
	}
	guard, err := bloom.New(bloom.Options{Name: "products"})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	fmt.Println(guard.Build(ctx, source.IDs(ctx)))
	// Output:
	// reading on after ""
	// reading on after "sku-003"
	// 5 ids, the last is sku-005
	// <nil>
}

// A restart: the snapshot spares the scan, and what was created after it is
// read before the guard refuses anything.
func ExampleGuard_LoadFile() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "guard")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "products.guard")

	opts := bloom.Options{Name: "products", FalsePositiveRate: 1e-6}
	before, _ := bloom.New(opts)
	if err := before.Build(ctx, scan(ctx, "")); err != nil {
		fmt.Println(err)
	}
	if err := before.SaveFile(file); err != nil {
		fmt.Println(err)
	}

	after, _ := bloom.New(opts)
	_, err = after.LoadFile(ctx, file, func(s bloom.Snapshot) iter.Seq2[string, error] {
		// SELECT id FROM products WHERE created_at > s.Read - '5 minutes'
		return func(yield func(string, error) bool) { yield("sku-006", nil) }
	})
	fmt.Println(err, after.Stats().State)
	fmt.Println(after.MayContain("sku-001"), after.MayContain("sku-006"), after.MayContain("sku-777"))
	// Output:
	// <nil> ready
	// true true false
}
