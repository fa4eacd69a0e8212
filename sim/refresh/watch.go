package refresh

import (
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// Watch tells how a run goes: how long it will take, before it starts, if that
// is long; and how far it is while it runs. A nil Watch is silent.
type Watch struct {
	w        io.Writer
	terminal bool

	played   atomic.Int64
	total    atomic.Int64
	began    time.Time
	stop     chan struct{}
	watching sync.WaitGroup
}

// NewWatch writes to w.
func NewWatch(w io.Writer) *Watch { return &Watch{w: w, terminal: isTerminal(w)} }

const (
	worthSaying = 5 * time.Second
	tooLong     = 48 * time.Hour
	pilotTime   = 20 * time.Millisecond
)

// announce estimates how long the blocks take, by playing a few expiries of
// each, and refuses what nobody would wait for.
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
		fmt.Fprintf(p.w, "sim refresh: this will take about %v\n", roughly(takes))
	}
	return nil
}

// estimate is how long a run of the blocks takes. The pilot's expiries are
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

// begin starts to show how far n expiries are. It returns what is to be told of
// those that have been played.
func (p *Watch) begin(n int) (done func(int)) {
	if p == nil {
		return func(int) {}
	}
	p.end()
	p.played.Store(0)
	p.total.Store(int64(n))
	p.began = time.Now()
	p.stop = make(chan struct{})
	p.watching.Go(p.show)
	return func(n int) { p.played.Add(int64(n)) }
}

// end stops to show anything.
func (p *Watch) end() {
	if p == nil || p.stop == nil {
		return
	}
	close(p.stop)
	p.watching.Wait()
	p.stop = nil
}

// show writes one line over and over on a terminal, and now and then a new one
// into a file.
func (p *Watch) show() {
	every, form := 10*time.Second, "%s\n"
	if p.terminal {
		every, form = 200*time.Millisecond, "\r%-40s"
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			fmt.Fprintf(p.w, form, p.line(time.Since(p.began)))
		case <-p.stop:
			if p.terminal {
				fmt.Fprintf(p.w, "\r%40s\r", "")
			}
			return
		}
	}
}

func (p *Watch) line(passed time.Duration) string {
	share := float64(p.played.Load()) / float64(max(1, p.total.Load()))
	if share == 0 {
		return "playing: 0 %"
	}
	left := time.Duration(float64(passed) * (1 - share) / share)
	return fmt.Sprintf("playing: %.0f %%, %v left", 100*share, roughly(left))
}

// roughly rounds to what an estimate is worth.
func roughly(d time.Duration) time.Duration {
	if d > 2*time.Hour {
		return d.Round(10 * time.Minute)
	}
	return d.Round(time.Second)
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
