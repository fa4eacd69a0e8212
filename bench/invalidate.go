package main

import (
	"sync"
	"sync/atomic"
	"time"
)

var invalidateRow = row{
	name: "invalidate", base: "earlybird",
	columns: append(speed(times("earlybird", cost)),
		of("loads/read", callsOp, 4),
		column{head: "changes/million", decimals: 1, of: func(it, _ sample) float64 { return 1e6 * it[changesOp] }},
	),
	subjects: []subject{
		timed("earlybird", changing(newEarlybird, nothing)),
		timed("earlybird-keys", changing(newEarlybird, someKeys)),
		timed("earlybird-all", changing(newEarlybird, everything)),
		timed("otter", changing(newOtter, nothing)),
		timed("otter-keys", changing(newOtter, someKeys)),
		timed("otter-all", changing(newOtter, everything)),
		timed("theine", changing(newTheine, nothing)),
		timed("theine-keys", changing(newTheine, someKeys)),
	},
}

// change is what somebody does to a cache every now and then, while others read.
type change struct {
	every time.Duration
	do    func(c *cache, w *workload, turn int)
}

// Ten thousand keys a second, or all of them ten times a second.
var (
	nothing  = change{}
	someKeys = change{time.Millisecond, func(c *cache, w *workload, turn int) {
		const keys = 10
		for i := range keys {
			c.drop(keyOf((turn*keys + i) % w.products))
		}
	}}
	everything = change{100 * time.Millisecond, func(c *cache, _ *workload, _ int) { c.dropAll() }}
)

// changing opens a trial of reads of popular keys while a goroutine invalidates.
// What it invalidates, the readers load.
func changing(make kind, what change) opener {
	return func(w *workload) (*trial, error) {
		o := w.origin()
		c, err := make(setup{room: w.products, origin: o})
		if err != nil {
			return nil, err
		}
		t := &trial{do: c.get, count: o.keys.Load, close: c.close}
		if err := t.ready(w, c); err != nil {
			return nil, err
		}
		changes := new(atomic.Int64)
		stop := what.start(c, w, changes)
		t.close = func() { stop(); c.end() }
		t.counts = map[string]func() int64{callsOp: o.calls.Load, changesOp: changes.Load}
		if what.do != nil {
			t.count = nil // loads are as right as hits
		}
		return t, nil
	}
}

// start has a goroutine do it until stop is called.
func (what change) start(c *cache, w *workload, changes *atomic.Int64) (stop func()) {
	if what.do == nil {
		return func() {}
	}
	quit, gone := make(chan struct{}), sync.WaitGroup{}
	gone.Go(func() {
		tick := time.NewTicker(what.every)
		defer tick.Stop()
		for turn := 0; ; turn++ {
			select {
			case <-quit:
				return
			case <-tick.C:
				what.do(c, w, turn)
				changes.Add(1)
			}
		}
	})
	return func() { close(quit); gone.Wait() }
}
