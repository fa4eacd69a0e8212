package trace

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
)

// Open reads the trace in the file at path, or from stdin if path is "-", under
// DefaultLimits. Its error names the file and, where there is one, the line.
func Open(path string, stdin io.Reader) (*Trace, error) {
	if path == "-" {
		return named("standard input", stdin)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("trace %q: %w", path, cause(err))
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil, fmt.Errorf("trace %q: is a directory", path)
	}
	return named(fmt.Sprintf("%q", path), f)
}

func named(name string, r io.Reader) (*Trace, error) {
	t, err := Read(r, DefaultLimits)
	if err != nil {
		return nil, fmt.Errorf("trace %s: %w", name, cause(err))
	}
	return t, nil
}

// cause drops what an *os.PathError says about the path, which Open says already.
func cause(err error) error {
	if path, ok := errors.AsType[*os.PathError](err); ok {
		return path.Err
	}
	return err
}

// Read reads a trace from r to its end. Whether r is gzip'd is told from its first
// bytes. Lines end in LF or CRLF; the last needs no end. An empty line, a control
// character in a key, a key or trace beyond its limit, a trace without requests and
// damaged gzip data are errors, and then no part of the trace is returned.
func Read(r io.Reader, limits Limits) (*Trace, error) {
	// The buffer holds the longest line, its end, and one byte to see that a line
	// is too long.
	text := bufio.NewReaderSize(r, max(limits.KeyLen+3, 1<<16))
	if magic, _ := text.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(text)
		if err != nil {
			return nil, damaged(err)
		}
		text = bufio.NewReaderSize(z, text.Size())
	}
	b := builder{limits: limits, numbers: make(map[string]uint32)}
	if err := b.readLines(text); err != nil {
		return nil, err
	}
	if b.Len() == 0 {
		return nil, errors.New("holds no request")
	}
	return &b.Trace, nil
}

// damaged puts the errors of package gzip, which say little to a person, in words.
func damaged(err error) error {
	_, corrupt := errors.AsType[flate.CorruptInputError](err)
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return errors.New("gzip data end too early: is the file cut short?")
	case corrupt, errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum):
		return fmt.Errorf("gzip data are damaged (%w)", err)
	}
	return err
}

// A builder is a Trace that grows.
type builder struct {
	Trace
	limits   Limits
	numbers  map[string]uint32 // of each key in keys
	keyBytes int
}

func (b *builder) readLines(text *bufio.Reader) error {
	for {
		line, err := text.ReadSlice('\n')
		switch {
		case err == io.EOF && len(line) == 0:
			return nil
		case err == bufio.ErrBufferFull:
			return b.tooLong()
		case err != nil && err != io.EOF:
			return damaged(err)
		}
		if err := b.add(key(line)); err != nil {
			return err
		}
	}
}

// key is line without its end.
func key(line []byte) []byte {
	line = bytes.TrimSuffix(line, []byte{'\n'})
	return bytes.TrimSuffix(line, []byte{'\r'})
}

// add appends one request.
func (b *builder) add(key []byte) error {
	if len(b.order) == b.limits.Requests {
		return fmt.Errorf("more than %d requests", b.limits.Requests)
	}
	n, known := b.numbers[string(key)]
	if !known {
		if err := b.check(key); err != nil {
			return err
		}
		n = b.intern(string(key))
	}
	b.order = append(b.order, n)
	return nil
}

// check judges a key that has not been seen before; an equal one needs no second
// look.
func (b *builder) check(key []byte) error {
	if len(key) == 0 {
		return fmt.Errorf("line %d is empty", b.line())
	}
	if len(key) > b.limits.KeyLen {
		return b.tooLong()
	}
	if i := bytes.IndexFunc(key, isControl); i >= 0 {
		return fmt.Errorf("line %d: control character %#02x: a key is plain text", b.line(), key[i])
	}
	if b.keyBytes+len(key) > b.limits.KeyBytes {
		return fmt.Errorf("more than %d bytes of distinct keys", b.limits.KeyBytes)
	}
	return nil
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f }

func (b *builder) tooLong() error {
	return fmt.Errorf("line %d is longer than %d bytes", b.line(), b.limits.KeyLen)
}

// line is the number, from 1, of the line being read.
func (b *builder) line() int { return len(b.order) + 1 }

func (b *builder) intern(key string) uint32 {
	n := uint32(len(b.keys))
	b.keys = append(b.keys, key)
	b.numbers[key] = n
	b.keyBytes += len(key)
	return n
}
