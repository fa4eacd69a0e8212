package bloom

import (
	"context"
	"errors"
	"io"
	"slices"
)

// ErrIncomplete: ids may have been created of which the guard was not told, and
// neither its snapshot nor one that it is given makes up for that.
var ErrIncomplete = errors.New("bloom: ids may have been created that the guard was not told of")

// A Member is a guard's place in a fleet of guards, which all are told what any
// process creates, so that a new one can begin with the snapshot of another.
// Caches that share a store.Bus make one for their guard; others need none. All
// methods may be called from any goroutine; a nil Member is that of a nil Guard.
type Member struct {
	guard  *Guard
	missed uint64 // Guard.missed, as Join left it
	alone  bool   // nothing else has been missed
	joined chan struct{}
}

// Join makes g a member. It counts as [Guard.Missed], for whatever was created
// before has not been told; and builds and loads that are asked for wait for
// [Member.Joined], because ids that were told before it would be missing.
func (g *Guard) Join() *Member {
	if g == nil {
		return nil
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	m := &Member{guard: g, alone: g.missed == 0, joined: make(chan struct{})}
	g.missed++
	m.missed = g.missed
	g.joining = append(g.joining, m)
	g.settleLocked()
	return m
}

// Joined says that from now on Add is called with all ids that any process
// creates, or else Missed. It may be said again.
func (m *Member) Joined() {
	if m == nil {
		return
	}
	m.guard.mu.Lock()
	defer m.guard.mu.Unlock()
	if i := slices.Index(m.guard.joining, m); i >= 0 {
		m.guard.joining = slices.Delete(m.guard.joining, i, i+1)
		close(m.joined)
	}
}

// Load is [Guard.Load] of another member's snapshot, before Joined. catchUp is
// called when the snapshot has been found good; it returns nil when Add has been
// called with all that was created since the other one began to write it. The
// error is ErrIncomplete where that is not enough, because Missed was called
// besides, or Join a second time: what g should have heard otherwise, others need
// not have heard.
//
// known are ids that must be in the snapshot, or else it is not loaded: at most
// some hundred. They show whether the other one spells its ids alike. The guard is
// as old as the snapshot: Options.MaxAge counts from Snapshot.Read.
func (m *Member) Load(ctx context.Context, r io.Reader, known []string, catchUp func(context.Context) error) (Snapshot, error) {
	if m == nil {
		return Snapshot{}, nil
	}
	g := m.guard
	s, err := readSnapshot(r, &g.opts)
	if err != nil {
		return Snapshot{}, err
	}
	described := s.snapshot()
	if g.opts.MaxAge > 0 && over(described.Read.Add(g.opts.MaxAge)) {
		return described, &SnapshotError{Reason: "is too old"}
	}
	b, err := m.begin(s)
	if err != nil {
		return described, err
	}
	defer g.abandon(b)
	b.born = earlier(b.born, described.Read)
	f := s.filling(s.words)
	if !b.has(f, known) {
		return described, &SnapshotError{Reason: "lacks ids that its writer knew: it spells them otherwise"}
	}
	if err := catchUp(ctx); err != nil {
		return described, err
	}
	return described, g.complete(b, f, s)
}

func (m *Member) begin(s *saved) (*build, error) {
	m.guard.mu.Lock()
	defer m.guard.mu.Unlock()
	if !m.alone || m.guard.missed != m.missed {
		return nil, ErrIncomplete
	}
	return m.guard.beginLocked(s.secret())
}

// has reports whether all ids are in f.
func (b *build) has(f *filling, ids []string) bool {
	for _, id := range ids {
		if d := b.secret.digest(id).bytes(); !f.filter.Test(d[:]) {
			return false
		}
	}
	return true
}

// WriteTo is [Guard.WriteTo] of a guard that has all ids which were created before;
// the error is ErrIncomplete, or why it is open, for one that refuses nothing.
func (m *Member) WriteTo(w io.Writer) (int64, error) {
	if m == nil {
		return 0, ErrUnbuilt
	}
	gen, sample, err := m.guard.freeze(true)
	if err != nil {
		return 0, err
	}
	return gen.save(w, m.guard.opts.Name, sample)
}

// awaitMembers waits until nobody is joining.
func (g *Guard) awaitMembers(ctx context.Context) error {
	for {
		g.mu.Lock()
		joining := slices.Clone(g.joining)
		g.mu.Unlock()
		if len(joining) == 0 {
			return nil
		}
		select {
		case <-joining[0].joined:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
