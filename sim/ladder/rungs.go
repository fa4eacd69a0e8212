package ladder

import (
	"context"
	"math"
	"time"

	"github.com/earlybird-cache/earlybird"
	"github.com/earlybird-cache/earlybird/bloom"
	"github.com/earlybird-cache/earlybird/sim/origin"
	"github.com/earlybird-cache/earlybird/sim/workload"
)

type (
	product = origin.Product
	options = earlybird.Options[product]
	cache   = earlybird.Cache[product]
	loader  = earlybird.Loader[product]
)

// A rung is a way of reading, and what its cache has that the rung below lacks.
type rung struct {
	name  string
	about string
	read  func(c *cache, load loader) reader
	add   func(o *options, s Setup)
}

// 0 is an option's default: adding a thing is no longer switching it off.
var rungs = []rung{
	{"no cache", "every read asks the origin", direct, nothing},
	{"TTL only", "look into the cache, else ask the origin and put the answer there", aside, nothing},
	{"+ jitter", "each life is shortened at random by up to 10 %", aside,
		func(o *options, _ Setup) { o.Jitter = 0 }},
	{"+ singleflight", "reads of a key share one load, which goes on when they give up", through, nothing},
	{"+ negatives", "absences are remembered", through,
		func(o *options, _ Setup) { o.NegativeTTL = 0 }},
	{"+ shape and guard", "malformed keys and ids that do not exist are refused unasked", through,
		func(o *options, s Setup) {
			o.Shapes = s.Stream.Population.Shapes()
			o.Guard = guardOf(s.Stream.Population)
		}},
	{"+ XFetch", "what is read often is loaded anew before it expires", through,
		func(o *options, _ Setup) { o.Beta = 0 }},
	{"earlybird", "all that, and no more loads at once than the origin has servers", through,
		func(o *options, s Setup) { o.MaxLoads = s.Origin.Servers }},
}

func nothing(*options, Setup) {}

// optionsOf returns the options of rung i's cache.
func (s Setup) optionsOf(i int) options {
	o := options{
		TTL:         s.TTL,
		MaxEntries:  s.MaxEntries,
		Now:         time.Now, // the bubble's clock; and so the cache starts no ticker
		Jitter:      earlybird.Off,
		NegativeTTL: earlybird.Off,
		Beta:        earlybird.Off,
		MaxLoads:    earlybird.Off,
		Ramp:        earlybird.Off, // the gate is as wide as the origin, which bears that at any time
	}
	for _, rung := range rungs[:i+1] {
		rung.add(&o, s)
	}
	if s.KeepNone {
		o.TTLFor = func(string, product) time.Duration { return earlybird.Off }
		o.NegativeTTL = earlybird.Off
	}
	return o
}

// falsePositiveRate is that of the guard.
const falsePositiveRate = 1e-3

// leakBound returns the number of absent ids that the guard may let pass: more is
// not bad luck (four standard deviations of it) but a fault.
func leakBound(c workload.Census) int {
	mean := float64(c.AbsentIDs) * falsePositiveRate
	return int(math.Ceil(mean + 4*math.Sqrt(mean)))
}

// guardOf returns a guard that knows all keys of p.
func guardOf(p *workload.Population) *bloom.Guard {
	guard, err := bloom.New(bloom.Options{FalsePositiveRate: falsePositiveRate})
	if err != nil {
		panic(err) // the defaults are good options
	}
	err = guard.Build(context.Background(), func(yield func(string, error) bool) {
		for _, key := range p.Keys() {
			if !yield(key, nil) {
				return
			}
		}
	})
	if err != nil {
		panic(err) // the source does not fail and is not empty
	}
	return guard
}
