package ladder

import (
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/earlybird-cache/earlybird/sim/bubble"
)

// climbWatched is Climb with its progress shown on stderr, if that is a terminal.
// It is shown from outside the bubbles, where a second is a second.
func climbWatched(s Setup, r bubble.Runner, stderr io.Writer) ([]Row, error) {
	var played atomic.Int64
	if isTerminal(stderr) {
		stop, stopped := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(stopped)
			watch(stderr, &played, s.Stream.Census().Requests*len(rungs), stop)
		}()
		defer func() {
			close(stop)
			<-stopped
		}()
	}
	return s.Climb(r, &played)
}

// watch writes the share of total that has been played, over and over on one line,
// and wipes the line when stop closes.
func watch(w io.Writer, played *atomic.Int64, total int, stop <-chan struct{}) {
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			fmt.Fprintf(w, "\rplaying: %3d %%", 100*played.Load()/int64(total))
		case <-stop:
			fmt.Fprintf(w, "\r%*s\r", len("playing: 100 %"), "")
			return
		}
	}
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
