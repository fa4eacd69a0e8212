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
	start time.Time // by the wall clock
	read  func() (mono, wall int64)

	// gained is what cache time has over the monotonic clock, apart is wall
	// minus monotonic as last agreed upon, jumps is how often that changed.
	gained, apart, jumps atomic.Int64
	mu                   sync.Mutex // held to change them

	coarse coarse
}

const wobble = int64(time.Millisecond)

// newClock returns a clock over now, or over time.Now if now is nil.
func newClock(now func() time.Time) *clock {
	c := &clock{}
	c.coarse.published.Store(asleep)
	if now == nil {
		c.read, c.start = readings(time.Now)
		c.coarse.ticks = true
	} else {
		c.read, c.start = readings(now)
		c.read = steady(c.read)
	}
	return c
}

// readings returns a function that reads both clocks, counted from the moment
// readings was called, and that moment by the wall clock. Both saturate some 292
// years away.
func readings(now func() time.Time) (read func() (mono, wall int64), startWall time.Time) {
	start := now()
	startWall = start.Round(0) // Round strips the monotonic reading
	return func() (mono, wall int64) {
		t := now()
		return int64(t.Sub(start)), int64(t.Round(0).Sub(startWall))
	}, startWall
}

// steady makes the monotonic reading of a user's clock monotonic, since the
// times it returns may carry none: a step back is taken out for good. A reading
// is a step back if it is earlier than one that was there before it was begun;
// earlier than one that came meanwhile, it was merely overtaken.
func steady(read func() (mono, wall int64)) func() (mono, wall int64) {
	var mu sync.Mutex
	var last, lastWall, lost int64
	latest := func() (int64, int64) {
		mu.Lock()
		defer mu.Unlock()
		return last, lost
	}
	return func() (int64, int64) {
		before, gap := latest()
		mono, wall := read()
		mu.Lock()
		defer mu.Unlock()
		if gap != lost { // overtaken by one who found a step: what is known by now will do
			return last, lastWall
		}
		if m := satAdd(mono, lost); m < before-wobble {
			lost = satAdd(lost, satSub(before, m))
		}
		if m := satAdd(mono, lost); m >= last {
			last, lastWall = m, wall
		}
		return last, lastWall
	}
}

// now returns the exact cache time.
func (c *clock) now() int64 {
	for {
		jumps := c.jumps.Load()
		mono, apart, drift := c.look()
		if drift != 0 { // look again: the reading may be torn
			first := drift
			if mono, apart, drift = c.look(); drift != 0 && (drift < 0) == (first < 0) {
				c.jump(jumps, apart, drift)
				continue
			}
		}
		return satAdd(mono, c.gained.Load())
	}
}

// calendar returns what the wall clock said at cache time now, give or take
// wobble.
func (c *clock) calendar(now int64) time.Time {
	mono := satSub(now, c.gained.Load())
	return c.start.Add(time.Duration(satAdd(mono, c.apart.Load())))
}

// look reads the clocks, how far they are apart, and how far that is from what
// was last agreed upon; 0 if it is but a tremble. If the processor is taken
// away between the two readings they are torn, which does not happen twice in a
// row but when the machine is beyond telling time.
func (c *clock) look() (mono, apart, drift int64) {
	mono, wall := c.read()
	apart = satSub(wall, mono)
	drift = satSub(apart, c.apart.Load())
	if -wobble <= drift && drift <= wobble {
		drift = 0
	}
	return mono, apart, drift
}

// jump takes note that the wall clock moved by drift, unless there has been
// another jump since the caller began to look: then his readings are of before
// it.
func (c *clock) jump(since, apart, drift int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.jumps.Load() != since {
		return
	}
	c.jumps.Store(since + 1)
	c.apart.Store(apart)
	if drift > 0 {
		c.gained.Store(satAdd(c.gained.Load(), drift))
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

func satSub(a, b int64) int64 {
	if b == math.MinInt64 {
		return satAdd(satAdd(a, math.MaxInt64), 1)
	}
	return satAdd(a, -b)
}
