package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync/atomic"
)

// A key is "product:" and a number of 16 digits.
const (
	keyLen  = 24
	shape   = "product:{uint}"
	valueAt = len("product:")
	first   = 1_000_000_000_000_000
	gap     = 86_028_157
)

// keyOf returns the key of product i.
func keyOf(i int) string { return numbered(2 * i) }

// strangerOf returns a key that no product has: products have even numbers.
func strangerOf(i int) string { return numbered(2*i + 1) }

func isStranger(key string) bool { return key[len(key)-1]%2 == 1 }

// productOf is the inverse of keyOf.
func productOf(key string) int {
	n, err := strconv.ParseInt(key[valueAt:], 10, 64)
	if err != nil {
		panic("no product has the key " + key)
	}
	return int((n - first) / gap / 2)
}

// numbered spreads its numbers out. It keeps odd odd and even even.
func numbered(n int) string {
	return fmt.Sprintf("product:%016d", first+gap*int64(n))
}

// stream is the keys of a trial: width bytes of text at every step bytes, so
// that reading one costs next to nothing and no memory far away.
type stream struct {
	text        string
	width, step int
	readers     *atomic.Int64
}

func newStream(text string, width, step int) stream {
	return stream{text: text, width: width, step: step, readers: new(atomic.Int64)}
}

// sequence returns the stream of the given keys, all as long as the first.
func sequence(keys []string) stream {
	return newStream(strings.Join(keys, ""), len(keys[0]), len(keys[0]))
}

// reader returns a reader of its own for a goroutine. Each begins elsewhere,
// far from the others, with those of earlier runs among them.
func (s stream) reader() *reader {
	const golden = 0.6180339887498949
	n := (len(s.text) - s.width) / s.step
	_, turns := math.Modf(golden * float64(s.readers.Add(1)-1))
	return &reader{stream: s, at: int(turns*float64(n)) * s.step}
}

// reader reads a stream round and round. It belongs to one goroutine.
type reader struct {
	stream
	at int
}

func (r *reader) next() string {
	if r.at+r.width > len(r.text) {
		r.at = 0
	}
	key := r.text[r.at : r.at+r.width]
	r.at += r.step
	return key
}
