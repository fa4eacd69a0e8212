package earlybird_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/earlybird-cache/earlybird"
)

// LoadMany asks the origin for all that is missing at once. A key that it
// leaves out does not exist.
func ExampleCache_GetMany() {
	prices := map[string]int{"tea": 3, "coffee": 4}
	one := func(ctx context.Context, key string) (int, error) {
		price, ok := prices[key]
		if !ok {
			return 0, earlybird.ErrNotFound
		}
		return price, nil
	}
	many := func(ctx context.Context, keys []string) (map[string]int, error) {
		fmt.Println("SELECT ... WHERE id IN", keys)
		found := map[string]int{}
		for _, key := range keys {
			if price, ok := prices[key]; ok {
				found[key] = price
			}
		}
		return found, nil
	}
	cache, err := earlybird.New(one, earlybird.Options[int]{TTL: time.Minute, LoadMany: many})
	if err != nil {
		panic(err)
	}
	defer cache.Close()

	ctx := context.Background()
	fmt.Println(cache.Get(ctx, "tea"))
	for range 2 {
		found, err := cache.GetMany(ctx, []string{"tea", "coffee", "gold"})
		fmt.Println(found)
		var missing *earlybird.ManyError
		if errors.As(err, &missing) {
			fmt.Println(missing.Errors["gold"])
		}
	}
	// Output:
	// 3 <nil>
	// SELECT ... WHERE id IN [coffee gold]
	// map[coffee:4 tea:3]
	// earlybird: not found
	// map[coffee:4 tea:3]
	// earlybird: not found
}

// Before a new process takes traffic, it loads what will be asked for, in
// batches and in a small share of MaxLoads.
func ExampleCache_Warm() {
	many := func(ctx context.Context, keys []string) (map[string]string, error) {
		fmt.Println("loading", len(keys))
		found := map[string]string{}
		for _, key := range keys {
			found[key] = "page " + key
		}
		return found, nil
	}
	one := func(ctx context.Context, key string) (string, error) {
		fmt.Println("loading", key)
		return "page " + key, nil
	}
	cache, err := earlybird.New(one, earlybird.Options[string]{TTL: time.Hour, LoadMany: many})
	if err != nil {
		panic(err)
	}
	defer cache.Close()

	ctx := context.Background()
	popular := slices.Values([]string{"/", "/about", "/jobs"}) // say, from yesterday's log
	err = cache.Warm(ctx, popular, func(w earlybird.Warmed) {
		fmt.Println(w.Loaded, "of", w.Seen)
	})
	fmt.Println(err)
	fmt.Println(cache.Get(ctx, "/jobs"))
	// Output:
	// loading 3
	// 3 of 3
	// <nil>
	// page /jobs <nil>
}
