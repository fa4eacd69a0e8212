package hotkeys

import (
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// ways is the number of counters of a stripe. A stripe is searched from end to
// end: for as few counters that is as fast as a heap with an index, and much
// less of it can go wrong.
const ways = 64

// stripe is one Space-Saving summary, of the keys whose hash leads to it. What
// is not atomic is protected by mu.
//
// A counter is spread over three arrays, so that a search runs over memory
// without gaps. One that was never used is smallest, and is taken first.
type stripe struct {
	mu      sync.Mutex
	window  int64   // number of the window that the counts are weighed for
	missed  float64 // weight of the samples dropped, halved like the counts
	samples uint64

	hashes [ways]uint64 // 0: never used
	atMost [ways]float64
	rest   [ways]counter

	dropped atomic.Uint64 // weight not yet in missed
	drops   atomic.Uint64 // samples
	_       [64]byte      // the next stripe's mutex gets a cache line of its own
}

// counter is what a search does not look at.
type counter struct {
	atLeast float64
	since   time.Duration
	key     []byte // the beginning of the key; its room is used again
	cut     bool   // key is not the whole key
}

// drop takes note of a sample that found the stripe busy.
func (s *stripe) drop(weight uint64) {
	s.dropped.Add(weight)
	s.drops.Add(1)
}

// catchUpLocked halves all counts once for each window that has ended, and
// takes in what was dropped.
func (s *stripe) catchUpLocked(window int64) {
	if n := window - s.window; n > 0 {
		s.window = window
		s.fadeLocked(math.Ldexp(1, -int(min(n, 2000)))) // 2^-2000 is 0
	}
	if s.dropped.Load() > 0 {
		s.missed += float64(s.dropped.Swap(0))
	}
}

func (s *stripe) fadeLocked(factor float64) {
	s.missed *= factor
	for i := range s.atMost {
		s.atMost[i] *= factor
		s.rest[i].atLeast *= factor
	}
}

// addLocked counts weight reads of key, whose hash is h.
func (s *stripe) addLocked(h uint64, key string, maxKey int, weight float64, now time.Duration) {
	s.samples++
	i := s.find(h)
	if i < 0 {
		i = s.smallest()
		s.takeOverLocked(i, h, key, maxKey, now)
	} else if s.atMost[i] < 1 {
		s.rest[i].since = now // forgotten, though nobody needed the counter
	}
	s.atMost[i] += weight
	s.rest[i].atLeast += weight
}

// takeOverLocked gives counter i to another key. The count stays, as the most
// that key can have been read so far: it would have kept a counter otherwise.
func (s *stripe) takeOverLocked(i int, h uint64, key string, maxKey int, now time.Duration) {
	s.hashes[i] = h
	c := &s.rest[i]
	n := min(len(key), maxKey)
	c.key = append(c.key[:0], key[:n]...)
	c.cut = n < len(key)
	c.atLeast, c.since = 0, now
}

// find returns the counter of the key with hash h, or -1. Two keys with one
// 64-bit hash would be counted as one; with a secret seed that is luck, at odds
// of a million million to one.
func (s *stripe) find(h uint64) int {
	for i := range s.hashes {
		if s.hashes[i] == h {
			return i
		}
	}
	return -1
}

func (s *stripe) smallest() (least int) {
	for i := range s.atMost {
		if s.atMost[i] < s.atMost[least] {
			least = i
		}
	}
	return least
}
