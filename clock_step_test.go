package earlybird

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A reader of a user's clock who read before a step back, and is overtaken by
// whoever finds the step, moves nothing: what was taken out since does not
// concern his reading.
func TestClock_overtakenReaderFromBeforeAStepBackMovesNothing(t *testing.T) {
	var now atomic.Int64
	now.Store(int64(time.Hour))
	behind, let := make(chan struct{}), make(chan struct{})
	var hold atomic.Bool
	c := newClock(func() time.Time {
		at := time.Unix(1e9, now.Load())
		if hold.CompareAndSwap(true, false) {
			close(behind)
			<-let
		}
		return at
	})
	now.Add(int64(time.Second))
	require.Equal(t, time.Second, time.Duration(c.now()))

	hold.Store(true)
	overtaken := make(chan int64)
	go func() { overtaken <- c.now() }()
	<-behind
	now.Add(-int64(time.Hour))
	require.Equal(t, time.Second, time.Duration(c.now()))
	close(let)
	require.Equal(t, time.Second, time.Duration(<-overtaken))
	now.Add(int64(time.Second))
	require.Equal(t, 2*time.Second, time.Duration(c.now()))
}

// Being overtaken twice in a row is no reason to believe in a jump either.
func TestClock_readerOfAUserClockMayBeOvertakenAgainAndAgain(t *testing.T) {
	var now atomic.Int64
	behind, let := make(chan struct{}), make(chan struct{})
	var hold atomic.Bool
	c := newClock(func() time.Time {
		at := time.Unix(1e9, now.Load())
		if hold.CompareAndSwap(true, false) {
			behind <- struct{}{}
			<-let
		}
		return at
	})
	c.now()
	const times = 5
	overtaken := make(chan int64, 1)
	hold.Store(true)
	go func() { overtaken <- c.now() }()
	overtakes := 0
	for landed := false; !landed; {
		select {
		case <-behind:
			overtakes++
			now.Add(int64(time.Hour))
			require.Equal(t, time.Duration(overtakes)*time.Hour, time.Duration(c.now()))
			hold.Store(overtakes < times)
			let <- struct{}{}
		case <-overtaken:
			landed = true
			hold.Store(false)
		}
	}
	hold.Store(false)
	require.Equal(t, time.Duration(overtakes)*time.Hour, time.Duration(c.now()))
}
