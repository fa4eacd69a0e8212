package earlybird

import (
	"log/slog"
	"sync"
	"time"
)

// Event is something that went wrong behind the readers' backs, or in front of
// them.
type Event struct {
	Cache   string // Options.Name
	Key     string
	Refresh bool // the value was there, and still is
	Tier    bool // it is the shared tier that failed, not the origin
	Err     error
}

// reporter tells the user of failures.
type reporter struct {
	name    string
	onError func(Event)
	logger  *slog.Logger

	mu      sync.Mutex
	logged  time.Time
	skipped int
}

// logEvery bounds the log: an origin that is down fails thousands of times a
// second.
const logEvery = time.Second

func newReporter(name string, onError func(Event), logger *slog.Logger) *reporter {
	return &reporter{name: name, onError: onError, logger: logger}
}

// report is called for each load that failed, and when the tier begins to fail, by whoever ends it: the loader's
// goroutine, a timer's, or a reader's. What the user does when he is told gets a
// goroutine of its own, for he may panic or, as a test's FailNow does, end the
// goroutine, and readers still wait for what comes after.
func (r *reporter) report(e Event) {
	if r.onError == nil && r.logger == nil {
		return
	}
	e.Cache = r.name
	told := make(chan struct{})
	go func() {
		defer close(told)
		defer guarded(new(error), func() { r.log(e, time.Now()) })
		guarded(new(error), func() { r.tell(e) })
	}()
	<-told
}

func (r *reporter) tell(e Event) {
	if r.onError != nil {
		r.onError(e)
	}
}

func (r *reporter) log(e Event, now time.Time) {
	if r.logger == nil {
		return
	}
	r.mu.Lock()
	if now.Sub(r.logged) < logEvery {
		r.skipped++
		r.mu.Unlock()
		return
	}
	skipped := r.skipped
	r.logged, r.skipped = now, 0
	r.mu.Unlock()
	what := "load failed"
	if e.Tier {
		what = "shared tier failed"
	}
	r.logger.Warn(what, "cache", e.Cache, "key", e.Key, "refresh", e.Refresh,
		"error", e.Err, "not logged since", skipped)
}

// report tells the user that f failed.
func (c *Cache[V]) report(f *flight[V], err error) {
	if err != ErrClosed && err != ErrLoadFailed {
		c.reporter.report(Event{Key: f.key, Refresh: f.held != nil, Err: err})
	}
}
