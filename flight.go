package earlybird

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/earlybird-cache/earlybird/store"
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

	mu       sync.Mutex
	table    map[flightID]*flight[V]
	timeouts timeouts[V]
}

// flightID names a flight: its key, and the fence as its first reader found
// it. Whoever comes after a change finds the fence raised, and none of the
// flights from before.
type flightID struct {
	key           string
	epoch, height uint32

	// apart is set for a refresh where there is a shared tier: whose copy near must
	// not be served any longer need not wait for it, for the tier has the value.
	apart bool
}

// flight is one key's part of a load, and what its readers wait for.
type flight[V any] struct {
	key    string
	pass   pass
	held   *entry[V] // what it refreshes, if somebody still has that to serve
	load   *load[V]
	landed chan struct{}

	// What the loader brought, for the load's run alone.
	brought   outcome[V]
	unchanged bool // Revalidate said so

	// What the shared tier has said.
	apart  bool             // see flightID
	have   store.Generation // of what is known to be out of date; for the load's goroutine alone
	lease  *store.Lease     // its leave to load, until it is used up or given back
	sight  sight
	isDown bool // nothing: it can not be asked

	// Once landed is closed:
	value  V
	err    error
	found  bool  // in memory, when it looked again
	shared bool  // in the shared tier
	again  bool  // nothing has come of it: ask once more
	stale  bool  // the load failed, and this is what there was before
	behind bool  // a change may have come since the load began, and nobody would know
	cause  error // why it failed, if stale
	age    time.Duration
}

// seat is a reader's place on a flight.
type seat[V any] struct {
	*flight[V]
	led   bool    // the reader leads it: its load is yet to be launched
	taken int64   // when, if there is a shared tier
	asker *errand // the load whose loader reads; nil for anyone else
}

// isTooOld reports whether what the flight has brought may be older than NearTTL
// allows the reader: he came long after its load had begun, and others have changed
// the key since, or may have.
func (s seat[V]) isTooOld() bool {
	c := s.load.cache
	return s.behind && (s.err == nil || absent(s.err)) && s.taken > satAdd(s.load.since, max(0, int64(c.opts.NearTTL)))
}

func newFlights[V any]() *flights[V] {
	return &flights[V]{table: make(map[flightID]*flight[V])}
}

// join seats a reader on f, or on the flight that is under way in f's place.
// Who leads must launch f's load, and everybody must leave. A loader is refused
// if the flight waits for it, or is for its own key.
func (fs *flights[V]) join(f *flight[V]) (seat[V], error) {
	l := f.load
	if l.parent.isFor(l.errand.cache, f.key) {
		return seat[V]{}, ErrRecursiveLoad
	}
	by, now := l.parent.within(l.errand.cache), l.cache.tierTime()
	fs.mu.Lock()
	defer fs.mu.Unlock()
	s := seat[V]{flight: fs.table[f.id()], taken: now}
	if s.flight == nil {
		s.flight, s.led = f, true
	}
	if by != nil && !by.over.Load() {
		if s.load.awaits(by) {
			return seat[V]{}, ErrRecursiveLoad
		}
		s.asker = by
	}
	if s.led && !fs.addLocked(f) {
		return seat[V]{}, ErrClosed
	}
	if s.asker != nil {
		s.asker.want(&s.load.errand, +1)
	}
	fs.readers.Add(1)
	return s, nil
}

// tierTime is the time, which nobody asks for without a shared tier.
func (c *Cache[V]) tierTime() int64 {
	if c.tier == nil {
		return 0
	}
	return c.clock.now()
}

// addLocked puts f in the table and gives it to its load, unless Close has
// ended that.
func (fs *flights[V]) addLocked(f *flight[V]) bool {
	l := f.load
	if l.over.Load() {
		return false
	}
	fs.table[f.id()] = f
	l.flights = append(l.flights, f)
	l.keys = append(l.keys, f.key)
	return true
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

// part lands those of l's flights that lands says, and reports whether none is
// left to load for.
func (fs *flights[V]) part(l *load[V], lands func(*flight[V]) bool) bool {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if l.over.Load() {
		return true
	}
	flights := l.flights
	l.flights, l.keys = l.flights[:0], l.keys[:0]
	for _, f := range flights {
		if lands(f) {
			fs.landLocked(f)
			continue
		}
		l.flights, l.keys = append(l.flights, f), append(l.keys, f.key)
	}
	l.over.Store(len(l.flights) == 0)
	return len(l.flights) == 0
}

// start lets l begin its call, at most LoadTimeout long, unless it has ended.
func (fs *flights[V]) start(l *load[V]) bool {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if l.over.Load() {
		return false
	}
	if l.timer != nil {
		l.timer.Stop()
	}
	l.started = true
	l.ctx.Context, l.ctx.errand = context.WithoutCancel(l.asked), &l.errand
	at := time.Now().Add(l.cache.opts.LoadTimeout)
	l.ctx.deadline = at
	fs.timeouts.add(l, at, fs.expire)
	return true
}

// arm has f called after d, unless l has started or ended by now.
func (fs *flights[V]) arm(l *load[V], d time.Duration, f func()) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if !l.started && !l.over.Load() {
		l.timer = time.AfterFunc(d, f)
	}
}

// claim makes the caller the one who ends l. He must land its flights.
func (fs *flights[V]) claim(l *load[V]) bool {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	return l.over.CompareAndSwap(false, true)
}

// expire ends the loads whose time is up.
func (fs *flights[V]) expire() {
	fs.mu.Lock()
	late := fs.timeouts.take(fs.expire)
	fs.mu.Unlock()
	for _, l := range late {
		go l.expire() // it may have to wait for the shared tier
	}
}

// land ends l's flights: their readers have their answer, their keys are free.
func (fs *flights[V]) land(l *load[V]) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.timeouts.remove(l)
	for _, f := range l.flights {
		fs.landLocked(f)
	}
}

func (fs *flights[V]) landLocked(f *flight[V]) {
	delete(fs.table, f.id())
	close(f.landed)
}

// all returns the loads under way; one of several keys comes several times.
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
	return flightID{key: f.key, epoch: f.pass.epoch, height: f.pass.height, apart: f.apart}
}
