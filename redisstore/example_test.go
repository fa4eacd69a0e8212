package redisstore_test

import (
	"context"
	"fmt"
	"time"

	"github.com/earlybird-cache/earlybird"
	"github.com/earlybird-cache/earlybird/redisstore"
	"github.com/earlybird-cache/earlybird/store"
)

func Example() {
	load := func(ctx context.Context, key string) (string, error) {
		return "profile of " + key, nil // from a database
	}
	tier, err := redisstore.New(redisstore.Options[string]{URL: "redis://cache:6379"})
	if err != nil {
		panic(err)
	}
	defer tier.Close()
	cache, err := earlybird.New(load, earlybird.Options[string]{TTL: time.Minute, Store: tier})
	if err != nil {
		panic(err)
	}
	defer cache.Close()

	profile, err := cache.Get(context.Background(), "user:42")
	fmt.Println(profile, err)
}

// A tier can be used without a cache, too.
func ExampleStore_Acquire() {
	tier, err := redisstore.New(redisstore.Options[string]{
		URL:       "redis://localhost:6379",
		Namespace: "prices.v1",
	})
	if err != nil {
		panic(err)
	}
	defer tier.Close()

	ctx := context.Background()
	found, err := tier.Get(ctx, "gold")
	if err == nil && found.Kind == store.Value && found.Left > 0 {
		fmt.Println(found.Value)
		return
	}
	claim, err := tier.Acquire(ctx, "gold", found.Generation, 5*time.Second)
	if err != nil || claim.Outcome != store.Granted {
		return // the tier is away, or somebody else is at it
	}
	began := time.Now()
	price := "2,100" // from the origin
	err = tier.Publish(ctx, claim.Lease, store.Record[string]{
		Kind: store.Value, Value: price, Life: time.Minute, Cost: time.Since(began), Delta: time.Since(began),
	})
	if err == store.ErrLost {
		fmt.Println("somebody changed the price meanwhile")
	}
}
