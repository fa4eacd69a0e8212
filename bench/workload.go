package main

import (
	"math/rand/v2"
	"strings"
)

// workload is what all subjects are asked for.
type workload struct {
	products int    // keyOf(0) and on
	read     string // keys of products, one after another
	random   string
}

const reads, windows = 1 << 18, 1 << 22

func newWorkload(products int) *workload {
	return &workload{products: products, read: zipf(products), random: randomText()}
}

// popular returns a stream of reads of products, the same for everyone, some
// far more popular than others.
func (w *workload) popular() stream { return newStream(w.read, keyLen, keyLen) }

// distinct returns a stream of keys that hardly ever meet again: all windows of
// a random text.
func (w *workload) distinct() stream { return newStream(w.random, keyLen, 1) }

func zipf(products int) string {
	r := rand.New(rand.NewPCG(1, 2))
	z := rand.NewZipf(r, 1.01, 1, uint64(products-1))
	rank := r.Perm(products) // popularity has nothing to do with the order of arrival
	var text strings.Builder
	text.Grow(reads * keyLen)
	for range reads {
		text.WriteString(keyOf(rank[z.Uint64()]))
	}
	return text.String()
}

func randomText() string {
	const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	r := rand.New(rand.NewPCG(3, 4))
	text := make([]byte, windows)
	for i := range text {
		text[i] = letters[r.IntN(len(letters))]
	}
	return string(text)
}
