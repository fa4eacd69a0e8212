// Package standstill is for tests of what takes real time, on machines that do other
// things too: it tells how long the process did not get to run.
package standstill

import (
	"sync"
	"time"
)

// Watch is how long the process stood still since Begin.
type Watch struct {
	began time.Time
	stop  chan struct{}
	done  sync.WaitGroup

	sum, longest time.Duration // until done the goroutine's
}

// tick is how often a Watch looks. What is within one tick is no standstill.
const tick = 2 * time.Millisecond

// Begin returns a Watch, which must be ended.
func Begin() *Watch {
	w := &Watch{began: time.Now(), stop: make(chan struct{})}
	w.done.Go(w.look)
	return w
}

func (w *Watch) look() {
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for last, over := w.began, false; !over; {
		select {
		case <-w.stop:
			over = true
		case <-ticker.C:
		}
		now := time.Now()
		if late := now.Sub(last) - 2*tick; late > 0 {
			w.sum += late
			w.longest = max(w.longest, late)
		}
		last = now
	}
}

// End ends the watch. It returns how long it went on, and how much of that time the
// process stood still, all together and at the longest.
func (w *Watch) End() (took, sum, longest time.Duration) {
	took = time.Since(w.began)
	close(w.stop)
	w.done.Wait()
	return took, w.sum, w.longest
}
