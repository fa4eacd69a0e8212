package earlybird

import (
	"sync"
	"sync/atomic"
	"time"
)

// life keeps count of what runs on behalf of a cache, so that Close can wait
// for it and nothing begins after.
type life struct {
	closing chan struct{} // closed when Close begins
	closed  chan struct{} // closed when Close has ended; err is set then
	err     error

	active   atomic.Int64  // what runs, and over once nothing more may begin
	idle     chan struct{} // closed when nothing runs and nothing more may begin
	idleOnce sync.Once
}

// over is added to what runs when nothing more may begin. One word for both does
// without a lock, which every load would take twice.
const over = 1 << 62

func newLife() *life {
	return &life{
		closing: make(chan struct{}),
		closed:  make(chan struct{}),
		idle:    make(chan struct{}),
	}
}

// begin announces work, which must end. It reports false, and the work must
// not be done, once the cache is closed.
func (l *life) begin() bool {
	if l.active.Add(1) > over {
		l.end()
		return false
	}
	return true
}

func (l *life) end() {
	if l.active.Add(-1) == over {
		l.idleOnce.Do(func() { close(l.idle) })
	}
}

// stop makes begin refuse. It reports whether the caller is the first.
func (l *life) stop() bool {
	if !l.begin() {
		return false
	}
	first := l.active.Or(over)&over == 0
	if first {
		close(l.closing)
	}
	l.end()
	return first
}

// drain waits until nothing is active, at most for patience.
func (l *life) drain(patience time.Duration) {
	t := time.NewTimer(patience)
	defer t.Stop()
	select {
	case <-l.idle:
	case <-t.C:
	}
}

// isOver reports whether the cache is closed, or about to be.
func (l *life) isOver() bool {
	select {
	case <-l.closing:
		return true
	default:
		return false
	}
}

// Close ends the cache. Reads that wait are released with ErrClosed, as is
// every later call; loader calls that run see their context end, and Close
// waits for them at most LoadTimeout. If some outlast it, Close returns a
// *[StuckError]. Nothing is stored once Close has returned, and nothing of the
// cache runs but what is stuck. Calling it again, or from several goroutines,
// waits for the first call and returns what it returned.
func (c *Cache[V]) Close() error {
	if !c.life.stop() {
		<-c.life.closed
		return c.life.err
	}
	c.fence.raiseAll()
	for _, l := range c.flights.all() {
		l.abort()
	}
	c.tier.release() // loads that wait there have ended, and do not go to the origin
	c.life.drain(c.opts.LoadTimeout)
	c.tier.end()
	c.hot.close()
	c.clear()
	if n := c.calls.now(); n > 0 {
		c.life.err = &StuckError{Loads: n}
	}
	close(c.life.closed)
	return c.life.err
}
