package earlybird

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird/hotkeys"
)

func TestHotKeys_areFoundByTheReadsThemselves(t *testing.T) {
	tracker, err := hotkeys.New(hotkeys.Options{Threshold: 1000})
	require.NoError(t, err)
	opts := plain[string](time.Hour)
	opts.HotKeys = tracker
	c := newTidy(t, echo(0), opts)
	for i := range 200_000 {
		mustGet(t, c, "cold "+strconv.Itoa(i%1000))
		if i%4 == 0 {
			mustGet(t, c, "hot")
		}
	}
	top := c.Stats().Hot
	require.NotEmpty(t, top)
	require.Equal(t, "hot", top[0].Key)
	require.Greater(t, top[0].Lower, 0.0)
	if len(top) > 1 {
		require.Greater(t, top[0].Rate, 10*top[1].Rate)
	}
}

// A key is hot under its own name: those that look like a copy of it are keys
// like any other.
func TestHotKeys_shareNothingWithKeysThatLookLikeTheirs(t *testing.T) {
	tracker, err := hotkeys.New(hotkeys.Options{Threshold: 1000})
	require.NoError(t, err)
	opts := plain[string](time.Hour)
	opts.HotKeys = tracker
	c := newTidy(t, echo(0), opts)
	like := []string{"k#1", "k@2", "k#2", "k\x00", "#1", "k\x001"}
	for range 100_000 {
		mustGet(t, c, "k")
	}
	require.Equal(t, "k", c.Stats().Hot[0].Key)
	many, err := c.GetMany(t.Context(), append(like, "k"))
	require.NoError(t, err)
	for key, v := range many {
		require.Equal(t, key, v)
	}
	require.NoError(t, c.Invalidate(t.Context(), "k"))
	_, ok := c.Peek("k")
	require.False(t, ok)
	for _, key := range like {
		_, ok := c.Peek(key)
		require.True(t, ok, "%q is another key", key)
		require.NoError(t, c.Set(t.Context(), key, "changed"))
	}
	require.Equal(t, "k", mustGet(t, c, "k"))
}
