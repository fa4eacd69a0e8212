package main

import (
	"context"
	"time"

	"github.com/maypok86/otter/v2"
)

type (
	otterOptions = otter.Options[string, string]
	otterEntry   = otter.Entry[string, string]
)

func newOtter(s setup) (*cache, error) { return otterWith(s, nil) }

func newOtterCoarse(s setup) (*cache, error) {
	clock := otter.NewCoarseClock(time.Millisecond)
	c, err := otterWith(s, clock)
	if err != nil {
		clock.Stop()
		return nil, err
	}
	end := c.close
	c.close = func() { end(); clock.Stop() }
	return c, nil
}

func otterWith(s setup, clock otter.Clock) (*cache, error) {
	opts := otterOptions{
		MaximumSize:       s.room,
		ExpiryCalculator:  otter.ExpiryWriting[string, string](ttl),
		RefreshCalculator: otter.RefreshWriting[string, string](refreshAfter),
		Clock:             clock,
	}
	if s.life != nil {
		opts.ExpiryCalculator = otter.ExpiryWritingFunc(func(e otterEntry) time.Duration { return s.life(e.Key) })
		opts.RefreshCalculator = otter.RefreshWritingFunc(func(e otterEntry) time.Duration {
			return e.ExpiresAfter() / 4 * 3
		})
	}
	if s.alone {
		opts.Executor = func(work func()) { work() }
	}
	c, err := otter.New(&opts)
	if err != nil {
		return nil, err
	}
	var (
		ctx                                     = context.Background()
		loader otter.Loader[string, string]     = otter.LoaderFunc[string, string](s.origin.load)
		bulk   otter.BulkLoader[string, string] = otter.BulkLoaderFunc[string, string](s.origin.loadMany)
	)
	return &cache{
		get: func(key string) (string, bool) {
			v, err := c.Get(ctx, key, loader)
			return v, err == nil
		},
		many:    func(keys []string) (map[string]string, error) { return c.BulkGet(ctx, keys, bulk) },
		set:     func(key, value string) bool { c.Set(key, value); return true },
		drop:    func(key string) { c.Invalidate(key) },
		dropAll: c.InvalidateAll,
		held:    c.EstimatedSize,
		settle:  c.CleanUp,
		close:   func() { c.StopAllGoroutines() },
	}, nil
}
