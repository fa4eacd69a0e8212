package refresh

import (
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/earlybird-cache/earlybird/sim/progress"
)

// Watch is where a run tells how it goes: how long it will take, before it
// starts, if that is long; and how far it is. nil is nowhere.
type Watch struct{ w io.Writer }

// NewWatch writes to w.
func NewWatch(w io.Writer) *Watch { return &Watch{w} }

const (
	worthSaying = 5 * time.Second
	tooLong     = 48 * time.Hour
	pilotTime   = 20 * time.Millisecond
)

// announce estimates how long the blocks take and refuses what nobody would wait
// for.
func (p *Watch) announce(s Setup, parts ...blocks) error {
	if p == nil {
		return nil
	}
	var takes time.Duration
	for _, b := range parts {
		if b.expiries > 0 {
			takes += b.estimate(s)
		}
	}
	switch {
	case takes > tooLong:
		return fmt.Errorf("that would take about %v, and %v is the most: lower -expiries, -keys, -duration or -events",
			takes.Round(time.Hour), tooLong)
	case takes > worthSaying:
		fmt.Fprintf(p.w, "sim refresh: this will take about %v\n", progress.Roughly(takes))
	}
	return nil
}

// meter starts to show how far n expiries are.
func (p *Watch) meter(n int, played *atomic.Int64) *progress.Meter {
	if p == nil {
		return nil
	}
	return progress.Start(p.w, n, played)
}

// estimate is how long a run of the blocks takes, by a few expiries that are
// thrown away.
func (b blocks) estimate(s Setup) time.Duration {
	began := time.Now()
	e := b.make(source(s.Seed, streamPilot))
	n := 0
	for ; n < b.expiries && time.Since(began) < pilotTime; n++ {
		e.next()
	}
	played := float64(b.expiries + b.warm*b.count())
	takes := float64(time.Since(began)) / float64(max(n, 1)) * played / float64(s.Workers)
	return time.Duration(min(takes, 1e18))
}
