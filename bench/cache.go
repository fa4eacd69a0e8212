package main

import "time"

// cache is what the caches have in common. A nil function is something that
// the cache cannot do.
type cache struct {
	get     func(key string) (value string, ok bool) // loads what is missing
	many    func(keys []string) (map[string]string, error)
	set     func(key, value string) bool
	drop    func(key string)
	dropAll func()

	held   func() int // entries in memory
	settle func()     // waits until eviction has caught up with what was stored
	close  func()
}

func (c *cache) settled() {
	if c.settle != nil {
		c.settle()
	}
}

func (c *cache) end() {
	if c.close != nil {
		c.close()
	}
}

// setup is what a cache is made for.
type setup struct {
	room   int // entries
	origin *origin
	life   func(key string) time.Duration // of a value now stored; nil: ttl
	alone  bool                           // one goroutine reads, and wants all work done at once
}

// kind makes caches of one kind.
type kind func(setup) (*cache, error)

// Nobody's value expires or is refreshed while it is measured, unless the row is
// about that. But everyone has to look.
const (
	ttl          = time.Hour
	refreshAfter = ttl / 4 * 3
)
