package main

import (
	"context"

	"github.com/samber/hot"
)

func newHotLRU(s setup) (*cache, error)  { return hotWith(s, hot.LRU) }
func newHotTiny(s setup) (*cache, error) { return hotWith(s, hot.WTinyLFU) }

// hotWith leaves hot undivided: its sharding has data races.
func hotWith(s setup, policy hot.EvictionAlgorithm) (*cache, error) {
	ctx := context.Background()
	c := hot.NewHotCache[string, string](policy, s.room).
		WithTTL(ttl).
		WithLoaders(func(keys []string) (map[string]string, error) { return s.origin.loadMany(ctx, keys) }).
		Build()
	return &cache{
		get: func(key string) (string, bool) {
			v, ok, err := c.Get(key)
			return v, ok && err == nil
		},
		many: func(keys []string) (map[string]string, error) {
			found, _, err := c.GetMany(keys)
			return found, err
		},
		set:     func(key, value string) bool { c.Set(key, value); return true },
		drop:    func(key string) { c.Delete(key) },
		dropAll: c.Purge,
		held:    c.Len,
	}, nil
}
