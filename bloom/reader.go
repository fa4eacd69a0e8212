package bloom

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash"
	"io"
	"strconv"
)

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
