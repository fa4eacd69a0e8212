package main

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
)

// The figures of memory.
const (
	bytesPerEntry = "B/entry" // besides key and value
	heldPerEntry  = "held"    // share of the entries that are in memory
)

var memoryRow = row{
	name: "memory", base: "earlybird", once: true, variants: plan.heaps,
	columns: []column{
		of("bytes/entry", bytesPerEntry, 0).withQuartiles(),
		times("earlybird", func(s sample) float64 { return s[bytesPerEntry] }),
		{head: "held %", decimals: 1, of: func(it, _ sample) float64 { return 100 * it[heldPerEntry] }},
	},
	subjects: []subject{
		apart("memory", "earlybird", heapOf(newEarlybird)),
		apart("memory", "otter", heapOf(newOtter)),
		apart("memory", "theine", heapOf(newTheine)),
		apart("memory", "sturdyc", heapOf(newSturdyc)),
		apart("memory", "ristretto", heapOf(newRistretto)),
		apart("memory", "hot-lru", heapOf(newHotLRU)),
		apart("memory", "hot-wtinylfu", heapOf(newHotTiny)),
		apart("memory", "map", heapOf(newMap)),
	},
}

// heapOf returns the measurement of the heap that a full cache keeps, besides
// the bytes of keys and values. The headers of the strings are the cache's.
func heapOf(make kind) func(job) (sample, error) {
	return func(j job) (sample, error) {
		before := liveHeap()
		o := newOrigin()
		c, err := make(setup{room: j.Entries, origin: o})
		if err != nil {
			return nil, err
		}
		apart := func(key string) string { return strings.Clone(key[valueAt:]) }
		if err := c.stock(j.Entries, apart); err != nil {
			return nil, err
		}
		kept, held := liveHeap()-before, float64(c.held())
		c.end()
		if held == 0 {
			return nil, errors.New("it holds nothing")
		}
		return sample{
			bytesPerEntry: kept/held - float64(keyLen+valueLen),
			heldPerEntry:  held / float64(j.Entries),
		}, nil
	}
}

// valueLen is the bytes of a value in heapOf.
const valueLen = keyLen - valueAt

// stock stores n products, under keys that nobody else keeps, until the cache
// holds no more for being given them again.
func (c *cache) stock(n int, value func(key string) string) error {
	for before := -1; c.held() > before && before < n; {
		before = c.held()
		for i := range n {
			key := keyOf(i)
			if !c.set(key, value(key)) {
				return errors.New("a value could not be set")
			}
		}
		c.settled()
	}
	return nil
}

// liveHeap is what is reachable. The second collection frees what the first
// found in pools.
func liveHeap() float64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// heaps are the variants of rows about the heap.
func (p plan) heaps() []variant {
	w := &workload{entries: p.entries, benchtime: p.benchtime}
	return []variant{{fmt.Sprintf("%d entries", p.entries), func() *workload { return w }}}
}
