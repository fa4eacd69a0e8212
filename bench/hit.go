package main

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/Yiling-J/theine-go"
	"github.com/dgraph-io/ristretto/v2"
	"github.com/maypok86/otter/v2"
	"github.com/viccon/sturdyc"
)

// Nobody's value expires or is refreshed while it is measured, but everyone has
// to look.
const (
	ttl          = time.Hour
	refreshAfter = 45 * time.Minute
)

// loads counts the calls of a loader.
type loads struct{ n atomic.Int64 }

func (l *loads) load(ctx context.Context, key string) (string, error) {
	l.n.Add(1)
	return load(ctx, key)
}

// ready returns t with its cache warm and the popular keys to read.
func ready(t *trial, w *workload) (*trial, error) {
	t.keys = w.popular()
	if err := t.warm(w.products); err != nil {
		t.end()
		return nil, err
	}
	return t, nil
}

func openOtter(w *workload) (*trial, error) { return otterWith(nil, w) }

func openOtterCoarse(w *workload) (*trial, error) {
	clock := otter.NewCoarseClock(time.Millisecond)
	t, err := otterWith(clock, w)
	if err != nil {
		clock.Stop()
		return nil, err
	}
	end := t.close
	t.close = func() { end(); clock.Stop() }
	return t, nil
}

func otterWith(clock otter.Clock, w *workload) (*trial, error) {
	c, err := otter.New(&otter.Options[string, string]{
		MaximumSize:       w.products,
		ExpiryCalculator:  otter.ExpiryWriting[string, string](ttl),
		RefreshCalculator: otter.RefreshWriting[string, string](refreshAfter),
		Clock:             clock,
	})
	if err != nil {
		return nil, err
	}
	origin, ctx := &loads{}, context.Background()
	var loader otter.Loader[string, string] = otter.LoaderFunc[string, string](origin.load)
	return ready(&trial{
		do: func(key string) (string, bool) {
			v, err := c.Get(ctx, key, loader)
			return v, err == nil
		},
		strays: origin.n.Load,
		close:  func() { c.StopAllGoroutines() },
	}, w)
}

func openTheine(w *workload) (*trial, error) {
	origin, ctx := &loads{}, context.Background()
	c, err := theine.NewBuilder[string, string](int64(w.products)).Loading(
		func(ctx context.Context, key string) (theine.Loaded[string], error) {
			v, err := origin.load(ctx, key)
			return theine.Loaded[string]{Value: v, Cost: 1, TTL: ttl}, err
		}).Build()
	if err != nil {
		return nil, err
	}
	return ready(&trial{
		do: func(key string) (string, bool) {
			v, err := c.Get(ctx, key)
			return v, err == nil
		},
		strays: origin.n.Load,
		close:  c.Close,
	}, w)
}

// openSturdyc divides the room among ten shards, as its manual does. Keys do
// not fall evenly, so that some shards have to evict: the least that they can.
func openSturdyc(w *workload) (*trial, error) {
	const shards, evict = 10, 1
	c := sturdyc.New[string](w.products, shards, ttl, evict,
		sturdyc.WithEarlyRefreshes(refreshAfter*2/3, refreshAfter, ttl, time.Second),
		sturdyc.WithNoContinuousEvictions()) // whose goroutine would never end
	origin, ctx := &loads{}, context.Background()
	return ready(&trial{
		do: func(key string) (string, bool) {
			v, err := c.GetOrFetch(ctx, key, func(ctx context.Context) (string, error) {
				return origin.load(ctx, key)
			})
			return v, err == nil
		},
		strays: origin.n.Load,
	}, w)
}

func openRistretto(w *workload) (*trial, error) {
	c, err := ristretto.NewCache(&ristretto.Config[string, string]{
		NumCounters:        10 * int64(w.products),
		MaxCost:            int64(w.products),
		BufferItems:        64,
		IgnoreInternalCost: true,
	})
	if err != nil {
		return nil, err
	}
	for i := range w.products {
		key := keyOf(i)
		if !c.SetWithTTL(key, key[valueAt:], 1, ttl) {
			c.Close()
			return nil, errors.New("ristretto dropped a value")
		}
		c.Wait()
	}
	return &trial{keys: w.popular(), do: c.Get, close: c.Close}, nil
}

func openMap(w *workload) (*trial, error) {
	m := make(map[string]string, w.products)
	for i := range w.products {
		m[keyOf(i)] = keyOf(i)[valueAt:]
	}
	return &trial{
		keys: w.popular(),
		do: func(key string) (string, bool) {
			v, ok := m[key]
			return v, ok
		},
	}, nil
}
