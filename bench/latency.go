package main

import (
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// latencies is a distribution of how long reads took, to two significant
// figures, from a nanosecond to a minute.
type latencies struct{ *hdrhistogram.Histogram }

func newLatencies() latencies {
	const figures = 2
	return latencies{hdrhistogram.New(1, time.Minute.Nanoseconds(), figures)}
}

// add counts one read. What is beyond the scale counts as its end.
func (l latencies) add(d time.Duration) {
	_ = l.RecordValue(min(max(d.Nanoseconds(), 1), l.HighestTrackableValue())) // within the scale
}

// at returns the latency, in ns, that the given percentage of reads kept.
func (l latencies) at(percent float64) float64 { return float64(l.ValueAtPercentile(percent)) }
