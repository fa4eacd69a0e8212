package fleet

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/earlybird-cache/earlybird"
	"github.com/earlybird-cache/earlybird/redisstore"
)

type (
	cache        = earlybird.Cache[value]
	store        = redisstore.Store[value]
	options      = earlybird.Options[value]
	storeOptions = redisstore.Options[value]
)

// caches are a fleet: an origin and the caches before it, each with its own end of
// the shared tier.
type caches struct {
	origin *origin
	cache  []*cache
	store  []*store       // empty without a shared tier
	saw    func(sighting) // if not nil, told what each read got
}

// launch makes the caches that r describes. Close them.
func (s Setup) launch(r rung, url, namespace string) (*caches, error) {
	c := &caches{origin: newOrigin(s.Delta), cache: make([]*cache, s.Instances)}
	if !r.alone {
		c.store = make([]*store, s.Instances)
	}
	var g errgroup.Group
	g.SetLimit(16)
	for i := range c.cache {
		g.Go(func() error { return c.launchOne(i, s, r, url, namespace) })
	}
	if err := g.Wait(); err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

func (c *caches) launchOne(i int, s Setup, r rung, url, namespace string) (err error) {
	o := options{Name: fmt.Sprintf("fleet-%d", i), TTL: s.TTL, MaxEntries: max(1000, s.Keys)}
	so := storeOptions{URL: url, Namespace: namespace, Timeout: s.budget}
	if r.set != nil {
		r.set(&o, &so)
	}
	if !r.alone {
		if c.store[i], err = redisstore.New(so); err != nil {
			return err
		}
		o.Store = c.store[i]
	}
	c.cache[i], err = earlybird.New(func(ctx context.Context, key string) (value, error) {
		return c.origin.load(ctx, i, key)
	}, o)
	return err
}

// close ends the caches, then their stores.
func (c *caches) close() error {
	var all []error
	for _, x := range c.cache {
		if x != nil {
			all = append(all, x.Close())
		}
	}
	for _, x := range c.store {
		if x != nil {
			all = append(all, x.Close())
		}
	}
	return errors.Join(all...)
}

// published is how many loads' values became the tier's.
func (c *caches) published() (n int) {
	for _, x := range c.store {
		stats := x.Stats()
		n += int(stats.Publishes.Done - stats.Lost)
	}
	return n
}

// tierErrors is how many questions of the caches the tier did not answer.
func (c *caches) tierErrors() (n int) {
	for _, x := range c.cache {
		n += int(x.Stats().TierErrors)
	}
	return n
}

// answers is how many answers each cache has had from the tier.
func (c *caches) answers() []uint64 {
	n := make([]uint64, len(c.store))
	for i, x := range c.store {
		stats := x.Stats()
		n[i] = stats.Gets.Done + stats.Acquires.Done + stats.Publishes.Done
	}
	return n
}
