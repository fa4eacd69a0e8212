// Package origin simulates what a cache protects: a service with a finite number of
// servers, a queue before them, and work that slows down when the queue is long.
//
// It behaves as databases do under a crowd. A call whose caller leaves while it
// queues is dropped when its turn comes; a call that has begun is carried out,
// whether or not somebody still waits for it, and then its work is wasted. The more
// calls wait, the longer every call takes, so an origin that is pushed over its
// capacity loses capacity.
package origin

import (
	"context"
	"hash/maphash"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/earlybird-cache/earlybird"
)

// A Product is what the origin holds under a key.
type Product struct {
	Key string // the key itself: enough for a reader to see that it got the right one
}

// Params describe an origin. There are no defaults: every field must be set.
type Params struct {
	Servers  int           // calls served at the same time; positive
	Service  time.Duration // mean time of serving one call when nobody waits; positive
	Stages   int           // a call's time is the sum of so many exponential ones; 0 makes all alike
	Crowd    int           // so many calls waiting slow it down as far as it goes; positive
	Slowdown float64       // how many times longer a call takes then; at least 1
}

// Capacity is the number of calls a second that the origin can serve when few wait.
func (p Params) Capacity() float64 { return float64(p.Servers) / p.Service.Seconds() }

// An Origin serves calls under its Params. It is made by New and safe for concurrent
// use. It keeps time with package time's clock, so inside a bubble in virtual time.
type Origin struct {
	params Params
	exists func(key string) bool

	mu    sync.Mutex
	rng   *rand.Rand
	busy  int     // servers at work
	queue []*call // waiting for a server, first come first served
	tally Tally
	seed  maphash.Seed
	alien map[uint64]struct{} // hashes of the absent ids asked for
}

// A Tally counts what an Origin was asked to do.
type Tally struct {
	Calls         int // calls made, those given up in the queue included
	Dropped       int // calls whose caller left before they began
	Wasted        int // calls whose caller left before they were done
	MaxConcurrent int // most calls waiting or served at one moment
	AbsentIDs     int // distinct keys asked for that do not exist
}

type call struct {
	ctx    context.Context // the caller's: only to see whether it still waits
	served chan struct{}
}

// New returns an idle Origin that holds the keys for which exists reports true.
// Service times are drawn from a source seeded with seed.
func New(params Params, exists func(key string) bool, seed uint64) *Origin {
	return &Origin{
		params: params,
		exists: exists,
		rng:    rand.New(rand.NewPCG(seed, 0x0419)),
		seed:   maphash.MakeSeed(),
		alien:  make(map[uint64]struct{}),
	}
}

// Load asks the origin for key. It returns earlybird.ErrNotFound if there is no such
// key, and ctx.Err() if ctx ends first.
func (o *Origin) Load(ctx context.Context, key string) (Product, error) {
	c := &call{ctx: ctx, served: make(chan struct{})}
	o.accept(c, key)
	select {
	case <-c.served:
	case <-ctx.Done():
		return Product{}, ctx.Err()
	}
	if !o.exists(key) {
		return Product{}, earlybird.ErrNotFound
	}
	return Product{Key: key}, nil
}

// Tally returns the counts so far.
func (o *Origin) Tally() Tally {
	o.mu.Lock()
	defer o.mu.Unlock()
	t := o.tally
	t.AbsentIDs = len(o.alien)
	return t
}

// accept counts the call and starts it or queues it.
func (o *Origin) accept(c *call, key string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.tally.Calls++
	if !o.exists(key) {
		o.alien[maphash.String(o.seed, key)] = struct{}{}
	}
	if o.busy < o.params.Servers {
		o.startLocked(c)
	} else {
		o.queue = append(o.queue, c)
	}
	o.tally.MaxConcurrent = max(o.tally.MaxConcurrent, o.busy+len(o.queue))
}

// startLocked gives c a server. Its end is a timer, not a goroutine, so that a call
// costs nothing while it is served.
func (o *Origin) startLocked(c *call) {
	o.busy++
	time.AfterFunc(o.serviceTimeLocked(), func() { o.finish(c) })
}

// serviceTimeLocked draws an Erlang-distributed time, as queueing theory likes it, and
// stretches it by the length of the queue. (A lognormal one has a tail that outlasts
// any client now and then, on an idle origin: noise in a count of errors.)
func (o *Origin) serviceTimeLocked() time.Duration {
	crowd := min(1, float64(len(o.queue))/float64(o.params.Crowd))
	stretch := 1 + (o.params.Slowdown-1)*crowd
	return time.Duration(float64(o.params.Service) * o.drawLocked() * stretch)
}

// drawLocked draws from the distribution of service times, scaled to mean 1.
func (o *Origin) drawLocked() float64 {
	if o.params.Stages == 0 {
		return 1
	}
	sum := 0.0
	for range o.params.Stages {
		sum += o.rng.ExpFloat64()
	}
	return sum / float64(o.params.Stages)
}

// finish answers c and hands its server to the call that has waited longest.
func (o *Origin) finish(c *call) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if c.ctx.Err() != nil {
		o.tally.Wasted++
	}
	close(c.served)
	o.busy--
	if next := o.nextLocked(); next != nil {
		o.startLocked(next)
	}
}

// nextLocked takes the first call out of the queue whose caller still waits. It
// returns nil if there is none.
func (o *Origin) nextLocked() *call {
	for len(o.queue) > 0 {
		next := o.queue[0]
		o.queue[0] = nil
		o.queue = o.queue[1:]
		if next.ctx.Err() == nil {
			return next
		}
		o.tally.Dropped++
	}
	return nil
}
