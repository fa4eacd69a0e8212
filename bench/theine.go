package main

import (
	"context"

	"github.com/Yiling-J/theine-go"
)

func newTheine(s setup) (*cache, error) {
	c, err := theine.NewBuilder[string, string](int64(s.room)).Loading(
		func(ctx context.Context, key string) (theine.Loaded[string], error) {
			v, err := s.origin.load(ctx, key)
			return theine.Loaded[string]{Value: v, Cost: 1, TTL: ttl}, err
		}).Build()
	if err != nil {
		return nil, err
	}
	ctx := context.Background()
	return &cache{
		get: func(key string) (string, bool) {
			v, err := c.Get(ctx, key)
			return v, err == nil
		},
		set:    func(key, value string) bool { return c.SetWithTTL(key, value, 1, ttl) },
		drop:   c.Delete,
		held:   c.Len,
		settle: c.Wait,
		close:  c.Close,
	}, nil
}
