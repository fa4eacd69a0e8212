package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"time"
)

// workload is what all subjects are asked for.
type workload struct {
	products   int // keyOf(0) and on
	popularity popularity
	valueLen   int
	read       string // keys of products, one after another
	random     string
	batches    func() string // like read, but the keys of each batch differ

	entries   int // of memory and gc
	benchtime time.Duration
	requests  requests // of ratio
	rooms     []room
}

const windows = 1 << 22

func newWorkload(products int, p popularity, valueLen int) *workload {
	w := &workload{products: products, popularity: p, valueLen: valueLen, random: randomText()}
	var text strings.Builder
	draw := w.draws()
	for range w.reads() {
		text.WriteString(keyOf(draw()))
	}
	w.read = text.String()
	w.batches = sync.OnceValue(func() string {
		return distinctIn(w.reads()/batchLen*batchLen, w.draws())
	})
	return w
}

func (w *workload) String() string {
	return fmt.Sprintf("%d keys, %v, values of %d bytes", w.products, w.popularity, w.valueLen)
}

func (w *workload) draws() func() int {
	return w.popularity.draws(w.products, rand.New(rand.NewPCG(1, 2)))
}

// reads is how many reads popular goes round: twice as many as there are
// products at least.
func (w *workload) reads() int { return max(1<<18, 2*w.products) }

// popular returns a stream of reads of products, the same for everyone, some
// far more popular than others.
func (w *workload) popular() stream { return newStream(w.read, keyLen, keyLen) }

// distinct returns a stream of keys that hardly ever meet again: all windows of
// a random text.
func (w *workload) distinct() stream { return newStream(w.random, keyLen, 1) }

func (w *workload) origin() *origin { return &origin{value: digitsOf(w.valueLen)} }

// randomText is the same text every time.
var randomText = sync.OnceValue(func() string {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	r := rand.New(rand.NewPCG(3, 4))
	text := make([]byte, windows)
	for i := range text {
		text[i] = letters[r.IntN(len(letters))]
	}
	return string(text)
})
