package main

import (
	"context"
	"time"

	"github.com/viccon/sturdyc"
)

// newSturdyc divides the room among ten shards, as its manual does. Keys do
// not fall evenly, so that some shards have to evict: the least that they can.
func newSturdyc(s setup) (*cache, error) {
	const shards, evict = 10, 1
	c := sturdyc.New[string](s.room, shards, ttl, evict,
		sturdyc.WithEarlyRefreshes(refreshAfter*2/3, refreshAfter, ttl, time.Second),
		sturdyc.WithNoContinuousEvictions()) // whose goroutine would never end
	ctx, same := context.Background(), func(id string) string { return id }
	return &cache{
		get: func(key string) (string, bool) {
			v, err := c.GetOrFetch(ctx, key, func(ctx context.Context) (string, error) {
				return s.origin.load(ctx, key)
			})
			return v, err == nil
		},
		many: func(keys []string) (map[string]string, error) {
			return c.GetOrFetchBatch(ctx, keys, same, s.origin.loadMany)
		},
		set:  func(key, value string) bool { c.Set(key, value); return true },
		drop: c.Delete,
		held: c.Size,
	}, nil
}
