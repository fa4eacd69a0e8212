package earlybird_test

import (
	"context"
	"math"
	"strconv"
	"testing"
	"time"

	"github.com/earlybird-cache/earlybird"
	"github.com/earlybird-cache/earlybird/hotkeys"
	"github.com/earlybird-cache/earlybird/l1"
)

// What does a read of a promoted key cost beside a hit in memory? It should be no
// more than three times that. Plan is what tells that a key is promoted.
//
//	go test -run '^$' -bench Promoted -cpu 1,2 .
func BenchmarkPromoted(b *testing.B) {
	keys := make([]string, 256)
	for i := range keys {
		keys[i] = "product:" + strconv.Itoa(i)
	}
	load := func(context.Context, string) (*int, error) { return new(int), nil }
	near, err := earlybird.New(load, earlybird.Options[*int]{TTL: time.Hour})
	if err != nil {
		b.Fatal(err)
	}
	defer near.Close()
	tier, err := l1.New[*int](l1.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer tier.Close()
	plan, err := hotkeys.NewPlan(hotkeys.Rule{})
	if err != nil {
		b.Fatal(err)
	}
	var listed []hotkeys.HotKey
	for _, key := range keys {
		if _, err := near.Get(b.Context(), key); err != nil {
			b.Fatal(err)
		}
		tier.Put(key, new(int), 1, math.MaxInt64)
		listed = append(listed, hotkeys.HotKey{Key: key, Lower: 1e6})
	}
	plan.Update(0, listed, 1)

	each := func(name string, get func(key string) bool) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for i := 0; pb.Next(); i++ {
					if !get(keys[i%len(keys)]) {
						b.Error("missed")
						return
					}
				}
			})
		})
	}
	each("near", func(key string) bool { _, err := near.Get(context.Background(), key); return err == nil })
	each("promoted", func(key string) bool { _, ok := tier.Get(key, 1); return ok })
	each("plan", func(key string) bool { s, _ := plan.State(key); return s == hotkeys.Promoted })
}
