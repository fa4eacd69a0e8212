package earlybird

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// straggle makes the next reading of h wait, after it has read, for goOn.
func straggle(h *hands) (read func() (mono, wall int64), isBehind <-chan struct{}, goOn func()) {
	behind, let := make(chan struct{}), make(chan struct{})
	var later atomic.Bool
	return func() (int64, int64) {
		mono, wall := h.read()
		if !later.Swap(true) {
			close(behind)
			<-let
		}
		return mono, wall
	}, behind, func() { close(let) }
}

// A goroutine that is overtaken between its reading of the clocks and what it
// makes of it holds an old reading. That is no second jump.
func TestClock_readerOvertakenByAJumpCountsItOnce(t *testing.T) {
	for what, jump := range map[string]struct{ mono, wall, want time.Duration }{
		"suspend":     {0, 10 * time.Minute, 10 * time.Minute},
		"put forward": {time.Second, time.Hour, time.Hour},
		"put back":    {time.Second, -time.Hour, time.Second},
	} {
		t.Run(what, func(t *testing.T) {
			var h hands
			c := newClock(nil)
			c.read = h.read
			c.now()
			read, isBehind, goOn := straggle(&h)
			c.read = read

			overtaken := make(chan int64)
			go func() { overtaken <- c.now() }()
			<-isBehind
			h.move(jump.mono, jump.wall)
			require.Equal(t, jump.want, time.Duration(c.now()))
			goOn()
			require.LessOrEqual(t, time.Duration(<-overtaken), jump.want)
			require.Equal(t, jump.want, time.Duration(c.now()))
			h.move(time.Second, time.Second)
			require.Equal(t, jump.want+time.Second, time.Duration(c.now()))
		})
	}
}

// The operating system may take the processor away between the readings of
// the two clocks: then they are a time slice apart, once.
func TestClock_tornReadingsDoNotRatchet(t *testing.T) {
	const slice = 5 * time.Millisecond
	for what, torn := range map[string]func(*hands) (mono, wall int64){
		"wall first": func(h *hands) (mono, wall int64) {
			wall = h.wall.Load()
			h.move(slice, slice)
			return h.mono.Load(), wall
		},
		"monotonic first": func(h *hands) (mono, wall int64) {
			mono = h.mono.Load()
			h.move(slice, slice)
			return mono, h.wall.Load()
		},
	} {
		t.Run(what, func(t *testing.T) {
			var h hands
			c := newClock(nil)
			n := 0
			c.read = func() (mono, wall int64) {
				if n++; n%10 == 0 {
					return torn(&h)
				}
				return h.read()
			}
			for range 1000 {
				h.move(time.Millisecond, time.Millisecond)
				c.now()
			}
			require.InDelta(t, float64(h.mono.Load()), float64(c.now()), float64(slice))
		})
	}
}

// The same for a user's clock without a monotonic reading: being overtaken is
// no step back.
func TestClock_overtakenReaderOfAUserClockMovesNothing(t *testing.T) {
	var elapsed atomic.Int64
	behind, let := make(chan struct{}), make(chan struct{})
	var reads atomic.Int64
	c := newClock(func() time.Time {
		now := time.Unix(1e9, elapsed.Load())
		if reads.Add(1) == 3 { // after newClock's and the first below
			close(behind)
			<-let
		}
		return now
	})
	c.now()
	overtaken := make(chan int64)
	go func() { overtaken <- c.now() }()
	<-behind
	elapsed.Store(int64(time.Minute))
	require.Equal(t, time.Minute, time.Duration(c.now()))
	close(let)
	<-overtaken
	require.Equal(t, time.Minute, time.Duration(c.now()))
	elapsed.Add(int64(time.Second))
	require.Equal(t, time.Minute+time.Second, time.Duration(c.now()))
}
