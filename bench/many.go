package main

import (
	"strings"
	"sync"
	"sync/atomic"
)

// batchLen is how many keys are asked for at once.
const batchLen = 100

// batch is the keys of one call.
type batch [batchLen]string

var batches = sync.Pool{New: func() any { return new(batch) }}

// manyHits opens a trial of calls for keys that are all in the cache.
func manyHits(make kind) opener {
	return func(w *workload) (*trial, error) {
		t, c, err := hitsInBatches(make, w)
		if err != nil {
			return nil, err
		}
		t.per = batchLen
		t.keys = newStream(w.batches(), batchLen*keyLen, batchLen*keyLen)
		t.do = func(keys string) (string, bool) {
			b := batches.Get().(*batch)
			defer batches.Put(b)
			cut(b[:], keys, keyLen)
			return "", c.finds(b)
		}
		return t, nil
	}
}

// oneHit opens a trial of the same reads, one by one.
func oneHit(make kind) opener {
	return func(w *workload) (*trial, error) {
		t, _, err := hitsInBatches(make, w)
		if err != nil {
			return nil, err
		}
		t.keys = newStream(w.batches(), keyLen, keyLen)
		return t, nil
	}
}

func hitsInBatches(make kind, w *workload) (*trial, *cache, error) {
	o := w.origin()
	c, err := make(setup{room: w.products, origin: o})
	if err != nil {
		return nil, nil, err
	}
	t := &trial{do: c.get, count: o.keys.Load, counts: originCalls(o), close: c.close}
	return t, c, t.ready(w, c)
}

// manyMisses opens a trial of calls of which the given number of keys were never
// seen before. The rest goes round a hundredth of the products: few enough to
// stay although everything else passes through.
func manyMisses(make kind, fresh int) opener {
	return func(w *workload) (*trial, error) {
		o := w.origin()
		c, err := make(setup{room: w.products, origin: o})
		if err != nil {
			return nil, err
		}
		known, turn := acquaintances(max(w.products/100, batchLen)), new(atomic.Int64)
		t := &trial{
			per: batchLen, count: o.keys.Load, each: fresh, counts: originCalls(o), close: c.close,
			keys: newStream(w.random, fresh-1+keyLen, fresh),
			do: func(unknown string) (string, bool) {
				b := batches.Get().(*batch)
				defer batches.Put(b)
				cut(b[:fresh], unknown, 1)
				at := int(turn.Add(batchLen)) % (len(known) - batchLen + 1)
				copy(b[fresh:], known[at:])
				return "", c.finds(b)
			},
		}
		t.fill(w.products)
		c.settled()
		return t, nil
	}
}

func originCalls(o *origin) map[string]func() int64 {
	return map[string]func() int64{callsOp: o.calls.Load}
}

// acquaintances returns the keys of the first n products.
func acquaintances(n int) []string {
	keys := make([]string, n)
	for i := range keys {
		keys[i] = keyOf(i)
	}
	return keys
}

// fill asks for more keys than the cache has room for.
func (t *trial) fill(room int) {
	r := t.keys.reader()
	for asked := 0; asked <= room+room/4; asked += t.each {
		t.do(r.next())
	}
}

// finds reports whether the cache has or gets values for all keys of a batch.
func (c *cache) finds(b *batch) bool {
	found, err := c.many(b[:])
	return err == nil && len(found) == batchLen
}

// cut cuts keys out of text, one every step bytes.
func cut(keys []string, text string, step int) {
	for i := range keys {
		keys[i] = text[i*step:][:keyLen]
	}
}

// distinctIn returns the text of n keys chosen by draw, no two of a batch alike.
func distinctIn(n int, draw func() int) string {
	var text strings.Builder
	text.Grow(n * keyLen)
	seen := make(map[int]bool, batchLen)
	for i := range n {
		if i%batchLen == 0 {
			clear(seen)
		}
		product := draw()
		for seen[product] {
			product = draw()
		}
		seen[product] = true
		text.WriteString(keyOf(product))
	}
	return text.String()
}
