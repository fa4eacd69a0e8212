package earlybird

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// If nothing were ever kept, the system would still stay up: the origin works
// at its capacity, who is served is served in bounded time, and who is not
// hears of it at once.
func TestZeroHits_theOriginWorksAndTheRestFailFast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const servers, service, perSecond, seconds = 10, 100 * time.Millisecond, 400, 10
		var now, most, served, refused atomic.Int64
		opts := plain[string](time.Hour)
		opts.MaxLoads = servers
		opts.NegativeTTL = Off
		opts.TTLFor = func(string, string) time.Duration { return Off }
		c := newTidy(t, func(_ context.Context, key string) (string, error) {
			most.Store(max(most.Load(), now.Add(1)))
			time.Sleep(service)
			now.Add(-1)
			return key, nil
		}, opts)
		var wg sync.WaitGroup
		for i := range perSecond * seconds {
			wg.Go(func() {
				start := time.Now()
				_, err := c.Get(t.Context(), strconv.Itoa(i))
				switch took := time.Since(start); {
				case err == nil && took <= 9*service:
					served.Add(1)
				case errors.Is(err, ErrOverloaded) && took == 0:
					refused.Add(1)
				default:
					t.Errorf("%v after %v", err, took)
				}
			})
			time.Sleep(time.Second / perSecond)
		}
		wg.Wait()
		capacity := int64(servers * seconds * int(time.Second/service))
		require.GreaterOrEqual(t, served.Load(), capacity)
		require.EqualValues(t, perSecond*seconds, served.Load()+refused.Load())
		require.LessOrEqual(t, most.Load(), int64(servers))
		require.Zero(t, c.Stats().Values)
	})
}
