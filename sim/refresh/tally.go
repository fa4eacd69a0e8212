package refresh

import (
	"github.com/earlybird-cache/earlybird/sim/estimate"
)

// maxSizes is how many stampede sizes are told apart.
const maxSizes = 100

// What is counted of every expiry.
const (
	loads  = iota
	early  // loads started before expiry
	hard   // and after
	single // there was one load only
	gap    // seconds left when the first one started
	late   // its value was not there at expiry
	waits  // reads that waited
	life   // seconds
	figures
)

// sums sums up expiries.
type sums [figures]estimate.Sample

func (s *sums) add(e *expiry) {
	s[loads].Add(float64(e.loads()))
	s[early].Add(float64(e.early))
	s[hard].Add(float64(e.hard))
	s[single].AddBool(e.loads() == 1)
	s[gap].Add(e.left)
	s[late].AddBool(e.late)
	s[waits].Add(e.waits)
	s[life].Add(e.life)
}

// tally is what a run has counted.
type tally struct {
	sums
	sizes []int
}

// against sets the counts beside theory.
func (t *tally) against(th Theory) Figures {
	f := Figures{
		Loads:    t.sums[loads].CountAgainst(th.Loads, 1),
		Early:    t.sums[early].CountAgainst(th.Early, 0),
		Hard:     t.sums[hard].CountAgainst(th.Hard, 0),
		Single:   t.sums[single].ProportionAgainst(th.Single),
		Gap:      t.sums[gap].Against(th.Gap),
		Late:     t.sums[late].ProportionAgainst(th.Late),
		Waits:    t.sums[waits].CountAgainst(th.Waits, 0),
		Life:     t.sums[life].Against(th.Life),
		Sizes:    trimZeros(t.sizes),
		Expiries: t.sums[loads].N,
	}
	return f
}

func trimZeros(counts []int) []int {
	for len(counts) > 0 && counts[len(counts)-1] == 0 {
		counts = counts[:len(counts)-1]
	}
	return counts
}
