package earlybird

import (
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// A read that finds the value when it looks again has met no miss: something
// was there to serve.
func TestEpisodes_lookingAgainBeginsNone(t *testing.T) {
	var loads atomic.Int64
	opts, missed, goOn := missThenWait("k")
	c := newTidy(t, counted(&loads), opts)
	late := make(chan int64)
	go func() { late <- mustGet(t, c, "k") }()
	<-missed
	mustGet(t, c, "k") // the episode, from its miss to its publish
	goOn()
	require.EqualValues(t, 1, <-late)
	require.EqualValues(t, 1, c.Stats().Episodes)
	require.InDelta(t, 1, c.Stats().Amplification(), 0)
	require.Empty(t, c.episodes.open)
}
