package bloom

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// ErrUnbuilt: there is nothing to save yet.
var ErrUnbuilt = errors.New("bloom: nothing has been built yet")

// WriteTo writes a snapshot of what the guard knows, its secret included: keep
// it from strangers. Adds, builds and reads go on meanwhile. A guard that is
// unbuilt or damaged is not saved, and reports [ErrUnbuilt] or [ErrDamaged];
// nor are ids that only a predecessor in grace knows.
func (g *Guard) WriteTo(w io.Writer) (int64, error) {
	gen, sample, err := g.freeze(false)
	if err != nil {
		return 0, err
	}
	return gen.save(w, g.opts.Name, sample)
}

func (g *generation) save(w io.Writer, name string, sample []string) (int64, error) {
	out := &counted{w: w}
	buffered := bufio.NewWriterSize(out, blockBytes)
	sum := sha256.New()
	if err := g.write(io.MultiWriter(buffered, sum), name, packed(sample)); err != nil {
		return out.n, err
	}
	buffered.Write(sum.Sum(nil)) // Flush has the error
	err := buffered.Flush()
	return out.n, err
}

// freeze returns the generation with its overlay folded in, which nobody will
// write to, whatever is added from now on. Nobody waits for the fold, which copies
// the filter.
func (g *Guard) freeze(complete bool) (*generation, []string, error) {
	if g == nil {
		return nil, nil, ErrUnbuilt
	}
	g.mu.Lock()
	gen, sample, held, err := g.current, g.sample, uint64(0), g.unsavedLocked(complete)
	if err == nil {
		held = gen.count()
	}
	g.mu.Unlock()
	if err == nil && held > gen.held {
		gen = gen.foldedTo(held)
	}
	return gen, sample, err
}

// unsavedLocked returns why the guard is not to be saved. A complete one has missed
// nothing.
func (g *Guard) unsavedLocked(complete bool) error {
	switch state := g.stateLocked(); {
	case state == Unbuilt:
		return ErrUnbuilt
	case state == Damaged:
		return ErrDamaged
	case complete && state == Incomplete:
		return ErrIncomplete
	case complete && state != Ready:
		return fmt.Errorf("bloom: the guard is %v", state)
	}
	return nil
}

func (g *generation) write(w io.Writer, name string, sample []byte) error {
	if err := binary.Write(w, byteOrder, g.header(name, sample)); err != nil {
		return err
	}
	if _, err := w.Write(append([]byte(name), sample...)); err != nil {
		return err
	}
	return writeWords(w, g.filter.BitSet().Words())
}

const blockBytes = 64 << 10

func writeWords(w io.Writer, words []uint64) error {
	block := make([]byte, 0, blockBytes)
	for i, word := range words {
		block = byteOrder.AppendUint64(block, word)
		if len(block) == blockBytes || i == len(words)-1 {
			if _, err := w.Write(block); err != nil {
				return err
			}
			block = block[:0]
		}
	}
	return nil
}

// packed packs as many canaries as a snapshot has room for.
func packed(sample []string) (chunk []byte) {
	for _, id := range sample {
		if len(chunk)+len(id)+binary.MaxVarintLen64 <= mostSampleBytes {
			chunk = appendID(chunk, id)
		}
	}
	return chunk
}

// counted counts the bytes written.
type counted struct {
	w io.Writer
	n int64
}

func (c *counted) Write(p []byte) (int, error) {
	n, err := c.w.Write(p)
	c.n += int64(n)
	return n, err
}
