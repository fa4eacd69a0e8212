// Package standstill is for tests of what takes real time, on machines that do other
// things too: it tells how long the process did not get to run.
package standstill

import (
	"sync"
	"time"
)

// Watch is how long the process stood still since Begin.
type Watch struct {
	began    time.Time
	stop     chan struct{}
	done     sync.WaitGroup
	watchmen [4]watchman
}

// watchman is one who looks. A machine that is busy takes the processor from some
// and not from others, so that there are several, and what is worst of theirs counts.
type watchman struct{ sum, longest time.Duration }

// tick is how often they look. What is within one tick is no standstill.
const tick = 2 * time.Millisecond

// Begin returns a Watch, which must be ended.
func Begin() *Watch {
	w := &Watch{began: time.Now(), stop: make(chan struct{})}
	for i := range w.watchmen {
		w.done.Go(func() { w.watchmen[i].look(w.began, w.stop) })
	}
	return w
}

func (m *watchman) look(began time.Time, stop <-chan struct{}) {
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	for last, over := began, false; !over; {
		select {
		case <-stop:
			over = true
		case <-ticker.C:
		}
		now := time.Now()
		if late := now.Sub(last) - 2*tick; late > 0 {
			m.sum += late
			m.longest = max(m.longest, late)
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
	for i := range w.watchmen {
		sum, longest = max(sum, w.watchmen[i].sum), max(longest, w.watchmen[i].longest)
	}
	return took, sum, longest
}

// Longest ends the watch, and returns how long the process stood still at the longest.
func (w *Watch) Longest() time.Duration {
	_, _, longest := w.End()
	return longest
}
