package main

import (
	"context"

	"github.com/dgraph-io/ristretto/v2"
)

// newRistretto loads beside the cache, which has no loader: what it hits is its
// Get alone.
func newRistretto(s setup) (*cache, error) {
	c, err := ristretto.NewCache(&ristretto.Config[string, string]{
		NumCounters:        10 * int64(s.room),
		MaxCost:            int64(s.room),
		BufferItems:        64,
		IgnoreInternalCost: true,
	})
	if err != nil {
		return nil, err
	}
	ctx := context.Background()
	set := func(key, value string) bool {
		c.SetWithTTL(key, value, 1, ttl) // it may decline
		return true
	}
	return &cache{
		get: func(key string) (string, bool) {
			if v, ok := c.Get(key); ok {
				return v, true
			}
			v, err := s.origin.load(ctx, key)
			set(key, v)
			return v, err == nil
		},
		set:  set,
		drop: c.Del,
		held: func() (n int) {
			c.IterValues(func(string) bool { n++; return false })
			return n
		},
		settle: c.Wait,
		close:  c.Close,
	}, nil
}
