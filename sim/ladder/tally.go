package ladder

import (
	"slices"
	"sync"
	"time"
)

// A tally is what the clients of one rung met with.
type tally struct {
	mu     sync.Mutex
	reads  int
	errors int
	waits  []int32 // microseconds, of the reads that waited
}

// add counts a read that took the given time and got the right answer or not.
func (t *tally) add(took time.Duration, right bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.reads++
	if !right {
		t.errors++
	}
	if took > 0 {
		t.waits = append(t.waits, int32(took.Microseconds()))
	}
}

// fillIn writes what t counted into row, once nothing is added any more.
func (t *tally) fillIn(row *Row) {
	slices.Sort(t.waits)
	row.Reads, row.Errors, row.Waited = t.reads, t.errors, len(t.waits)
	row.P50, row.P99, row.P999 = t.quantile(0.5), t.quantile(0.99), t.quantile(0.999)
}

// quantile returns in milliseconds what the share q of all reads did not exceed.
// Reads that did not wait took no time. t.waits must be sorted.
func (t *tally) quantile(q float64) float64 {
	i := int(q*float64(t.reads)) - (t.reads - len(t.waits))
	if i < 0 || len(t.waits) == 0 {
		return 0
	}
	return float64(t.waits[min(i, len(t.waits)-1)]) / 1000
}
