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
