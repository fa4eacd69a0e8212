package xfetch

import (
	"math"
	"time"
)

// NodeShare is the share of its capacity up to which a node of a shared store
// should be loaded.
const NodeShare = 0.6

// SharedReads is how many reads per second of a key reach the shared store, when
// rate of them fall on instances at random and each keeps what it read for l1.
// After each read of the store an instance is silent for l1 and then waits for its
// next reader, instances/rate on average:
//
//	M / (l1 + M/r)  <=  M/l1
//
// which no crowd can exceed. Without instances or l1 it is rate.
func SharedReads(rate float64, instances int, l1 time.Duration) float64 {
	r := perSecond(rate)
	if r == 0 || instances <= 0 || l1 <= 0 {
		return r
	}
	m := float64(instances)
	return m / (l1.Seconds() + m/r)
}

// L1TTL is how long instances must keep a key for the shared store to be read
// at most bound times a second: M*(1/bound - 1/rate), a little less than M/bound.
// It is 0 if the key need not be kept, and saturates.
func L1TTL(rate float64, instances int, bound float64) time.Duration {
	r, most := perSecond(rate), perSecond(bound)
	switch {
	case r <= most || instances <= 0:
		return 0
	case most == 0:
		return forever
	}
	return saturate(ceil(float64(instances) * (1/most - 1/r) * float64(time.Second)))
}

// Copies is how many copies of a key, on distinct nodes and read evenly, keep
// each node within [NodeShare] of its capacity when it serves other reads too:
//
//	N = ⌈R / (0.6*node - other)⌉
//
// all in reads per second. It is 1 if the key needs no splitting, and 0 if a node
// has no room even without the key. It is at most the largest int32. Split only
// what is too much with an [L1TTL]: copies cost memory and must all be
// invalidated.
func Copies(reads, node, other float64) int {
	room := NodeShare*perSecond(node) - perSecond(other)
	if !(room > 0) {
		return 0
	}
	return int(min(max(ceil(perSecond(reads)/room), 1), math.MaxInt32))
}
