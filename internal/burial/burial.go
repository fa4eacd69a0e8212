// Package burial keeps the tombstones that copies of split keys have yet to get:
// those that a change of the key could not leave there.
package burial

import (
	"context"
	"sync"
	"time"

	"github.com/earlybird-cache/earlybird/internal/ladder"
	"github.com/earlybird-cache/earlybird/store"
)

// Split is a key that was changed and may have copies.
type Split struct {
	Key        string
	Generation store.Generation // of the change
	Of         []int            // numbers of copies, the base included
}

// Options are what Debts are made of.
type Options struct {
	// Bury leaves tombstones in the copies and returns the keys of which some
	// could not be reached.
	Bury func(ctx context.Context, splits []Split) (failed []string)

	// Bound is the number of keys that are kept, Batch that of a Bury.
	Bound, Batch int
}

// Debts are the tombstones that are owed. They are tried again until copies that
// lacked them must have ended by themselves. Safe for concurrent use.
type Debts struct {
	bury   func(ctx context.Context, splits []Split) (failed []string)
	ladder *ladder.Ladder

	mu sync.Mutex
	of map[string]debt
}

type debt struct {
	Split
	until time.Time
}

// grace is how long a debt is kept: the life of a copy, and as long again for a
// Spread that had read the base before the change and was slow to write.
const grace = 2 * store.CopyLife

// New returns no debts.
func New(o Options) *Debts {
	d := &Debts{bury: o.Bury, of: make(map[string]debt)}
	d.ladder = ladder.New(ladder.Options{
		Try:   d.try,
		Rungs: []time.Duration{100 * time.Millisecond, 300 * time.Millisecond, time.Second},
		Bound: o.Bound,
		Batch: o.Batch,
	})
	return d
}

// Add owes splits tombstones, and returns the keys that there is no room for.
func (d *Debts) Add(splits []Split) (lost []string) {
	d.mu.Lock()
	keys := make([]string, len(splits))
	for i, s := range splits {
		keys[i] = s.Key
		if d.of[s.Key].Generation < s.Generation {
			d.of[s.Key] = debt{s, time.Now().Add(grace)}
		}
	}
	d.mu.Unlock()
	lost = d.ladder.Add(keys)
	d.drop(lost)
	return lost
}

// Has reports whether copies of key may hold what is void. It takes no lock while
// nothing is owed.
func (d *Debts) Has(key string) bool { return d.ladder.Has(key) }

// Counts returns how many keys wait, were done in the end or needed no more, and
// were given up.
func (d *Debts) Counts() (waiting int, done, givenUp uint64) { return d.ladder.Counts() }

// Close gives up what is owed.
func (d *Debts) Close() { d.ladder.Close() }

// try is for the ladder.
func (d *Debts) try(ctx context.Context, keys []string) (failed []string) {
	splits := d.due(keys, time.Now())
	if len(splits) > 0 {
		failed = d.bury(ctx, splits)
	}
	d.settle(splits, failed)
	return failed
}

// due returns the splits of keys whose copies can still be there.
func (d *Debts) due(keys []string, now time.Time) (splits []Split) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, key := range keys {
		switch owed, ok := d.of[key]; {
		case !ok:
		case now.After(owed.until):
			delete(d.of, key)
		default:
			splits = append(splits, owed.Split)
		}
	}
	return splits
}

// settle forgets what was done, unless the key has been changed again meanwhile.
func (d *Debts) settle(tried []Split, failed []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	still := make(map[string]bool, len(failed))
	for _, key := range failed {
		still[key] = true
	}
	for _, s := range tried {
		if !still[s.Key] && d.of[s.Key].Generation == s.Generation {
			delete(d.of, s.Key)
		}
	}
}

func (d *Debts) drop(keys []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, key := range keys {
		delete(d.of, key)
	}
}
