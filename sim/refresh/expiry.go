package refresh

import (
	"math"
	"math/rand/v2"
)

// expiry is what one generation of the entry cost. Times are in seconds.
type expiry struct {
	early, hard int     // loads started before and after the entry expired
	left        float64 // time left when the first of them started; negative after expiry
	late        bool    // its value was not there when the entry expired
	life        float64 // from the birth of the entry to that of the next
	waits       float64 // reads that had to wait
}

func (e *expiry) loads() int { return e.early + e.hard }

// count counts a load.
func (e *expiry) count(early bool) {
	if early {
		e.early++
	} else {
		e.hard++
	}
}

// wait fills in the reads that waited: those that found the entry expired, visible
// being the time left when the new one can be read. The reader that starts a late
// load is one of them.
func (e *expiry) wait(s *Setup, visible float64, rng *rand.Rand) {
	switch {
	case e.left <= 0:
		e.waits = 1 + poisson(s.Rate*(e.left-visible), rng)
	case visible < 0:
		e.waits = poisson(s.Rate*-visible, rng)
	}
	if s.Inline {
		e.waits += float64(e.early)
	}
}

// poisson draws a count; above a mean of 100 from the normal law that is then
// next to it.
func poisson(mean float64, rng *rand.Rand) (n float64) {
	if mean > 100 {
		return max(0, math.Round(mean+math.Sqrt(mean)*rng.NormFloat64()))
	}
	for v := rng.ExpFloat64(); v < mean; v += rng.ExpFloat64() {
		n++
	}
	return n
}
