package fleet

import (
	"sync"
	"time"
)

// sighting is what one read got.
type sighting struct {
	instance int
	began    time.Duration
	value    value
}

// changes are those of a key at the origin, and what readers saw of them. It is safe
// for concurrent use; its zero value is ready.
type changes struct {
	mu    sync.Mutex
	at    []time.Duration // when the Invalidate of each version from 1 had returned
	reads []sighting
}

func (c *changes) saw(s sighting) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.reads = append(c.reads, s)
}

// returned notes that the next change has returned.
func (c *changes) returned(at time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = append(c.at, at)
}

func (c *changes) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.at)
}

// readsOf returns how many reads of key began in a stretch.
func (c *changes) readsOf(key string, x *stretch) (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.reads {
		if s.value.Key == key && x.from <= s.began && s.began < x.to {
			n++
		}
	}
	return n
}

// stale returns, for each change and each instance, how long after the change had
// returned a read of key began that got what was before, at the latest: 0 if none did.
// Times are in microseconds.
func (c *changes) stale(key string, instances int) (longest []int32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	longest = make([]int32, len(c.at)*instances)
	for _, s := range c.reads {
		for i := s.value.Version; s.value.Key == key && i < len(c.at) && s.began > c.at[i]; i++ {
			late := &longest[i*instances+s.instance]
			*late = max(*late, int32((s.began - c.at[i]).Microseconds()))
		}
	}
	return longest
}
