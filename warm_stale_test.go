package earlybird

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// What stands in for a failed load is of use to readers. To a warm-up the load
// has failed all the same.
func TestWarm_failsThoughStaleValuesRemain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var down error
		opts := plain[string](time.Second)
		opts.StaleIfError = time.Hour
		c := newTidy(t, func(context.Context, string) (string, error) { return "", down }, opts)
		mustGet(t, c, "k")

		down = errDown
		time.Sleep(time.Minute)
		err := c.Warm(t.Context(), slices.Values([]string{"k"}))
		var incomplete *WarmError
		require.ErrorAs(t, err, &incomplete)
		require.ErrorIs(t, err, errDown)
		require.Equal(t, Warmed{Seen: 1, Failed: 1}, incomplete.Warmed)
		require.Equal(t, Stale, mustLookup(t, c, "k").State)
	})
}
