package bloom

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash"
	"io"
	"iter"
	"strconv"
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
	b, err := g.begin(s.secret())
	if err != nil {
		return described, err
	}
	defer g.abandon(b)
	if since == nil {
		b.born = earlier(b.born, described.Read)
	} else if err := b.read(ctx, since(described)); err != nil {
		return described, err
	}
	b.carry()
	f := s.filling(s.words)
	b.listed.drain(f.add)
	b.sample.ids = append(b.sample.ids, s.sample...)
	if err := g.publish(b, f); err != nil {
		return described, &SnapshotError{Reason: "is damaged", Err: err}
	}
	return described, nil
}

// earlier keeps a clock that ran ahead when the snapshot was saved from
// lengthening its life.
func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// saved is the content of a snapshot.
type saved struct {
	header
	sample []string
	words  []uint64
}

func readSnapshot(r io.Reader, opts *Options) (*saved, error) {
	in := &checked{r: bufio.NewReaderSize(r, blockBytes), sum: sha256.New()}
	s := &saved{}
	if err := binary.Read(in, byteOrder, &s.header); err != nil {
		return nil, truncated(err)
	}
	if err := s.check(opts); err != nil {
		return nil, err
	}
	name, err := in.bytes(int(s.NameBytes))
	if err != nil {
		return nil, err
	}
	sample, err := in.bytes(int(s.SampleBytes))
	if err != nil {
		return nil, err
	}
	if s.words, err = in.words(int(s.Bits / 64)); err != nil {
		return nil, err
	}
	if err := in.end(); err != nil {
		return nil, err
	}
	if string(name) != opts.Name { // told last: a flipped bit is no other guard
		return nil, &SnapshotError{Reason: "is of the guard named " + strconv.Quote(string(name))}
	}
	s.sample, err = unpacked(sample)
	return s, err
}

// checked reads the parts of a snapshot and sums them up. It never allocates
// for what a header claims, only for what has come.
type checked struct {
	r   io.Reader
	sum hash.Hash
}

func (c *checked) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.sum.Write(p[:n])
	return n, err
}

func (c *checked) bytes(n int) ([]byte, error) {
	b, err := io.ReadAll(io.LimitReader(c, int64(n)))
	if err == nil && len(b) < n {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, truncated(err)
	}
	return b, nil
}

func (c *checked) words(n int) ([]uint64, error) {
	var words []uint64
	block := make([]byte, blockBytes)
	for len(words) < n {
		part := block[:8*min(n-len(words), blockBytes/8)]
		if _, err := io.ReadFull(c, part); err != nil {
			return nil, truncated(err)
		}
		words = grow(words, len(part)/8, n)
		for ; len(part) > 0; part = part[8:] {
			words = append(words, byteOrder.Uint64(part))
		}
	}
	return words, nil
}

// grow makes room for more words by doubling, up to the n there will be.
func grow(words []uint64, more, n int) []uint64 {
	if len(words)+more <= cap(words) {
		return words
	}
	roomier := make([]uint64, len(words), min(max(2*cap(words), len(words)+more), n))
	copy(roomier, words)
	return roomier
}

// end compares the checksum and makes sure that nothing follows it.
func (c *checked) end() error {
	want := c.sum.Sum(nil)
	got, err := c.bytes(len(want))
	if err != nil {
		return err
	}
	if string(got) != string(want) {
		return &SnapshotError{Reason: "does not match its checksum"}
	}
	switch _, err := io.ReadFull(c.r, make([]byte, 1)); {
	case err == nil:
		return &SnapshotError{Reason: "is followed by something else"}
	case !errors.Is(err, io.EOF):
		return truncated(err)
	}
	return nil
}

func truncated(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return &SnapshotError{Reason: "is cut short", Err: io.ErrUnexpectedEOF}
	}
	return &SnapshotError{Reason: "cannot be read", Err: err}
}

// unpacked is the inverse of packed, for bytes from outside.
func unpacked(chunk []byte) (ids []string, err error) {
	for len(chunk) > 0 {
		n, width := binary.Uvarint(chunk)
		if width <= 0 || n > uint64(len(chunk)-width) {
			return nil, &SnapshotError{Reason: "has a broken sample"}
		}
		end := width + int(n)
		ids = append(ids, string(chunk[width:end]))
		chunk = chunk[end:]
	}
	return ids, nil
}
