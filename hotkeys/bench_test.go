package hotkeys

import (
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
)

// What does a tracker add to a read? Touch is the whole price with the default
// threshold; unsampled and sampled are its two parts, the latter for a key that
// has a counter and for one that takes over another's.
//
//	go test -run '^$' -bench . -cpu 1,2 ./hotkeys
func BenchmarkTouch(b *testing.B) {
	keys := names(1 << 16)
	run := func(name string, opts Options, read func(t *Tracker, i uint32)) {
		b.Run(name, func(b *testing.B) {
			t := newTracker(b, opts)
			for i := range uint32(len(keys)) {
				t.Sample(keys[i], 1)
			}
			b.ReportAllocs()
			b.ResetTimer()
			var lane atomic.Uint32
			b.RunParallel(func(pb *testing.PB) {
				for i := lane.Add(1) << 12; pb.Next(); i++ {
					read(t, i)
				}
			})
		})
	}
	hot := func(i uint32) string { return keys[i%16] }
	any := func(i uint32) string { return keys[i%uint32(len(keys))] }
	run("default", Options{}, func(t *Tracker, i uint32) { t.Touch(hot(i)) })
	run("unsampled", Options{Threshold: 1e12}, func(t *Tracker, i uint32) { t.Touch(hot(i)) })
	run("sampled", Options{}, func(t *Tracker, i uint32) { t.Sample(hot(i), 71) })
	run("sampled takeover", Options{}, func(t *Tracker, i uint32) { t.Sample(any(i), 71) })
	run("off", Options{}, func(_ *Tracker, i uint32) { (*Tracker)(nil).Touch(hot(i)) })
}

// What does a listing cost?
func BenchmarkTop(b *testing.B) {
	t := newTracker(b, Options{})
	zipf := rand.NewZipf(rand.New(rand.NewPCG(1, 2)), 1.1, 1, 1<<20)
	for range 1 << 18 {
		t.Sample(fmt.Sprint("key-", zipf.Uint64()), 71)
	}
	b.ReportAllocs()
	for b.Loop() {
		t.Top(10)
	}
}
