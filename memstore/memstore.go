// Package memstore is a bounded map in memory: it holds at most so many
// values, evicts those least likely to be wanted again, and knows nothing of
// what it holds: no clock, no lifetimes, no loads. Whoever keeps things in it
// decides what is still good.
//
// Its one addition to a plain map is [Map.Update], a critical section for one
// key. A cache that must look at a fence and then publish needs both to happen
// in one section; looking first and storing afterwards lets an invalidation
// slip between.
//
// Underneath is github.com/maypok86/otter/v2 with a bound on size and nothing
// else: its W-TinyLFU keeps the hit ratio up when a scan passes by, and in
// this form it starts no goroutine.
package memstore

import (
	"fmt"
	"iter"

	"github.com/maypok86/otter/v2"
)

// Map is a bounded map from strings to V, safe for concurrent use. A nil *Map
// is a map that is off: it is always empty and forgets what it is given.
type Map[V any] struct {
	otter *otter.Cache[string, V]
	size  int // 0: bounded by weight
}

// Op is what an [Map.Update] does with its key.
type Op uint8

const (
	Keep Op = iota // leave the key as it is
	Put            // store the returned value
	Drop           // remove the key
)

// New returns an empty map that holds at most size values. For a moment it may
// hold a few more, while an eviction is under way.
func New[V any](size int) (*Map[V], error) {
	if size < 1 {
		return nil, fmt.Errorf("memstore: size %d: must be at least 1", size)
	}
	return newMap(&otter.Options[string, V]{MaximumSize: size})
}

// NewNotifying is [New] with left called for every value that leaves the map,
// for whatever reason, as part of its leaving: no Get that begins once the value
// is gone begins before left was called. left is called under a lock: it must be
// quick, and must not call the map.
func NewNotifying[V any](size int, left func(key string, v V)) (*Map[V], error) {
	if size < 1 {
		return nil, fmt.Errorf("memstore: size %d: must be at least 1", size)
	}
	return newMap(&otter.Options[string, V]{MaximumSize: size, OnAtomicDeletion: onLeaving(left)})
}

func onLeaving[V any](left func(key string, v V)) func(otter.DeletionEvent[string, V]) {
	return func(e otter.DeletionEvent[string, V]) { left(e.Key, e.Value) }
}

func newMap[V any](opts *otter.Options[string, V]) (*Map[V], error) {
	// Whoever writes evicts what is due. To start a goroutine for it costs more.
	opts.Executor = func(evict func()) { evict() }
	o, err := otter.New(opts)
	if err != nil {
		return nil, fmt.Errorf("memstore: %w", err)
	}
	return &Map[V]{otter: o, size: opts.MaximumSize}, nil
}

// NewWeighted returns an empty map whose values together weigh at most max.
// weight is called under a lock: it must be quick, and must not call the map.
// left is that of [NewNotifying].
func NewWeighted[V any](max int64, weight func(V) uint32, left func(key string, v V)) (*Map[V], error) {
	if max < 1 {
		return nil, fmt.Errorf("memstore: weight %d: must be at least 1", max)
	}
	return newMap(&otter.Options[string, V]{
		MaximumWeight:    uint64(max),
		Weigher:          func(_ string, v V) uint32 { return weight(v) },
		OnAtomicDeletion: onLeaving(left),
	})
}

// Get returns the value of key. It takes no lock and does not allocate.
func (m *Map[V]) Get(key string) (v V, ok bool) {
	if m == nil {
		return v, false
	}
	return m.otter.GetIfPresent(key)
}

// Update calls f once with what key holds, inside the critical section of
// key, and does with f's value what f's Op says. No other Update of the key
// runs meanwhile. f must be short, must not block and must not call the map.
func (m *Map[V]) Update(key string, f func(old V, ok bool) (V, Op)) {
	if m == nil {
		return
	}
	put := false
	m.otter.Compute(key, func(old V, ok bool) (V, otter.ComputeOp) {
		v, op := f(old, ok)
		switch op {
		case Put:
			put = true
			return v, otter.WriteOp
		case Drop:
			return v, otter.InvalidateOp
		}
		return v, otter.CancelOp
	})
	if put {
		m.keepBound()
	}
}

// keepBound evicts what others have left: they do not see what comes while they
// evict, and would see to it at their next write.
func (m *Map[V]) keepBound() {
	if m.size == 0 || m.otter.EstimatedSize() > m.size {
		m.otter.CleanUp()
	}
}

// Len returns about how many values the map holds.
func (m *Map[V]) Len() int {
	if m == nil {
		return 0
	}
	return m.otter.EstimatedSize()
}

// All yields what is in the map, in no order, while others may change it.
func (m *Map[V]) All() iter.Seq2[string, V] {
	if m == nil {
		return func(func(string, V) bool) {}
	}
	return m.otter.All()
}

// Clear removes every value that was in the map when it was called. A value
// stored meanwhile may be removed too.
func (m *Map[V]) Clear() {
	if m != nil {
		m.otter.InvalidateAll()
	}
}

// Settle finishes evictions that are under way.
func (m *Map[V]) Settle() {
	if m != nil {
		m.otter.CleanUp()
	}
}
