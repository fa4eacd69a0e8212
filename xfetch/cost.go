package xfetch

import "time"

// Cost is a running estimate of what a recompute of a key takes. Its zero value
// knows nothing.
type Cost struct {
	Mean      time.Duration // smoothed, see [Smooth]
	Deviation time.Duration // smoothed distance of samples from the mean
}

// After is the estimate after another load took sample. A new sample has a
// quarter of the weight in both figures. The first is the mean, and half of it
// the deviation: of a spread that nobody knows, the wide side is the safe one,
// and three loads of equal length halve it. (TCP's retransmission timer, RFC
// 6298, begins likewise.) A negative sample counts as 0.
func (c Cost) After(sample time.Duration) Cost {
	sample = max(sample, 0)
	if c.Mean <= 0 {
		return Cost{sample, sample / 2}
	}
	return Cost{Smooth(c.Mean, sample), Smooth(c.Deviation, (sample - c.Mean).Abs())}
}

// Lead is d = Mean + 2*Deviation, the time within which a load is expected to
// be done: a refresh that starts with less than that left is late. It
// saturates.
func (c Cost) Lead() time.Duration {
	mean, deviation := max(c.Mean, 0), max(c.Deviation, 0)
	return plus(plus(mean, deviation), deviation)
}
