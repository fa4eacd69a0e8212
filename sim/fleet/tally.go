package fleet

import (
	"slices"
	"sync"
	"time"
)

// tally is what readers met with. Its zero value is ready; it is safe for concurrent
// use.
type tally struct {
	mu     sync.Mutex
	reads  int
	waited int
	errors int
	err    error   // one of them
	took   []int32 // microseconds
	late   []int32
	woke   []int32
}

// reading is what one reader met with.
type reading struct {
	late   time.Duration // by how much it began after it was due
	took   time.Duration // since it was due
	waited bool          // for the origin
	woken  bool          // by the load of another instance
	woke   time.Duration // since that load ended
	err    error
}

func (t *tally) add(r reading) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.reads++
	if r.waited {
		t.waited++
	}
	if r.err != nil {
		t.errors++
		t.err = r.err
	}
	t.took = append(t.took, int32(r.took.Microseconds()))
	t.late = append(t.late, int32(r.late.Microseconds()))
	if r.woken {
		t.woke = append(t.woke, int32(r.woke.Microseconds()))
	}
}

// Latency says in milliseconds how long reads took, from when they were due.
type Latency struct {
	P50  float64 `json:"p50_ms"`
	P99  float64 `json:"p99_ms"`
	P999 float64 `json:"p999_ms"`
	Max  float64 `json:"max_ms"`
}

// firstError is one of the errors, "" if there is none.
func (t *tally) firstError() string {
	if t.err == nil {
		return ""
	}
	return t.err.Error()
}

// latency is of the reads, once nothing is added any more.
func (t *tally) latency() Latency { return latencyOf(t.took) }

// lateness is by how much reads began too late, which is in their latency.
func (t *tally) lateness() Latency { return latencyOf(t.late) }

// wakeUp is how long after a load ended those had its value who waited for it on
// other instances.
func (t *tally) wakeUp() Latency { return latencyOf(t.woke) }

// latencyOf sorts times in microseconds and looks at some of them.
func latencyOf(times []int32) Latency {
	slices.Sort(times)
	at := func(share float64) float64 {
		if len(times) == 0 {
			return 0
		}
		return float64(times[min(len(times)-1, int(share*float64(len(times))))]) / 1000
	}
	return Latency{at(0.5), at(0.99), at(0.999), at(1)}
}
