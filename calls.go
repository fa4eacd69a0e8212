package earlybird

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/earlybird-cache/earlybird/xfetch"
)

// calls keeps count of the loader calls that run.
type calls struct {
	mu        sync.Mutex
	running   int
	most      int
	ofKey     map[string]int
	mostOfKey int
	started   uint64
	abandoned uint64
	time      time.Duration
	longest   time.Duration
}

func newCalls() *calls {
	return &calls{ofKey: make(map[string]int)}
}

func (c *calls) begin(keys []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.started++
	c.running++
	c.most = max(c.most, c.running)
	for _, key := range keys {
		c.ofKey[key]++
		c.mostOfKey = max(c.mostOfKey, c.ofKey[key])
	}
}

func (c *calls) end(keys []string, took time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.running--
	for _, key := range keys {
		if c.ofKey[key]--; c.ofKey[key] == 0 {
			delete(c.ofKey, key)
		}
	}
	c.time += took
	c.longest = max(c.longest, took)
}

// abandon notes that a call outlasted its flight. It still runs.
func (c *calls) abandon() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.abandoned++
}

func (c *calls) now() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.running
}

func (c *calls) addTo(s *Stats) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s.Loads, s.LoadsNow, s.LoadsMost = c.started, c.running, c.most
	s.LoadsMostOneKey, s.Abandoned = c.mostOfKey, c.abandoned
	s.LoadTime, s.LoadTimeMost = c.time, c.longest
}

// meanCost is the smoothed cost of all loads, for entries that bring none of
// their own.
type meanCost struct{ ns atomic.Int64 }

func (m *meanCost) feed(cost time.Duration) {
	for {
		old := m.ns.Load()
		if m.ns.CompareAndSwap(old, int64(xfetch.Smooth(time.Duration(old), cost))) {
			return
		}
	}
}

func (m *meanCost) cost() time.Duration { return time.Duration(m.ns.Load()) }
