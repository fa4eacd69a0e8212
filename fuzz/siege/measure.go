package siege

import (
	"context"
	"runtime"
	"slices"
	"time"
)

// liveHeap returns the bytes in use on the heap. A second collection frees what the
// first one found to be finalized.
func liveHeap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// rejectVsHit returns the median time of a refusal over that of a hit. The two take turns,
// a key each at a time, while nobody else reads. It is 0 if none of the keys, which were
// refused before, is refused without a call.
func (w *world) rejectVsHit(refused []string) float64 {
	var hits, rejects []float64
	for i, key := range refused {
		hot := w.archive.Keys()[i]
		if _, near := w.cache.Peek(hot); !near || w.costsCall(key) {
			continue
		}
		hits = append(hits, w.timePerRead(context.Background(), hot))
		rejects = append(rejects, w.timePerRead(hostileContext, key))
	}
	if len(hits) == 0 {
		return 0
	}
	return median(rejects) / median(hits)
}

// costsCall reports whether a key still costs a call when it has just been asked for: its
// absence may have been forgotten before.
func (w *world) costsCall(key string) bool { return w.reaches(key) && w.reaches(key) }

// timePerRead returns how long a read of key takes, in nanoseconds, over enough of them for
// the clock.
func (w *world) timePerRead(ctx context.Context, key string) float64 {
	const enough = 64
	start := time.Now()
	for range enough {
		_, _ = w.cache.Get(ctx, key)
	}
	return float64(time.Since(start)) / enough
}

func median(xs []float64) float64 {
	slices.Sort(xs)
	return xs[len(xs)/2]
}
