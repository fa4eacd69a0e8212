package standstill_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird/internal/standstill"
)

func TestWatch_noticesWhatItMisses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := standstill.Begin()
		time.Sleep(time.Second)
		took, sum, longest := w.End()
		require.Equal(t, time.Second, took)
		require.Zero(t, sum)
		require.Zero(t, longest)
	})
	w := standstill.Begin()
	spin(50 * time.Millisecond)
	took, sum, longest := w.End()
	require.GreaterOrEqual(t, took, 50*time.Millisecond)
	require.GreaterOrEqual(t, sum, longest)
	require.LessOrEqual(t, sum, took)
}

func spin(d time.Duration) {
	for began := time.Now(); time.Since(began) < d; {
	}
}

func TestRounds_endWithOneThatPasses(t *testing.T) {
	n := 0
	standstill.Rounds(t, 0, func(t testing.TB) {
		n++
		time.Sleep(20 * time.Millisecond)
	})
	require.Equal(t, 1, n)

	n = 0
	standstill.Rounds(t, -1, func(t testing.TB) { // any standstill will do
		if n++; n < 3 {
			require.Fail(t, "not yet")
		}
		require.False(t, t.Failed())
	})
	require.Equal(t, 3, n)
}
