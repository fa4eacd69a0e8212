package earlybird_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/earlybird-cache/earlybird"
	"github.com/earlybird-cache/earlybird/bloom"
	"github.com/earlybird-cache/earlybird/keyshape"
)

// A thousand readers of a cold key, and the origin feels one.
func Example() {
	var queries atomic.Int64
	load := func(ctx context.Context, key string) (string, error) {
		queries.Add(1)
		time.Sleep(50 * time.Millisecond) // a database, on a good day
		return "profile of " + key, nil
	}
	cache, err := earlybird.New(load, earlybird.Options[string]{TTL: time.Minute})
	if err != nil {
		panic(err)
	}
	defer cache.Close()

	profiles := make(chan string)
	for range 1000 {
		go func() {
			profile, _ := cache.Get(context.Background(), "user:42")
			profiles <- profile
		}()
	}
	for range 1000 {
		<-profiles
	}
	fmt.Println("queries:", queries.Load())
	// Output: queries: 1
}

// A loader says ErrNotFound for what does not exist. That is remembered for a
// while, and no other error is.
func ExampleLoader() {
	users := map[string]string{"user:1": "Ann"}
	queries := 0
	cache, err := earlybird.New(func(ctx context.Context, key string) (string, error) {
		queries++
		name, ok := users[key]
		if !ok {
			return "", fmt.Errorf("users: %s: %w", key, earlybird.ErrNotFound)
		}
		return name, nil
	}, earlybird.Options[string]{TTL: time.Minute, NegativeTTL: 10 * time.Second})
	if err != nil {
		panic(err)
	}
	defer cache.Close()

	for range 3 {
		_, err = cache.Get(context.Background(), "user:2")
		fmt.Println(errors.Is(err, earlybird.ErrNotFound), queries)
	}
	// Output:
	// true 1
	// true 1
	// true 1
}

func ExampleCache_Lookup() {
	cache, err := earlybird.New(func(ctx context.Context, key string) (int, error) {
		return len(key), nil
	}, earlybird.Options[int]{TTL: time.Hour})
	if err != nil {
		panic(err)
	}
	defer cache.Close()

	for range 2 {
		r, err := cache.Lookup(context.Background(), "hello")
		fmt.Println(r.Value, r.State == earlybird.Loaded, r.State == earlybird.Fresh, err)
	}
	// Output:
	// 5 true false <nil>
	// 5 false true <nil>
}

// Creating tells the cache of a new row around the transaction that makes it:
// readers who asked too early remember nothing of it.
func ExampleCache_Creating() {
	orders := map[string]string{}
	cache, err := earlybird.New(func(ctx context.Context, key string) (string, error) {
		order, ok := orders[key]
		if !ok {
			return "", earlybird.ErrNotFound
		}
		return order, nil
	}, earlybird.Options[string]{TTL: time.Minute})
	if err != nil {
		panic(err)
	}
	defer cache.Close()

	ctx := context.Background()
	_, err = cache.Get(ctx, "order:7")
	fmt.Println(err)

	err = cache.Creating(ctx, []string{"order:7"}, func() error {
		orders["order:7"] = "three books" // commit
		return nil
	})
	if err != nil {
		panic(err)
	}
	fmt.Println(cache.Get(ctx, "order:7"))
	// Output:
	// earlybird: not found
	// three books <nil>
}

// The guard knows product numbers. A key names the locale too, so that the
// guard is asked about one part of it.
func ExampleOptions_guard() {
	guard, err := bloom.New(bloom.Options{})
	if err != nil {
		panic(err)
	}
	numbers := func(yield func(string, error) bool) {
		_ = yield("1001", nil) && yield("1002", nil)
	}
	if err := guard.Build(context.Background(), numbers); err != nil {
		panic(err)
	}

	cache, err := earlybird.New(func(ctx context.Context, key string) (string, error) {
		fmt.Println("origin asked for", key)
		return "a kettle", nil
	}, earlybird.Options[string]{
		TTL:       time.Minute,
		Shapes:    keyshape.Joined(keyshape.MustCompile("{en|de}"), keyshape.MustCompile("{uint}")),
		Guard:     guard,
		GuardPart: func(key string) string { number, _ := keyshape.Part(key, 1); return number },
	})
	if err != nil {
		panic(err)
	}
	defer cache.Close()

	for _, key := range []string{
		keyshape.Join("en", "1001"),
		keyshape.Join("de", "9999"),
		keyshape.Join("en", "1 OR 1=1"),
	} {
		fmt.Println(cache.Get(context.Background(), key))
	}
	// Output:
	// origin asked for 2:en,4:1001,
	// a kettle <nil>
	//  earlybird: not found
	//  earlybird: malformed key
}
