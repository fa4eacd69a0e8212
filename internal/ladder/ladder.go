// Package ladder keeps what must be done although it failed, and does it again
// at growing intervals until it succeeds: the invalidations of a store that is
// down. A key that fails climbs a rung; it is tried again after that rung's
// delay. Meanwhile one key at a time is tried more often, and when one succeeds
// all are tried at once.
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

	// Pulse is how often one of the keys, any, is tried before it is due. 0 is
	// never.
	Pulse time.Duration

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
	tried   time.Time // when the latest try began
	hopes   uint64    // Kicks so far
	retried uint64
	givenUp uint64
}

type item struct {
	key   string
	seq   uint64 // of the latest Add
	rung  int
	due   time.Time
	index int  // in the queue; -1 while it is being tried
	early bool // of what is being tried: it is not due
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
	l.kickLocked()
	l.wake()
}

func (l *Ladder) kickLocked() {
	l.hopes++
	now := time.Now()
	for _, it := range l.items {
		it.due, it.rung = now, -1
	}
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

// take returns the keys that are due, and the Kicks before; if none is, one of those
// that are not, if it is time for that; if it is not, how long until something is to
// be tried, or 0 if there is nothing left to run for.
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
		next = l.queue[0].due.Sub(now)
		if early := l.tried.Add(l.opts.Pulse).Sub(now); l.opts.Pulse > 0 && early < next {
			if next = early; early <= 0 {
				batch = []item{l.anyLocked()}
			}
		}
	}
	if len(batch) > 0 {
		l.tried = now
	}
	return batch, l.hopes, max(next, time.Microsecond)
}

// anyLocked takes any of the keys: while some can be done again and others not, it
// is one of the former before long.
func (l *Ladder) anyLocked() item {
	it := *l.queue[rand.IntN(len(l.queue))]
	heap.Remove(&l.queue, it.index)
	it.early = true
	return it
}

// settle takes away what was done, and lets what failed climb. A key that was
// added once more while it was being tried stays: the try may have come before
// what it is about. What failed while there was a Kick is due at once. One that was
// tried early stays where it is; if it was done, there is reason to hope.
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
		switch isDone := !still[it.key]; {
		case isDone && it.seq == tried.seq:
			l.retried++
			l.removeLocked(it)
			if tried.early {
				l.kickLocked()
			}
			continue
		case hopes != l.hopes:
			it.due = time.Now()
		case !tried.early:
			if it.seq == tried.seq {
				it.rung++
			}
			it.due = l.after(it.rung)
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
