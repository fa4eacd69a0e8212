package main

import (
	"context"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// newMap makes a plain Go map without a lock: the limit of what can be read. It
// has room for everything and only one goroutine may load.
func newMap(s setup) (*cache, error) {
	m, ctx := make(map[string]string), context.Background()
	return &cache{
		get: func(key string) (string, bool) {
			if v, ok := m[key]; ok {
				return v, true
			}
			v, err := s.origin.load(ctx, key)
			m[key] = v
			return v, err == nil
		},
		set:  func(key, value string) bool { m[key] = value; return true },
		held: func() int { return len(m) },
	}, nil
}

// newLRU makes the plainest policy: the least recently used goes. It is for one
// goroutine.
func newLRU(s setup) (*cache, error) {
	l, err := simplelru.NewLRU[string, string](s.room, nil)
	if err != nil {
		return nil, err
	}
	ctx := context.Background()
	return &cache{
		get: func(key string) (string, bool) {
			if v, ok := l.Get(key); ok {
				return v, true
			}
			v, err := s.origin.load(ctx, key)
			l.Add(key, v)
			return v, err == nil
		},
		held: l.Len,
	}, nil
}
