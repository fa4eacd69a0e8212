package main

import (
	"context"
	"errors"
	"iter"

	"github.com/earlybird-cache/earlybird"
	"github.com/earlybird-cache/earlybird/bloom"
	"github.com/earlybird-cache/earlybird/keyshape"
)

// openPlain is a hit with nothing but a TTL configured; early refresh is on of
// itself.
func openPlain(w *workload) (*trial, error) {
	c, err := earlybird.New(load, earlybird.Options[string]{TTL: ttl, MaxEntries: w.products})
	if err != nil {
		return nil, err
	}
	return hits(c, w)
}

// openAll is a hit with shapes and a guard.
func openAll(w *workload) (*trial, error) {
	s, err := newShop(w.products)
	if err != nil {
		return nil, err
	}
	return hits(s.Cache, w)
}

// hits is a trial of reads that find their values in c.
func hits(c *earlybird.Cache[string], w *workload) (*trial, error) {
	return ready(asking(c, nil, func(s earlybird.Stats) uint64 { return s.Hits }), w)
}

// asking is a trial of reads of c that end with want, and in the given class
// of Stats.
func asking(c *earlybird.Cache[string], want error, class func(earlybird.Stats) uint64) *trial {
	ctx := context.Background()
	return &trial{
		do: func(key string) (string, bool) {
			v, err := c.Get(ctx, key)
			return v, err == want
		},
		strays: func() int64 {
			s := c.Stats()
			return int64(s.Requests() - class(s))
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

func newShop(size int) (shop, error) {
	guard, err := bloom.New(bloom.Options{})
	if err != nil {
		return shop{}, err
	}
	if err := guard.Build(context.Background(), products(size)); err != nil {
		return shop{}, err
	}
	c, err := earlybird.New(loadProduct, earlybird.Options[string]{
		TTL:          ttl,
		NegativeTTL:  ttl,
		MaxEntries:   size,
		MaxNegatives: max(size/10, rejected),
		Shapes:       keyshape.MustCompile(shape),
		Guard:        guard,
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

func loadProduct(ctx context.Context, key string) (string, error) {
	if isStranger(key) {
		return "", earlybird.ErrNotFound
	}
	return load(ctx, key)
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
