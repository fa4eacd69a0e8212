package fleet

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// value is what the origin has under a key.
type value struct {
	Key   string
	From  int           // the instance that loaded it
	Ready time.Duration // when the origin had it, on the run's clock

	Version int // of the origin's content, when the load began
}

// origin is what all the caches of a fleet load from. It takes its time and has no
// bound: what it is spared is the caches' doing.
type origin struct {
	takes   time.Duration
	began   time.Time    // when the run's clock began
	version atomic.Int64 // rises with each change

	mu    sync.Mutex
	calls []call
}

// call is one call of the origin. Times are on the run's clock.
type call struct {
	key          string
	instance     int
	began, ended time.Duration
}

func newOrigin(takes time.Duration) *origin { return &origin{takes: takes, began: time.Now()} }

// now is the time on the run's clock.
func (o *origin) now() time.Duration { return time.Since(o.began) }

func (o *origin) load(ctx context.Context, instance int, key string) (value, error) {
	began, version := o.now(), o.version.Load()
	err := wait(ctx, o.takes)
	ended := o.now()
	o.mu.Lock()
	o.calls = append(o.calls, call{key, instance, began, ended})
	o.mu.Unlock()
	return value{key, instance, ended, int(version)}, err
}

func wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// between returns the calls that were begun from one time to another and have ended.
func (o *origin) between(from, to time.Duration) (calls []call) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, c := range o.calls {
		if from <= c.began && c.began < to {
			calls = append(calls, c)
		}
	}
	return calls
}

// mostAtOnce returns how many of those calls that are alike ran at once.
func mostAtOnce[K comparable](calls []call, kind func(call) K) (most int) {
	type step struct {
		at   time.Duration
		kind K
		by   int
	}
	var steps []step
	for _, c := range calls {
		steps = append(steps, step{c.began, kind(c), 1}, step{c.ended, kind(c), -1})
	}
	slices.SortFunc(steps, func(a, b step) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.by, b.by)) })
	now := map[K]int{}
	for _, s := range steps {
		now[s.kind] += s.by
		most = max(most, now[s.kind])
	}
	return most
}

// busiest returns the most of calls that were begun within one second.
func busiest(calls []call) (most int) {
	began := make([]time.Duration, len(calls))
	for i, c := range calls {
		began[i] = c.began
	}
	slices.Sort(began)
	first := 0
	for i, at := range began {
		for at-began[first] >= time.Second {
			first++
		}
		most = max(most, i-first+1)
	}
	return most
}

func byKey(c call) string   { return c.key }
func byInstance(c call) int { return c.instance }
func together(call) int     { return 0 }
