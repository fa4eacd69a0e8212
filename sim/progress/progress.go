// Package progress shows how far a long run is, and what is left of it.
package progress

import (
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// A Meter shows the share of a total that has been played. The nil Meter shows
// nothing.
type Meter struct {
	w        io.Writer
	total    int64
	played   *atomic.Int64
	began    time.Time
	over     chan struct{}
	watching sync.WaitGroup
}

// Start begins to show how much of total has been played: on a terminal one line,
// written over and over; anywhere else a line every half minute. Stop it.
func Start(w io.Writer, total int, played *atomic.Int64) *Meter {
	m := &Meter{w: w, total: int64(max(1, total)), played: played, began: time.Now(), over: make(chan struct{})}
	m.watching.Go(m.show)
	return m
}

// Stop wipes the line.
func (m *Meter) Stop() {
	if m != nil {
		close(m.over)
		m.watching.Wait()
	}
}

func (m *Meter) show() {
	terminal := isTerminal(m.w)
	every := 30 * time.Second
	if terminal {
		every = 200 * time.Millisecond
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			line := m.line(time.Since(m.began))
			if terminal {
				line = fmt.Sprintf("\r%-40s", line)
			} else {
				line += "\n"
			}
			fmt.Fprint(m.w, line)
		case <-m.over:
			if terminal {
				fmt.Fprintf(m.w, "\r%40s\r", "")
			}
			return
		}
	}
}

func (m *Meter) line(passed time.Duration) string {
	share := float64(m.played.Load()) / float64(m.total)
	if share == 0 {
		return "playing: 0 %"
	}
	left := time.Duration(float64(passed) * max(0, 1-share) / share)
	return fmt.Sprintf("playing: %.0f %%, %v left", 100*share, Roughly(left))
}

// Roughly rounds a duration to what an estimate is worth.
func Roughly(d time.Duration) time.Duration {
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
