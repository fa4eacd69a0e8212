package earlybird

import (
	"math"
	"sync/atomic"
	"time"
)

// coarse is a published reading of the clock, for the price of one atomic
// load. It runs behind, so it may only ever answer "not yet": that an entry is
// still far from the time at which it deserves a look. Whatever is nearer than
// slack is judged by the exact clock.
//
// Two things keep it going: a ticker, and the readers themselves, every 64th
// of which publishes a reading. A ticker alone lags by hundreds of
// milliseconds behind a few dozen busy goroutines. When no reader has come by
// for a while the ticker ends and leaves asleep behind, a reading later than
// everything, which sends all readers to the exact clock until they are many
// again.
type coarse struct {
	published atomic.Int64
	running   atomic.Bool
	ticks     bool // false with a user's clock: nothing ticks then
}

const (
	asleep = math.MaxInt64
	tick   = time.Millisecond
	drowsy = 16 // ticks without a reader after which the ticker ends
)

// slack is how long before the end of its quiet time an entry that lives for
// life is no longer judged by the published reading.
func slack(life int64) int64 {
	return max(int64(25*time.Millisecond), life/64)
}

// now returns the published reading: the past, or the end of time.
func (c *coarse) now() int64 { return c.published.Load() }

// help publishes a reading, unless the clock is asleep: then it reports false
// and the caller may start [coarse.keep].
func (c *coarse) help(now int64) (awake bool) {
	for {
		old := c.published.Load()
		if old == asleep {
			return false
		}
		if now <= old || c.published.CompareAndSwap(old, now) {
			return true
		}
	}
}

// keep publishes a reading every tick until done closes or readers, a count
// of them, stands still.
func (c *coarse) keep(now func() int64, readers func() uint64, done <-chan struct{}) {
	defer c.running.Store(false) // only after asleep is published: see claim
	defer c.published.Store(asleep)
	c.published.Store(now())

	t := time.NewTicker(tick)
	defer t.Stop()
	seen, idle := readers(), 0
	for idle < drowsy {
		select {
		case <-t.C:
		case <-done:
			return
		}
		c.help(now())
		if n := readers(); n != seen {
			seen, idle = n, 0
		} else {
			idle++
		}
	}
}

// claim reports whether the caller is the one to run keep. Between the end of
// one keep and the start of the next the published reading is asleep, so that
// no late helper can leave behind a reading that nobody moves on.
func (c *coarse) claim() bool {
	return c.ticks && c.running.CompareAndSwap(false, true)
}
