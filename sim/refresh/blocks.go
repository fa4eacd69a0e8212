package refresh

import (
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"github.com/earlybird-cache/earlybird/sim/estimate"
)

// An engine plays a key, one expiry after the other.
type engine interface{ next() expiry }

// The random streams of a run, by what they are for: an engine's blocks count up
// from its own.
const (
	streamClocks  = 0
	streamDraws   = 1
	streamThinned = 1 << 32
	streamEvents  = 2 << 32
	streamPilot   = 3 << 32
)

// source is a random stream of its own. PCG's seeds may be neighbours, but are
// spread out all the same: it costs nothing.
func source(seed, stream uint64) *rand.Rand {
	return rand.New(rand.NewPCG(seed, stream*0x9e3779b97f4a7c15))
}

// blocks is how the expiries of a run are cut up: each block is a key of its own
// and a random stream of its own, so that neither the figures nor their errors
// depend on who plays which.
type blocks struct {
	stream   uint64
	expiries int
	size     int // expiries in a block, the last perhaps shorter
	warm     int // expiries before them that are not counted
	make     func(*rand.Rand) engine
}

// maxBlock keeps progress smooth in the longest runs.
const maxBlock = 1 << 15

// cut cuts expiries into at least the number of blocks, if there are as many.
func cut(expiries, atLeast int) int {
	return max(1, min(expiries/atLeast, maxBlock))
}

func (b blocks) count() int { return (b.expiries + b.size - 1) / b.size }

// play plays all blocks on as many goroutines as there are workers, and counts the
// expiries in played as it goes.
func (b blocks) play(seed uint64, workers int, played *atomic.Int64) tally {
	parts := make([]sums, b.count())
	var (
		next atomic.Int64
		team sync.WaitGroup
		lock sync.Mutex
		all  = tally{sizes: make([]int, maxSizes)}
	)
	for range min(workers, len(parts)) {
		team.Go(func() {
			sizes := make([]int, maxSizes)
			for i := int(next.Add(1)) - 1; i < len(parts); i = int(next.Add(1)) - 1 {
				n := min(b.size, b.expiries-i*b.size)
				parts[i] = b.one(source(seed, b.stream+uint64(i)), n, sizes)
				played.Add(int64(n))
			}
			lock.Lock()
			defer lock.Unlock()
			for i, n := range sizes {
				all.sizes[i] += n
			}
		})
	}
	team.Wait()
	all.pool(parts)
	return all
}

func (b blocks) one(rng *rand.Rand, n int, sizes []int) (sum sums) {
	e := b.make(rng)
	for range b.warm {
		e.next()
	}
	for range n {
		x := e.next()
		sum.add(&x)
		sizes[min(x.loads(), len(sizes))-1]++
	}
	return sum
}

// pool joins blocks, in their order.
func (t *tally) pool(parts []sums) {
	column := make([]estimate.Sample, len(parts))
	for f := range t.sums {
		for i := range parts {
			column[i] = parts[i][f]
		}
		t.sums[f] = estimate.Pool(column)
	}
}
