package earlybird

import (
	"math"
	"sync"
	"sync/atomic"
	"time"
)

// clock tells cache time: nanoseconds since the cache was made, which never go
// back. Between two readings cache time advances by the larger of what the
// monotonic clock and the wall clock did. A machine that was suspended, whose
// monotonic clock stood still, thus finds its entries aged; a wall clock that
// is set back freezes none.
//
// The two clocks are read one after the other, so the distance between them
// trembles. Taking each tremble for a jump would make cache time run fast;
// only a distance that moved by more than wobble counts.
type clock struct {
	wall func() time.Time // what the user's calendar says
	read func() (mono, wall int64)

	// gained is what cache time has over the monotonic clock, apart is wall
	// minus monotonic when the two were last compared.
	gained, apart atomic.Int64
	mu            sync.Mutex // held to change them

	coarse coarse
}

const wobble = int64(time.Millisecond)

// newClock returns a clock over now, or over time.Now if now is nil.
func newClock(now func() time.Time) *clock {
	c := &clock{wall: now}
	c.coarse.published.Store(asleep)
	if now == nil {
		c.wall = time.Now
		c.read = readings(time.Now)
		c.coarse.ticks = true
	} else {
		c.read = steady(readings(now))
	}
	return c
}

// readings returns a function that reads both clocks, counted from the moment
// readings was called. Both saturate some 292 years away.
func readings(now func() time.Time) func() (mono, wall int64) {
	start := now()
	startWall := start.Round(0) // Round strips the monotonic reading
	return func() (mono, wall int64) {
		t := now()
		return int64(t.Sub(start)), int64(t.Round(0).Sub(startWall))
	}
}

// steady makes the monotonic reading of a user's clock monotonic, since the
// times it returns may carry none: a step back is taken out for good.
func steady(read func() (mono, wall int64)) func() (mono, wall int64) {
	var mu sync.Mutex
	var last, lost int64
	return func() (int64, int64) {
		mono, wall := read()
		mu.Lock()
		defer mu.Unlock()
		m := satAdd(mono, lost)
		if m < last-wobble {
			lost = satAdd(lost, last-m)
			m = last
		}
		last = max(last, m)
		return last, wall
	}
}

// now returns the exact cache time.
func (c *clock) now() int64 {
	mono, wall := c.read()
	apart := satAdd(wall, -mono)
	if drift := satAdd(apart, -c.apart.Load()); drift > wobble || drift < -wobble {
		c.jump(apart)
	}
	return satAdd(mono, c.gained.Load())
}

// jump takes note that the wall clock moved against the monotonic one.
func (c *clock) jump(apart int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	drift := satAdd(apart, -c.apart.Load())
	if drift > wobble {
		c.gained.Store(satAdd(c.gained.Load(), drift))
	}
	if drift > wobble || drift < -wobble {
		c.apart.Store(apart)
	}
}

// satAdd adds without wrapping: a sum that does not fit is the largest or the
// smallest int64.
func satAdd(a, b int64) int64 {
	sum := a + b
	switch {
	case a > 0 && b > 0 && sum < 0:
		return math.MaxInt64
	case a < 0 && b < 0 && sum >= 0:
		return math.MinInt64
	}
	return sum
}
