// Package ladder keeps what must be done although it failed, and does it again
// at growing intervals until it succeeds: the invalidations of a store that is
// down. A key that fails climbs a rung; it is tried again after that rung's
// delay.
package ladder

import (
	"container/heap"
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"
)

// Options are what a Ladder is made of.
type Options struct {
	// Try does it for keys and returns those for which it failed.
	Try func(ctx context.Context, keys []string) (failed []string)

	// Rungs are the delays before each try; the last one is repeated. Each is
	// shortened at random by up to a quarter, so that a fleet does not try in
	// step.
	Rungs []time.Duration

	// Bound is the number of keys that are kept, Batch that of a Try.
	Bound, Batch int
}

// Ladder is a set of keys to be tried again. It is safe for concurrent use. A
// goroutine runs while there are any, and ends with Close.
type Ladder struct {
	opts    Options
	ctx     context.Context
	stop    context.CancelFunc
	waiting atomic.Int64 // len(items)
	seq     atomic.Uint64
	kick    chan struct{}
	done    sync.WaitGroup

	mu      sync.Mutex
	items   map[string]*item
	queue   dueOrder
	running bool
	hopes   uint64 // Kicks so far
	retried uint64
	givenUp uint64
}

type item struct {
	key   string
	seq   uint64 // of the latest Add
	rung  int
	due   time.Time
	index int // in the queue; -1 while it is being tried
}

// New returns an empty ladder.
func New(opts Options) *Ladder {
	l := &Ladder{opts: opts, kick: make(chan struct{}, 1), items: make(map[string]*item)}
	l.ctx, l.stop = context.WithCancel(context.Background())
	return l
}

// Mark returns the present, for Confirm.
func (l *Ladder) Mark() uint64 { return l.seq.Load() }

// Add puts keys on the first rung, whatever rung they are on. It returns those
// there is no room for.
func (l *Ladder) Add(keys []string) (lost []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, key := range keys {
		if !l.addLocked(key) {
			lost = append(lost, key)
			l.givenUp++
		}
	}
	l.waiting.Store(int64(len(l.items)))
	if len(l.items) > 0 && !l.running {
		l.running = true
		l.done.Go(l.run)
	}
	l.wake()
	return lost
}

func (l *Ladder) addLocked(key string) bool {
	it := l.items[key]
	switch {
	case l.ctx.Err() != nil:
		return false
	case it != nil:
		it.seq, it.rung = l.seq.Add(1), 0
		return true
	case len(l.items) >= l.opts.Bound:
		return false
	}
	it = &item{key: key, seq: l.seq.Add(1), due: l.after(0)}
	l.items[key] = it
	heap.Push(&l.queue, it)
	return true
}

// Has reports whether key is waiting to be tried. It takes no lock while none
// is.
func (l *Ladder) Has(key string) bool {
	if l.waiting.Load() == 0 {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.items[key] != nil
}

// Confirm takes away those of keys that were added before mark, because it has
// been done by another way begun at mark.
func (l *Ladder) Confirm(keys []string, mark uint64) {
	if l.waiting.Load() == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, key := range keys {
		if it := l.items[key]; it != nil && it.seq <= mark {
			l.removeLocked(it)
		}
	}
}

// ConfirmAll is Confirm of all keys.
func (l *Ladder) ConfirmAll(mark uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, it := range l.items {
		if it.seq <= mark {
			l.removeLocked(it)
		}
	}
}

// Kick makes every key due now, and begin anew if that fails: there is reason to
// hope. Those that are being tried may fail yet for the reason there was before.
func (l *Ladder) Kick() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.hopes++
	now := time.Now()
	for _, it := range l.items {
		it.due, it.rung = now, -1
	}
	l.wake()
}

// Counts returns how many keys wait, were done in the end, and were given up.
func (l *Ladder) Counts() (waiting int, retried, givenUp uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.items), l.retried, l.givenUp
}

// Close gives up what waits, and waits for a Try that runs.
func (l *Ladder) Close() {
	l.mu.Lock()
	l.stop()
	l.mu.Unlock()
	l.done.Wait()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.givenUp += uint64(len(l.items))
	clear(l.items)
	l.queue = nil
	l.waiting.Store(0)
}

// wake makes the goroutine look again.
func (l *Ladder) wake() {
	select {
	case l.kick <- struct{}{}:
	default:
	}
}

// run tries keys as they become due, until none is left.
func (l *Ladder) run() {
	for {
		batch, hopes, next := l.take()
		if len(batch) > 0 {
			l.settle(batch, hopes, l.opts.Try(l.ctx, keysOf(batch)))
			continue
		}
		if next <= 0 {
			return
		}
		timer := time.NewTimer(next)
		select {
		case <-timer.C:
		case <-l.kick:
		case <-l.ctx.Done():
		}
		timer.Stop()
	}
}

// take returns the keys that are due, and the Kicks before; if none is, how long
// until one will be, or 0 if there is nothing left to run for.
func (l *Ladder) take() (batch []item, hopes uint64, next time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ctx.Err() != nil || len(l.items) == 0 {
		l.running = false
		return nil, 0, 0
	}
	now := time.Now()
	for len(l.queue) > 0 && len(batch) < l.opts.Batch && !l.queue[0].due.After(now) {
		it := heap.Pop(&l.queue).(*item)
		batch = append(batch, *it)
	}
	if len(batch) == 0 {
		next = max(l.queue[0].due.Sub(now), time.Microsecond)
	}
	return batch, l.hopes, next
}

// settle takes away what was done, and lets what failed climb. A key that was
// added once more while it was being tried stays: the try may have come before
// what it is about. What failed while there was a Kick is due at once.
func (l *Ladder) settle(batch []item, hopes uint64, failed []string) {
	still := make(map[string]bool, len(failed))
	for _, key := range failed {
		still[key] = true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, tried := range batch {
		it := l.items[tried.key]
		if it == nil || it.index >= 0 { // confirmed meanwhile, and perhaps added anew
			continue
		}
		switch {
		case still[it.key] && it.seq == tried.seq:
			it.rung++
		case !still[it.key] && it.seq == tried.seq:
			l.retried++
			l.removeLocked(it)
			continue
		}
		it.due = l.after(it.rung)
		if hopes != l.hopes {
			it.due = time.Now()
		}
		heap.Push(&l.queue, it)
	}
}

func (l *Ladder) removeLocked(it *item) {
	if it.index >= 0 {
		heap.Remove(&l.queue, it.index)
	}
	delete(l.items, it.key)
	l.waiting.Store(int64(len(l.items)))
}

// after returns when a key on the rung is due.
func (l *Ladder) after(rung int) time.Time {
	d := l.opts.Rungs[max(0, min(rung, len(l.opts.Rungs)-1))]
	return time.Now().Add(d - time.Duration(rand.Float64()*float64(d)/4))
}

func keysOf(batch []item) []string {
	keys := make([]string, len(batch))
	for i := range batch {
		keys[i] = batch[i].key
	}
	return keys
}

// dueOrder is a heap of items, the one due first on top.
type dueOrder []*item

func (q dueOrder) Len() int           { return len(q) }
func (q dueOrder) Less(i, j int) bool { return q[i].due.Before(q[j].due) }

func (q dueOrder) Swap(i, j int) {
	q[i], q[j] = q[j], q[i]
	q[i].index, q[j].index = i, j
}

func (q *dueOrder) Push(x any) {
	it := x.(*item)
	it.index = len(*q)
	*q = append(*q, it)
}

func (q *dueOrder) Pop() any {
	old := *q
	it := old[len(old)-1]
	it.index = -1
	*q = old[:len(old)-1]
	return it
}
