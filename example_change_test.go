package earlybird_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/earlybird-cache/earlybird"
	"github.com/earlybird-cache/earlybird/bloom"
	"github.com/earlybird-cache/earlybird/keyshape"
)

// Invalidate follows the write. Whoever asks once it has returned is given what
// the origin has now, also while a load from before it is still under way.
func ExampleCache_Invalidate() {
	stock := map[string]int{"kettle": 3}
	cache, err := earlybird.New(func(ctx context.Context, key string) (int, error) {
		return stock[key], nil
	}, earlybird.Options[int]{TTL: time.Hour})
	if err != nil {
		panic(err)
	}
	defer cache.Close()

	ctx := context.Background()
	fmt.Println(cache.Get(ctx, "kettle"))
	stock["kettle"]-- // UPDATE, and commit
	fmt.Println(cache.Get(ctx, "kettle"))
	if err := cache.Invalidate(ctx, "kettle"); err != nil {
		panic(err)
	}
	fmt.Println(cache.Get(ctx, "kettle"))
	// Output:
	// 3 <nil>
	// 3 <nil>
	// 2 <nil>
}

// Strangers who make up ids are turned away before the origin hears of them: by
// the shape of the id, or by the guard that knows which exist. Created tells the
// guard of a new one.
func ExampleCache_Created() {
	orders := map[string]string{"order-1": "a kettle"}
	guard, err := bloom.New(bloom.Options{FalsePositiveRate: 1e-6})
	if err != nil {
		panic(err)
	}
	ids := func(yield func(string, error) bool) { yield("order-1", nil) }
	if err := guard.Build(context.Background(), ids); err != nil {
		panic(err)
	}
	cache, err := earlybird.New(func(ctx context.Context, key string) (string, error) {
		fmt.Println("origin asked for", key)
		order, ok := orders[key]
		if !ok {
			return "", earlybird.ErrNotFound
		}
		return order, nil
	}, earlybird.Options[string]{
		TTL:    time.Minute,
		Shapes: keyshape.MustCompile("order-{uint}"),
		Guard:  guard,
	})
	if err != nil {
		panic(err)
	}
	defer cache.Close()

	ctx := context.Background()
	for _, key := range []string{"order-1", "order-2", "order-2; DROP TABLE"} {
		fmt.Println(cache.Get(ctx, key))
	}

	// Creating would do both calls around the commit.
	if err := cache.Created(ctx, "order-2"); err != nil {
		panic(err)
	}
	orders["order-2"] = "two cups" // INSERT, and commit
	if err := cache.Created(ctx, "order-2"); err != nil {
		panic(err)
	}
	fmt.Println(cache.Get(ctx, "order-2"))
	// Output:
	// origin asked for order-1
	// a kettle <nil>
	//  earlybird: not found
	//  earlybird: malformed key
	// origin asked for order-2
	// two cups <nil>
}

// While the origin fails, what was there before stands in for it, and the
// origin is asked less and less often.
func ExampleOptions_staleIfError() {
	now := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	down := false
	cache, err := earlybird.New(func(ctx context.Context, key string) (string, error) {
		if down {
			return "", errors.New("connection refused")
		}
		return "21 °C", nil
	}, earlybird.Options[string]{
		TTL:          time.Minute,
		StaleIfError: time.Hour,
		OnError:      func(e earlybird.Event) { fmt.Println(e.Key, e.Err) },
		Now:          func() time.Time { return now }, // so that this example need not wait
	})
	if err != nil {
		panic(err)
	}
	defer cache.Close()

	ctx := context.Background()
	for _, passes := range []time.Duration{0, 10 * time.Minute, time.Millisecond, 2 * time.Hour} {
		now = now.Add(passes)
		r, err := cache.Lookup(ctx, "weather")
		fmt.Printf("%q %v %v\n", r.Value, r.State == earlybird.Stale, err)
		down = true
	}
	// Output:
	// "21 °C" false <nil>
	// weather connection refused
	// "21 °C" true <nil>
	// "21 °C" true <nil>
	// weather connection refused
	// "" false connection refused
}
