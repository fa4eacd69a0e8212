package main

import (
	"context"
	"errors"
	"iter"
	"runtime"
	"time"

	"github.com/earlybird-cache/earlybird"
	"github.com/earlybird-cache/earlybird/bloom"
	"github.com/earlybird-cache/earlybird/hotkeys"
	"github.com/earlybird-cache/earlybird/keyshape"
)

type options = earlybird.Options[string]

// newEarlybird makes a cache with nothing but a TTL configured; early refresh is
// on of itself.
func newEarlybird(s setup) (*cache, error) {
	opts := options{TTL: ttl, MaxEntries: s.room, LoadMany: s.origin.loadMany}
	if s.life != nil {
		opts.TTLFor = func(key, _ string) time.Duration { return s.life(key) }
		opts.Ramp = earlybird.Off // as if it had been running for long
	}
	c, err := earlybird.New(s.origin.load, opts)
	if err != nil {
		return nil, err
	}
	return cacheOf(c, s.room), nil
}

// newShopCache makes a cache with shapes, a guard and hot keys.
func newShopCache(s setup) (*cache, error) {
	shop, err := newShop(s.room, s.origin)
	if err != nil {
		return nil, err
	}
	return cacheOf(shop.Cache, s.room), nil
}

func cacheOf(c *earlybird.Cache[string], room int) *cache {
	ctx := context.Background()
	held := func() int { return c.Stats().Values }
	return &cache{
		get: func(key string) (string, bool) {
			v, err := c.Get(ctx, key)
			return v, err == nil
		},
		many:    func(keys []string) (map[string]string, error) { return c.GetMany(ctx, keys) },
		set:     func(key, value string) bool { return c.Set(ctx, key, value) == nil },
		drop:    func(key string) { _ = c.Invalidate(ctx, key) }, // fails on a closed cache only
		dropAll: func() { _ = c.InvalidateAll(ctx) },             // likewise
		held:    held,
		settle: func() {
			for held() > room {
				runtime.Gosched() // there is nothing to ask for it
			}
		},
		close: func() { _ = c.Close() }, // all loads have returned: none can be stuck
	}
}

// shop is a cache with all that turns keys down, in front of an origin that
// has products and nothing else.
type shop struct {
	*earlybird.Cache[string]
	guard *bloom.Guard
}

func newShop(size int, o *origin) (shop, error) {
	guard, err := bloom.New(bloom.Options{})
	if err != nil {
		return shop{}, err
	}
	if err := guard.Build(context.Background(), products(size)); err != nil {
		return shop{}, err
	}
	hot, err := hotkeys.New(hotkeys.Options{})
	if err != nil {
		return shop{}, err
	}
	c, err := earlybird.New(o.loadProduct, options{
		TTL:          ttl,
		NegativeTTL:  ttl,
		MaxEntries:   size,
		MaxNegatives: max(size/10, rejected),
		Shapes:       keyshape.MustCompile(shape),
		Guard:        guard,
		HotKeys:      hot,
	})
	return shop{c, guard}, err
}

// products lists the keys of n products.
func products(n int) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for i := range n {
			if !yield(keyOf(i), nil) {
				return
			}
		}
	}
}

func (o *origin) loadProduct(ctx context.Context, key string) (string, error) {
	if isStranger(key) {
		return "", earlybird.ErrNotFound
	}
	return o.load(ctx, key)
}

// forget makes the shop remember that strangers are absent, although the guard
// knows them: they are products of yesterday.
func (s shop) forget(strangers []string) error {
	s.guard.Add(strangers...)
	for _, key := range strangers {
		if _, err := s.Get(context.Background(), key); !errors.Is(err, earlybird.ErrNotFound) {
			return err
		}
	}
	return nil
}
