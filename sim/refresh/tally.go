package refresh

import (
	"time"

	"github.com/earlybird-cache/earlybird/xfetch"
)

// maxSizes is how many stampede sizes are told apart.
const maxSizes = 100

// tally sums up expiries.
type tally struct {
	loads, early, hard, single, gap, late sample

	sizes []int
	lived float64 // nanoseconds
}

func (t *tally) add(e expiry, delta float64) {
	t.loads.add(float64(e.loads()))
	t.early.add(float64(e.early))
	t.hard.add(float64(e.hard))
	t.single.addBool(e.loads() == 1)
	t.gap.add(e.left / float64(time.Second))
	t.late.addBool(e.left < delta)
	t.sizes[min(e.loads(), len(t.sizes))-1]++
	t.lived += e.life
}

func (t *tally) observed() Loads {
	return Loads{
		Mean:   t.loads.alone(),
		Early:  t.early.alone(),
		Hard:   t.hard.alone(),
		Single: t.single.alone(),
		Gap:    t.gap.alone(),
		Late:   t.late.alone(),
		Sizes:  trimZeros(t.sizes),
	}
}

// compareLoads sets the number of loads beside the law of uncoordinated
// readers.
func (t *tally) compareLoads(l *Loads, law xfetch.Law) {
	early, hard := law.LoadsPerExpiry()
	l.Mean = t.loads.countAgainst(early+hard, 1)
	l.Early = t.early.countAgainst(early, 0)
	l.Hard = t.hard.countAgainst(hard, 0)
	l.Single = t.single.proportionAgainst(law.SingleProbability())
}

// compareStart does so for the start of the first load, which is the same
// however readers are coordinated.
func (t *tally) compareStart(l *Loads, law xfetch.Law) {
	l.Gap = t.gap.against(law.ExpectedLeft().Seconds())
	l.Late = t.late.proportionAgainst(law.LateProbability(law.Aware))
}

func trimZeros(counts []int) []int {
	for len(counts) > 0 && counts[len(counts)-1] == 0 {
		counts = counts[:len(counts)-1]
	}
	return counts
}
