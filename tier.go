package earlybird

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/earlybird-cache/earlybird/store"
)

// tier is the cache's end of Options.Store: whether it answers, and what was kept
// near while it did not. A nil *tier is off.
type tier[V any] struct {
	store store.Store[V]
	wait  time.Duration // how long another cache's load is waited for
	lease time.Duration // how long one of ours may take, its turn at the gate included

	open   context.Context // ends with the cache, and with it every wait
	cancel context.CancelFunc
	said   sync.WaitGroup // what is being said to it behind everybody

	down     atomic.Bool
	outages  atomic.Uint64
	failed   atomic.Int64 // when the last question was not answered
	now      func() int64
	suspects suspects[V]
	report   func(Event)

	adopted, renewed, denied, waited, unleased, lost, errors atomic.Uint64
}

// outageLife is how long a value is kept that was loaded while the tier could not
// be asked, for nobody tells of changes to it.
const outageLife = 30 * time.Second

// outageNear is how long a copy in memory serves during an outage until somebody
// asks whether the tier is back.
const outageNear = time.Second

func newTier[V any](opts Options[V], now func() int64, report func(Event)) *tier[V] {
	if opts.Store == nil {
		return nil
	}
	t := &tier[V]{store: opts.Store, wait: opts.MaxWait, now: now, report: report}
	t.lease = time.Duration(satAdd(satAdd(int64(opts.LoadTimeout), int64(opts.LoadTimeout)), int64(time.Second)))
	t.open, t.cancel = context.WithCancel(context.Background())
	return t
}

// call makes one call of the store, which encodes and decodes the user's values
// and so may run the user's code.
func (t *tier[V]) call(key string, f func() error) (err error) {
	var said error
	if guarded(&err, func() { said = f() }); err == nil {
		err = said
	}
	t.note(key, err)
	return err
}

// calm is how long no question must have gone unanswered before the tier counts as
// up again. While a part of it is away some questions are answered and some are
// not, and while it comes back too.
const calm = time.Second

// note takes note of how a question ended. The first that fails is told, and the
// first that is answered once it is calm makes what was kept near in between
// suspect.
func (t *tier[V]) note(key string, err error) {
	switch {
	case isOutage(err):
		t.errors.Add(1)
		t.failed.Store(t.now())
		if !t.down.Load() && t.down.CompareAndSwap(false, true) {
			t.outages.Add(1)
			t.report(Event{Key: key, Tier: true, Err: err})
		}
	case err == nil || err == store.ErrLost:
		if t.down.Load() && t.now()-t.failed.Load() >= int64(calm) && t.down.CompareAndSwap(true, false) {
			t.suspects.expose()
		}
	}
}

// isIn reports whether the outage of that number goes on.
func (t *tier[V]) isIn(outage uint64) bool { return t.down.Load() && t.outages.Load() == outage }

// isOutage reports whether err, of a question to the tier, means that it can not
// be asked: it does not say something about one key or value.
func isOutage(err error) bool {
	var value *store.ValueError
	var panicked *PanicError
	return err != nil && !errors.Is(err, store.ErrLost) && !errors.As(err, &value) && !errors.As(err, &panicked)
}

// get asks what the tier holds of keys.
func (t *tier[V]) get(ctx context.Context, keys []string) []store.Reply[V] {
	if len(keys) > 1 {
		return t.getMany(ctx, keys)
	}
	replies := make([]store.Reply[V], 1)
	replies[0].Err = t.call(keys[0], func() (err error) {
		replies[0].Record, err = t.store.Get(ctx, keys[0])
		return err
	})
	return replies
}

func (t *tier[V]) getMany(ctx context.Context, keys []string) (replies []store.Reply[V]) {
	var broken error
	guarded(&broken, func() { replies = t.store.GetMany(ctx, keys) })
	if broken != nil || len(replies) != len(keys) {
		replies = make([]store.Reply[V], len(keys))
	}
	for i := range replies {
		if broken != nil {
			replies[i].Err = broken
		}
		t.note(keys[i], replies[i].Err)
	}
	return replies
}

// acquire asks for leave to load.
func (t *tier[V]) acquire(ctx context.Context, key string, have store.Generation) (claim store.Claim[V], err error) {
	err = t.call(key, func() (err error) {
		claim, err = t.store.Acquire(ctx, key, have, t.lease)
		return err
	})
	return claim, err
}

// fail gives a lease back, behind the caller. For coolDown nobody gets another.
func (t *tier[V]) fail(l store.Lease, coolDown time.Duration) {
	t.said.Go(func() {
		_ = t.call(l.Key, func() error { return t.store.Fail(context.Background(), l, coolDown) })
	})
}

// release releases those who wait for the tier.
func (t *tier[V]) release() {
	if t != nil {
		t.cancel()
	}
}

// end waits until everything is said.
func (t *tier[V]) end() {
	if t != nil {
		t.said.Wait()
	}
}

func (t *tier[V]) addTo(s *Stats) {
	if t == nil {
		return
	}
	s.Adopted, s.Renewed, s.Denied = t.adopted.Load(), t.renewed.Load(), t.denied.Load()
	s.Waited, s.Unleased, s.Lost = t.waited.Load(), t.unleased.Load(), t.lost.Load()
	s.TierErrors, s.TierDown = t.errors.Load(), t.down.Load()
	s.Store = t.store.Stats()
}

// suspect has e asked about as soon as the tier answers, which it may have done
// meanwhile.
func (t *tier[V]) suspect(e *entry[V]) {
	t.suspects.add(e)
	if !t.down.Load() {
		e.doubt()
	}
}

// suspects are the entries that were stored near during an outage.
type suspects[V any] struct {
	mu      sync.Mutex
	entries []*entry[V]
}

// mostSuspects bounds what an outage keeps in memory. The tier is asked about
// more of them only when their time near is over.
const mostSuspects = 1 << 16

func (s *suspects[V]) add(e *entry[V]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.entries) == cap(s.entries) { // about to grow: forget those that are gone
		s.entries = slices.DeleteFunc(s.entries, (*entry[V]).isRetired)
	}
	if len(s.entries) < mostSuspects {
		s.entries = append(s.entries, e)
	}
}

// expose has the tier asked about each of them before it is served again.
func (s *suspects[V]) expose() {
	s.mu.Lock()
	entries := s.entries
	s.entries = nil
	s.mu.Unlock()
	for _, e := range entries {
		e.doubt()
	}
}
