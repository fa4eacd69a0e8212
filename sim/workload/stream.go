package workload

import (
	"iter"
	"math/rand/v2"
	"time"

	"github.com/earlybird-cache/earlybird/sim/trace"
)

// A Request is one client's wish for one key.
type Request struct {
	At    time.Duration // since the start of the stream
	Key   string
	Flush bool // the operator flushes the cache just before this request
}

// A Stream is a sequence of requests: customers' for keys that exist, in an order
// that is the stream's, and strangers' in between. Together they arrive at random,
// as a Poisson process. A Stream is made by Zipf, Crowd or Replay. It holds no
// position: any number of goroutines may play it.
type Stream struct {
	Population *Population

	mix       Mix
	customers int                                // their requests, in all
	pick      func(rng *rand.Rand, i int) string // the key of customers' request i
}

// Mix says how requests arrive and how many of them are strangers'.
type Mix struct {
	Seed    uint64
	Rate    float64 // requests a second; positive
	Hostile float64 // strangers' share of all requests, from 0 to below 1
}

// Zipf returns the stream of n customers' requests in which the product of rank i,
// from 1, is asked for with probability proportional to i^-exponent.
func Zipf(p *Population, exponent float64, n int, mix Mix) *Stream {
	z := newZipf(len(p.keys), exponent)
	return &Stream{
		Population: p,
		mix:        mix,
		customers:  n,
		pick:       func(rng *rand.Rand, _ int) string { return p.keys[z.draw(rng)] },
	}
}

// Crowd returns the stream of n customers' requests of which a share is for the first
// product, and the rest for the others alike.
func Crowd(p *Population, share float64, n int, mix Mix) *Stream {
	return &Stream{
		Population: p,
		mix:        mix,
		customers:  n,
		pick: func(rng *rand.Rand, _ int) string {
			if len(p.keys) == 1 || rng.Float64() < share {
				return p.keys[0]
			}
			return p.keys[1+rng.IntN(len(p.keys)-1)]
		},
	}
}

// Replay returns the stream of the trace's requests in their order. Every key in the
// trace exists.
func Replay(t *trace.Trace, mix Mix) *Stream {
	keys := t.Keys()
	return &Stream{
		Population: FromKeys(keys),
		mix:        mix,
		customers:  t.Len(),
		pick:       func(_ *rand.Rand, i int) string { return keys[t.At(i)] },
	}
}

// Requests plays the stream from its start. The flush comes half-way through the
// customers' requests.
func (s *Stream) Requests() iter.Seq[Request] {
	return func(yield func(Request) bool) {
		rng := rand.New(rand.NewPCG(s.mix.Seed, 0x57e4))
		strangers := newStrangers(s.Population, rng)
		at := time.Duration(0)
		for i := 0; i < s.customers; {
			at += time.Duration(rng.ExpFloat64() / s.mix.Rate * float64(time.Second))
			r := Request{At: at}
			if rng.Float64() < s.mix.Hostile {
				r.Key = strangers.key(rng)
			} else {
				r.Key = s.pick(rng, i)
				r.Flush = i == s.customers/2
				i++
			}
			if !yield(r) {
				return
			}
		}
	}
}

// A Census counts a stream.
type Census struct {
	Requests  int
	Customers int           // requests for keys that exist
	Malformed int           // strangers' requests that the population's shape tells apart
	Absent    int           // strangers' requests that it does not
	AbsentIDs int           // distinct keys among Absent
	Duration  time.Duration // from the start to the last request
}

// Census plays the stream once and counts it.
func (s *Stream) Census() Census {
	var c Census
	absent := make(map[string]struct{})
	shapes := s.Population.Shapes()
	for r := range s.Requests() {
		c.Requests++
		c.Duration = r.At
		switch {
		case s.Population.Exists(r.Key):
			c.Customers++
		case !shapes.Match(r.Key):
			c.Malformed++
		default:
			c.Absent++
			absent[r.Key] = struct{}{}
		}
	}
	c.AbsentIDs = len(absent)
	return c
}
