package earlybird

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// Each load has its own time, whatever becomes of those that began before and
// after it: some return, some fail, some never come back, and some ignore that
// their time is up.
func TestLoadTimeout_isEachLoadsOwn(t *testing.T) {
	const patience = time.Second
	synctest.Test(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(1, 2))
		loader := func(ctx context.Context, key string) (string, error) {
			var n, ms int
			_, _ = fmt.Sscanf(key, "%d %d", &n, &ms)
			switch took := time.Duration(ms) * time.Millisecond; {
			case took < patience:
				time.Sleep(took)
			case n%2 == 0:
				<-ctx.Done()
			default:
				time.Sleep(took)
			}
			if n%7 == 0 {
				return "", fmt.Errorf("load %d failed", n)
			}
			return key, ctx.Err()
		}
		c := newTidy(t, loader, Options[string]{LoadTimeout: patience, MaxWait: patience, MaxLoads: 10_000, Ramp: Off})
		var readers sync.WaitGroup
		late := 0
		for pause := range 5 { // with no load at all between them
			for n := range 200 {
				ms := rng.IntN(2 * int(patience.Milliseconds()))
				if ms == int(patience.Milliseconds()) {
					continue // which of the two is first?
				}
				took := time.Duration(ms) * time.Millisecond
				if took > patience {
					late++
				}
				readers.Go(func() {
					began := time.Now()
					_, err := c.Get(t.Context(), fmt.Sprint(n, ms, pause))
					if took > patience {
						require.ErrorIs(t, err, ErrLoadTimeout)
						require.Equal(t, patience, time.Since(began))
						return
					}
					require.NotErrorIs(t, err, ErrLoadTimeout)
					require.Equal(t, n%7 == 0, err != nil)
					require.Equal(t, took, time.Since(began))
				})
				time.Sleep(time.Duration(rng.IntN(20)) * time.Millisecond)
			}
			time.Sleep(3 * patience)
		}
		readers.Wait()
		require.Greater(t, late, 300)
		require.Nil(t, c.flights.timeouts.oldest)
		require.Nil(t, c.flights.timeouts.youngest)
	})
}
