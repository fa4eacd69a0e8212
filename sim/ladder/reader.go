package ladder

import "context"

// A reader is how clients get at products. Its methods are safe for concurrent use.
type reader interface {
	// near answers if that takes no waiting, and else reports that it cannot.
	near(key string) (v product, answered bool, err error)
	// fetch answers after near could not, within ctx.
	fetch(ctx context.Context, key string) (product, error)
}

// direct reads from the origin.
func direct(_ *cache, load loader) reader { return directReader{load} }

type directReader struct{ load loader }

func (directReader) near(string) (product, bool, error) { return product{}, false, nil }

func (r directReader) fetch(ctx context.Context, key string) (product, error) {
	return r.load(ctx, key)
}

// aside reads as most programs do that have a cache beside the origin: look into the
// cache, else ask the origin and put the answer there. A client that gives up takes
// its question to the origin with it, and puts nothing.
func aside(c *cache, load loader) reader { return asideReader{c, load} }

type asideReader struct {
	cache *cache
	load  loader
}

func (r asideReader) near(key string) (product, bool, error) {
	found, ok := r.cache.Peek(key)
	return found.Value, ok, nil
}

func (r asideReader) fetch(ctx context.Context, key string) (product, error) {
	v, err := r.load(ctx, key)
	if err != nil {
		return product{}, err
	}
	return v, r.cache.Set(ctx, key, v)
}

// through reads through the cache, which has the loader.
func through(c *cache, _ loader) reader {
	over, cancel := context.WithCancel(context.Background())
	cancel()
	return throughReader{c, over}
}

type throughReader struct {
	cache *cache
	over  context.Context // ended before it is used
}

// near reads with a context that has ended. The cache serves what is near to such a
// reader as to any other, and turns it away rather than start or join a load.
func (r throughReader) near(key string) (product, bool, error) {
	v, err := r.cache.Get(r.over, key)
	return v, err != context.Canceled, err
}

func (r throughReader) fetch(ctx context.Context, key string) (product, error) {
	return r.cache.Get(ctx, key)
}
