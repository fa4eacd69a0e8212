package bloom

import (
	"context"
	"io"
	"iter"
	"time"
)

// Load replaces what the guard knows by a snapshot that WriteTo wrote, plus
// the ids given to Add, which are carried over as a build does. r must end
// with the snapshot.
//
// A snapshot ages: it lacks what was created since, and a guard that took it
// at its word would refuse that. So since is asked for a sequence of the ids
// created after Snapshot.Read, with some margin for clocks that disagree, and
// the snapshot goes into force once they are in. Only who knows that nothing
// has been created meanwhile may pass a nil since; a snapshot that old is
// Outdated when Options.MaxAge says so.
//
// Whatever is wrong with the snapshot, the error is a [*SnapshotError], no
// more is allocated than a few times the bytes that r had, and the guard
// stays as it was; so too if since or ctx fail.
func (g *Guard) Load(ctx context.Context, r io.Reader, since func(Snapshot) iter.Seq2[string, error]) (Snapshot, error) {
	if g == nil {
		return Snapshot{}, nil
	}
	s, err := readSnapshot(r, &g.opts)
	if err != nil {
		return Snapshot{}, err
	}
	described := s.snapshot()
	b, err := g.begin(ctx, s.secret())
	if err != nil {
		return described, err
	}
	defer g.abandon(b)
	if since == nil {
		b.born = earlier(b.born, described.Read)
	} else if err := b.read(ctx, since(described)); err != nil {
		return described, err
	}
	return described, g.complete(b, s.filling(s.words), s)
}

// complete puts into force what s had, with what was listed and added besides.
func (g *Guard) complete(b *build, f *filling, s *saved) error {
	b.carry()
	b.listed.drain(f.add)
	b.sample.ids = append(b.sample.ids, s.sample[:min(len(s.sample), canaries)]...)
	if err := g.publish(b, f); err != nil {
		return &SnapshotError{Reason: "is damaged", Err: err}
	}
	return nil
}

// earlier keeps a clock that ran ahead when the snapshot was saved from
// lengthening its life.
func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
