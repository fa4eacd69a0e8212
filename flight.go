package earlybird

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// flights is the table of loads under way, through which concurrent reads of
// one key share one. A flight belongs to none of its readers: each leaves on
// its own context, and the flight goes on.
//
// It does what x/sync/singleflight does. That one keeps its table to itself,
// and so cannot tell who waits for whom, take a load to several keys, or end
// one that is stuck; and a load that has to look after its timeout from outside
// the loader's goroutine needs one goroutine more.
type flights[V any] struct {
	readers atomic.Int64 // in all flights

	mu    sync.Mutex
	table map[flightID]*flight[V]
}

// flightID names a flight: its key, and the fence as its first reader found
// it. Whoever comes after a change finds the fence raised, and none of the
// flights from before.
type flightID struct {
	key           string
	epoch, height uint32
}

// flight is one key's part of a load, and what its readers wait for.
type flight[V any] struct {
	key    string
	pass   pass
	held   *entry[V] // what it refreshes, if somebody still has that to serve
	load   *load[V]
	landed chan struct{}

	// Once landed is closed:
	value V
	err   error
	found bool // in memory, when it looked again
}

// seat is a reader's place on a flight.
type seat[V any] struct {
	*flight[V]
	led   bool    // the reader leads it: its load is yet to be launched
	asker *errand // the load whose loader reads; nil for anyone else
}

func newFlights[V any]() *flights[V] {
	return &flights[V]{table: make(map[flightID]*flight[V])}
}

// join seats a reader on f, or on the flight that is under way in f's place.
// Who leads must launch the load, and everybody must leave. by is the load whose
// loader reads, or nil; it is refused if the flight waits for it.
func (fs *flights[V]) join(f *flight[V], by *errand) (seat[V], error) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	s := seat[V]{flight: fs.table[f.id()]}
	if s.flight == nil {
		s.flight, s.led = f, true
	}
	if by != nil && !by.over {
		if s.load.awaits(by) {
			return seat[V]{}, ErrRecursiveLoad
		}
		s.asker = by
		by.want(&s.load.errand, +1)
	}
	if s.led {
		fs.table[f.id()] = f
	}
	fs.readers.Add(1)
	return s, nil
}

// leave gives up a seat.
func (fs *flights[V]) leave(s seat[V]) {
	fs.readers.Add(-1)
	if s.asker == nil {
		return
	}
	fs.mu.Lock()
	defer fs.mu.Unlock()
	s.asker.want(&s.load.errand, -1)
}

// claim makes the caller the one who ends l: the loader that returned, the
// timeout, or Close. Who claims it must land its flights.
func (fs *flights[V]) claim(l *load[V]) bool {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if l.over {
		return false
	}
	l.over = true
	return true
}

// start lets l begin its call, at most LoadTimeout long, unless it has ended.
func (fs *flights[V]) start(l *load[V]) bool {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if l.over {
		return false
	}
	if l.timer != nil {
		l.timer.Stop()
	}
	patience := l.cache.opts.LoadTimeout
	l.started = true
	l.ctx, l.cancel = context.WithTimeout(errandContext{context.WithoutCancel(l.asked), &l.errand}, patience)
	l.timer = time.AfterFunc(patience, l.expire)
	return true
}

// arm has f called after d, unless l has started or ended by now.
func (fs *flights[V]) arm(l *load[V], d time.Duration, f func()) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if !l.started && !l.over {
		l.timer = time.AfterFunc(d, f)
	}
}

// land ends f: its readers have their answer, and its key is free.
func (fs *flights[V]) land(f *flight[V]) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	delete(fs.table, f.id())
	close(f.landed)
}

// all returns the loads under way.
func (fs *flights[V]) all() []*load[V] {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	loads := make([]*load[V], 0, len(fs.table))
	for _, f := range fs.table {
		loads = append(loads, f.load)
	}
	return loads
}

func (f *flight[V]) id() flightID {
	return flightID{key: f.key, epoch: f.pass.epoch, height: f.pass.height}
}
