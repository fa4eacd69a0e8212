package earlybird

import (
	"context"
	"sync"
	"time"
)

// callContext is what a loader is given: the values of the context of one who
// asked, nothing of its end, and an end of its own, which the load's timer brings.
// With context.WithTimeout each load would have a second timer, a tenth of what
// it costs.
type callContext struct {
	context.Context // never done
	errand          *errand
	deadline        time.Time

	mu    sync.Mutex
	err   error                // why it has ended
	done  chan struct{}        // nil until somebody asks for it
	after map[*func()]struct{} // to be called when it ends
}

type errandKey struct{}

func (c *callContext) Value(key any) any {
	if key == (errandKey{}) {
		return c.errand
	}
	return c.Context.Value(key)
}

func (c *callContext) Deadline() (time.Time, bool) { return c.deadline, true }

func (c *callContext) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

func (c *callContext) Done() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done == nil {
		c.done = make(chan struct{})
		if c.err != nil {
			close(c.done)
		}
	}
	return c.done
}

// AfterFunc is what package context ends the contexts by that are derived from c.
// Without it each would have a goroutine that waits for Done.
func (c *callContext) AfterFunc(f func()) (stop func() bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		go f()
		return func() bool { return false }
	}
	if c.after == nil {
		c.after = make(map[*func()]struct{})
	}
	c.after[&f] = struct{}{}
	return func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		_, waits := c.after[&f]
		delete(c.after, &f)
		return waits
	}
}

// String keeps a context that is printed from being looked into while it ends.
func (c *callContext) String() string { return "earlybird.load" }

// end ends c, unless it has ended.
func (c *callContext) end(err error) {
	c.mu.Lock()
	if c.err != nil {
		c.mu.Unlock()
		return
	}
	c.err = err
	if c.done != nil {
		close(c.done)
	}
	after := c.after
	c.after = nil
	c.mu.Unlock()
	for f := range after {
		(*f)()
	}
}
