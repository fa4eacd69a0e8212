package hostile_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/earlybird-cache/earlybird"
	"github.com/earlybird-cache/earlybird/fuzz/archive"
	"github.com/earlybird-cache/earlybird/fuzz/hostile"
)

// A thousand keys of somebody who counts product numbers up, against a cache
// that knows what keys look like. All of them look right, so that each is asked
// for: it takes a guard to stop this one.
func ExampleAttack() {
	things := archive.New(8000, 1)
	queries := 0
	cache, err := earlybird.New(func(ctx context.Context, key string) (string, error) {
		queries++
		if !things.Exists(key) {
			return "", earlybird.ErrNotFound
		}
		return key, nil
	}, earlybird.Options[string]{TTL: time.Minute, Shapes: archive.Shapes()})
	if err != nil {
		panic(err)
	}
	defer cache.Close()

	attack, err := hostile.Named("sequential")
	if err != nil {
		panic(err)
	}
	asked := 0
	for key := range attack.Keys(&hostile.Target{Archive: things, MaxKeyLen: 1024}, 1) {
		if asked++; asked > 1000 {
			break
		}
		if _, err := cache.Get(context.Background(), key); !errors.Is(err, earlybird.ErrNotFound) {
			fmt.Println(key, err)
		}
	}
	fmt.Println(queries, "queries")
	// Output: 1000 queries
}
