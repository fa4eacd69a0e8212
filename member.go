package earlybird

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/earlybird-cache/earlybird/bloom"
	"github.com/earlybird-cache/earlybird/store"
)

// member has the guard begin with what that of another cache knows, and leaves what
// it knows to those who come. It is one goroutine's, which ends with the cache.
//
//	guard/NAME  the snapshot, with its guardMark
//	claim/NAME  of whoever is writing the snapshot of that generation; empty
type member[V any] struct {
	cache *Cache[V]
	guard *bloom.Member
	bus   store.Bus
	blobs store.Blobs // nil: the tier keeps none
	name  string

	listens bool
	gaps    atomic.Uint64

	seen     uint64 // generation of the snapshot in the tier
	since    time.Time
	tooLarge uint64 // bits of a guard that the tier had no room for
}

const (
	// joinTime is how long a new cache tries to begin with a snapshot. Builds wait
	// for it.
	joinTime = 20 * time.Second

	// saveEvery and saveRate are how old a snapshot becomes at least, by time and
	// by size, before another one is written, by whichever cache comes first.
	saveEvery = time.Minute
	saveRate  = 256 << 10 // bytes a second

	// lookEvery is how often each cache looks how old the snapshot is, at most, but
	// for the first times.
	lookEvery = 30 * time.Second

	// saveTime bounds the writing of one.
	saveTime = 2 * time.Minute

	// snapshotLife is how long one is kept: a fleet may be started anew as a whole.
	snapshotLife = 24 * time.Hour
)

func newMember[V any](c *Cache[V], bus store.Bus) *member[V] {
	m := &member[V]{cache: c, guard: c.opts.Guard.Join(), bus: bus, name: c.opts.Guard.Name()}
	m.blobs, _ = c.opts.Store.(store.Blobs)
	return m
}

// run joins the others, and is one of them until ctx ends.
func (m *member[V]) run(ctx context.Context) {
	m.join(ctx)
	for wait := time.Second; m.blobs != nil && pause(ctx, wait/2+rand.N(wait/2)); wait = min(2*wait, lookEvery) {
		m.mind(ctx)
	}
}

// pause reports whether d went by before ctx ended.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// join begins to listen: from where a snapshot was made, if there is one, and else
// with a gap. Also if the snapshot is of no use, that place is good for the builds
// that have waited.
func (m *member[V]) join(ctx context.Context) {
	defer m.guard.Joined()
	ctx, cancel := context.WithTimeout(ctx, joinTime)
	defer cancel()
	place, err := m.begin(ctx)
	for wait := 50 * time.Millisecond; !m.listens && isPassing(err) && pause(ctx, wait); wait = min(2*wait, time.Second) {
		place, err = m.begin(ctx)
	}
	if err != nil && ctx.Err() == nil && !errors.Is(err, store.ErrClosed) {
		m.complain("not loaded", err)
	}
	m.listen(place)
	_ = m.catchUp(ctx)
}

// begin loads the snapshot in the tier, and returns the place where it was made.
func (m *member[V]) begin(ctx context.Context) (place string, err error) {
	if m.blobs == nil {
		return "", nil
	}
	b, err := m.find(ctx)
	if err != nil || b.Body == nil {
		return "", err
	}
	mark, ok := parseGuardMark(b.Mark)
	if !ok {
		return "", errors.New("its mark can not be read")
	}
	if broken := safely(func() error {
		_, err := m.guard.Load(ctx, b.Body, m.ids(mark.known), func(ctx context.Context) error {
			m.listen(mark.place)
			return m.catchUp(ctx)
		})
		return err
	}); broken != nil {
		return mark.place, broken
	}
	m.cache.guardLoads.Add(1)
	return mark.place, nil
}

// isPassing reports whether it is worth trying again.
func isPassing(err error) bool {
	return errors.Is(err, store.ErrUnavailable) || errors.Is(err, store.ErrBroken)
}

// ids returns what the guard knows keys by.
func (m *member[V]) ids(keys []string) []string {
	ids := make([]string, len(keys))
	for i, key := range keys {
		ids[i] = m.cache.guardPart(m.cache.canon(key))
	}
	return ids
}

// listen begins to listen, once.
func (m *member[V]) listen(from string) {
	if m.listens {
		return
	}
	m.listens = true
	m.bus.Listen(from, m.cache.heard, func() {
		m.gaps.Add(1)
		m.cache.opts.Guard.Missed()
	})
}

