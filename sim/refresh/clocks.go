package refresh

import (
	"math"
)

// clocks are those of a fleet and of the store that dates its entries. The
// store's is right, but moves in steps like all of them.
type clocks struct {
	ahead []float64 // seconds, by instance; nil: all right
	most  float64   // of them
	step  float64   // seconds; 0: they flow
}

// newClocks draws the fleet's clocks, the same for all engines and workers.
func newClocks(s Setup) clocks {
	c := clocks{step: s.Step.Seconds()}
	if s.Skew == 0 {
		return c
	}
	rng := source(s.Seed, streamClocks)
	c.ahead = make([]float64, s.Instances)
	c.most = math.Inf(-1)
	for i := range c.ahead {
		c.ahead[i] = s.Skew.Seconds() * rng.NormFloat64()
		c.most = max(c.most, c.ahead[i])
	}
	return c
}

// right tells whether every reader knows the time.
func (c clocks) right() bool { return c.ahead == nil && c.step == 0 }

// off is how far ahead the clock of an instance is.
func (c clocks) off(instance int) float64 {
	if c.ahead == nil {
		return 0
	}
	return c.ahead[instance]
}

// seen is the time that an instance takes to be left when it is t. dated is the
// entry's expiry on the store's clock, up to whole steps.
func (c clocks) seen(t, dated float64, instance int) float64 {
	t -= c.off(instance)
	if c.step == 0 {
		return t
	}
	return t + past(dated-t, c.step) // now is dated-t, of which only whole steps are seen
}

// weight is the factor by which skewed clocks raise the density of elections
// before anybody thinks the entry expired: the mean of e^{ahead/scale}.
func (c clocks) weight(scale float64) float64 {
	if c.ahead == nil {
		return 1
	}
	sum := 0.0
	for _, a := range c.ahead {
		sum += math.Exp(a / scale)
	}
	return sum / float64(len(c.ahead))
}

// past is what has passed of the present step at time x.
func past(x, step float64) float64 {
	p := math.Mod(x, step)
	if p < 0 {
		p += step
	}
	return p
}
