package earlybird

import (
	"context"
	"slices"
	"sync/atomic"
)

// errand is the part of a load that does not depend on the type of value: what
// it is for and whom it waits for. A loader's context carries its errand, by
// which a Get inside the loader is known to be one.
type errand struct {
	cache  any // the *Cache[V]
	keys   []string
	parent *errand // the load whose loader asked for this one
	ticket ticket

	over  atomic.Bool     // it has ended, with or without its loader
	wants map[*errand]int // loads that its loader waits for, and how many times; guarded by the flights of cache
}

// errandOf returns the errand of the loader that was given ctx, or nil.
func errandOf(ctx context.Context) *errand {
	e, _ := ctx.Value(errandKey{}).(*errand)
	return e
}

// within returns the nearest errand for cache among e and its parents that has
// not ended, or nil. What a loader leaves running waits for nobody.
func (e *errand) within(cache any) *errand {
	for ; e != nil; e = e.parent {
		if e.cache == cache && !e.over.Load() {
			return e
		}
	}
	return nil
}

// isFor reports whether e or one of its parents fetches key for cache.
func (e *errand) isFor(cache any, key string) bool {
	for e = e.within(cache); e != nil; e = e.parent.within(cache) {
		if slices.Contains(e.keys, key) {
			return true
		}
	}
	return false
}

// awaits reports whether e is other or waits for it, perhaps through others.
// Waits form no cycle, for whoever would close one is refused.
func (e *errand) awaits(other *errand) bool {
	if e == other {
		return true
	}
	for next := range e.wants {
		if next.awaits(other) {
			return true
		}
	}
	return false
}

func (e *errand) want(other *errand, n int) {
	if e.wants == nil {
		e.wants = make(map[*errand]int)
	}
	if e.wants[other] += n; e.wants[other] == 0 {
		delete(e.wants, other)
	}
}