var errGap = errors.New("the tier does not remember what was created since")

// catchUp waits until everything has been heard.
func (m *member[V]) catchUp(ctx context.Context) error {
	for !m.bus.Hears() {
		if m.gaps.Load() > 0 {
			return errGap
		}
		if !pause(ctx, 5*time.Millisecond) {
			return ctx.Err()
		}
	}
	if m.gaps.Load() > 0 {
		return errGap
	}
	return nil
}

// find returns the snapshot in the tier.
func (m *member[V]) find(ctx context.Context) (b store.Blob, err error) {
	err = safely(func() (err error) {
		b, err = m.blobs.GetBlob(ctx, "guard/"+m.name)
		return err
	})
	return b, err
}

// put leaves a blob in the tier. The error is store.ErrLost if somebody was first.
func (m *member[V]) put(ctx context.Context, name string, b store.Blob) error {
	return safely(func() error { return m.blobs.PutBlob(ctx, name, b) })
}

// mind writes a snapshot if that in the tier is old and nobody else is writing one.
func (m *member[V]) mind(ctx context.Context) {
	s := m.cache.opts.Guard.Stats()
	switch {
	case s.State != bloom.Ready || !m.bus.Hears():
		return
	case s.Grace: // what only the predecessor knows would not be in it
		return
	case m.tooLarge != 0 && s.Bits >= m.tooLarge:
		return
	}
	old, err := m.find(ctx)
	if err != nil || !m.isOld(old, int64(s.Bits/8)) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, saveTime)
	defer cancel()
	claim := store.Blob{Generation: old.Generation + 1, Life: saveTime, Body: strings.NewReader("")}
	if m.put(ctx, "claim/"+m.name, claim) != nil {
		return
	}
	err = m.save(ctx, old.Generation+1, int64(s.Bits/8))
	var refused *store.ValueError
	switch {
	case err == nil:
		m.cache.guardSaves.Add(1)
	case errors.As(err, &refused):
		m.tooLarge = s.Bits
		m.complain("not kept by the tier", err)
	}
}

// isOld reports whether a snapshot is to be replaced by one of that size. One that
// lacks nothing is only kept from ending. How old it is, is known from when it was
// first seen: no two clocks are compared.
func (m *member[V]) isOld(b store.Blob, size int64) bool {
	if b.Body == nil {
		return true
	}
	if m.since.IsZero() || m.seen != b.Generation {
		m.seen, m.since = b.Generation, time.Now()
	}
	age := time.Since(m.since)
	if mark, ok := parseGuardMark(b.Mark); ok && mark.place == m.bus.Place() {
		return age >= snapshotLife/2
	}
	return age >= max(saveEvery, time.Duration(size/saveRate)*time.Second)
}

// save writes a snapshot. Its place comes first: what was told before that is in the
// guard, or the guard knows that it misses something, and does not write.
func (m *member[V]) save(ctx context.Context, generation uint64, size int64) error {
	mark := guardMark{place: m.bus.Place(), known: m.known()}
	r, w := io.Pipe()
	var writer sync.WaitGroup
	writer.Go(func() {
		_, err := m.guard.WriteTo(w)
		w.CloseWithError(err)
	})
	defer writer.Wait()
	defer r.Close()
	return m.put(ctx, "guard/"+m.name, store.Blob{
		Generation: generation, Mark: mark.String(), Life: snapshotLife, Size: size, Body: r,
	})
}

// known returns keys of some values in memory. Their ids exist, whoever looks.
func (m *member[V]) known() (keys []string) {
	var broken error // GuardPart is the user's
	guarded(&broken, func() {
		for key := range m.cache.values.All() {
			if m.cache.opts.Guard.MayContain(m.cache.guardPart(key)) {
				keys = append(keys, key)
			}
			if len(keys) == mostKnown {
				return
			}
		}
	})
	return keys
}

// complain tells the user that the snapshot is of no use.
func (m *member[V]) complain(what string, err error) {
	m.cache.reporter.report(Event{Tier: true, Err: fmt.Errorf("earlybird: the guard's snapshot is %s: %w", what, err)})
}

// safely is guarded for what returns an error.
func safely(f func() error) error {
	var broken, err error
	if guarded(&broken, func() { err = f() }); broken != nil {
		return broken
	}
	return err
}
