package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"

	"github.com/earlybird-cache/earlybird/sim/trace"
)

// requests is what is asked for, one after another. A *trace.Trace is one.
type requests interface {
	Len() int
	At(i int) int   // the key that request i is for, an index into Keys
	Keys() []string // each once, and each asked for
}

// namedRequests are requests to be known by a name.
type namedRequests struct {
	name string
	requests
}

func openTrace(path string) (namedRequests, error) {
	t, err := trace.Open(path, os.Stdin)
	if err != nil {
		return namedRequests{}, err
	}
	return namedRequests{filepath.Base(path), t}, nil
}

// synthetic requests are drawn, not recorded.
type synthetic struct {
	order []int32
	keys  []string
}

func (s *synthetic) Len() int       { return len(s.order) }
func (s *synthetic) At(i int) int   { return int(s.order[i]) }
func (s *synthetic) Keys() []string { return s.keys }

// draw makes n requests for products, as numbered by next.
func draw(n int, next func() int) *synthetic {
	s, numbers := &synthetic{order: make([]int32, n)}, make(map[int]int32)
	for i := range s.order {
		product := next()
		number, ok := numbers[product]
		if !ok {
			number = int32(len(s.keys))
			numbers[product] = number
			s.keys = append(s.keys, keyOf(product))
		}
		s.order[i] = number
	}
	return s
}

func drawZipf(n, products int, p popularity) *synthetic {
	return draw(n, p.draws(products, rand.New(rand.NewPCG(5, 6))))
}

// drawScan reads a thousand products by Zipf's law, and ten times as often ids
// that come once and never again.
func drawScan(n int) *synthetic {
	const products, of = 1000, 11
	r := rand.New(rand.NewPCG(7, 8))
	popular, passing := popularity(1).draws(products, r), products
	return draw(n, func() int {
		if r.IntN(of) == 0 {
			return popular()
		}
		passing++
		return passing
	})
}

// drawLoop reads so many products round and round.
func drawLoop(n, products int) *synthetic {
	at := -1
	return draw(n, func() int {
		at++
		return at % products
	})
}

// room is a capacity: a share of the distinct keys of the requests.
type room float64

func (r room) of(keys int) int { return max(1, int(math.Round(float64(r)*float64(keys)))) }

func (r room) String() string { return fmt.Sprintf("%g %%", math.Round(float64(r)*1e4)/100) }
