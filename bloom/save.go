package bloom

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
)

// ErrUnbuilt: there is nothing to save yet.
var ErrUnbuilt = errors.New("bloom: nothing has been built yet")

// WriteTo writes a snapshot of what the guard knows, its secret included: keep
// it from strangers. Adds, builds and reads go on meanwhile. A guard that is
// unbuilt or damaged is not saved, and reports [ErrUnbuilt] or [ErrDamaged];
// nor are ids that only a predecessor in grace knows.
func (g *Guard) WriteTo(w io.Writer) (int64, error) {
	gen, sample, err := g.freeze()
	if err != nil {
		return 0, err
	}
	out := &counted{w: w}
	buffered := bufio.NewWriterSize(out, blockBytes)
	sum := sha256.New()
	if err := gen.write(io.MultiWriter(buffered, sum), g.opts.Name, packed(sample)); err != nil {
		return out.n, err
	}
	buffered.Write(sum.Sum(nil)) // Flush has the error
	err = buffered.Flush()
	return out.n, err
}

// freeze folds the overlay in and returns the generation, which nobody will
// write to, whatever is added from now on.
func (g *Guard) freeze() (*generation, []string, error) {
	if g == nil {
		return nil, nil, ErrUnbuilt
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.current == nil {
		return nil, nil, ErrUnbuilt
	}
	if g.damaged {
		return nil, nil, ErrDamaged
	}
	if g.current.recent.len() > 0 {
		g.current = g.current.folded()
		g.settleLocked()
	}
	return g.current, g.sample, nil
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
