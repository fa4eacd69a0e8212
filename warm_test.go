package earlybird

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestWarm_fillsWithoutCrowdingTheOrigin(t *testing.T) {
	for _, many := range []bool{false, true} {
		t.Run("LoadMany="+strconv.FormatBool(many), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				opts := Options[string]{TTL: time.Hour, MaxLoads: 40, Ramp: Off}
				var calls atomic.Int64
				one := func(_ context.Context, key string) (string, error) {
					calls.Add(1)
					time.Sleep(10 * time.Millisecond)
					if strings.HasPrefix(key, "absent") {
						return "", ErrNotFound
					}
					return key, nil
				}
				if many {
					opts.LoadMany = func(ctx context.Context, keys []string) (map[string]string, error) {
						calls.Add(1)
						time.Sleep(10 * time.Millisecond)
						found := map[string]string{}
						for _, k := range keys {
							if !strings.HasPrefix(k, "absent") {
								found[k] = k
							}
						}
						return found, nil
					}
				}
				c := newTidy(t, one, opts)
				mustGet(t, c, "k7")
				keys := []string{"absent1", strings.Repeat("x", 9999)}
				for i := range 5000 {
					keys = append(keys, "k"+strconv.Itoa(i))
				}
				var reports []Warmed
				require.NoError(t, c.Warm(t.Context(), slices.Values(keys), func(w Warmed) { reports = append(reports, w) }))
				require.Equal(t, Warmed{Seen: 5002, Loaded: 4999, Held: 1, Absent: 2}, reports[len(reports)-1])
				require.LessOrEqual(t, c.Stats().LoadsMost, 4)
				if many {
					require.LessOrEqual(t, calls.Load(), int64(60))
				}

				lives := map[time.Duration]int{}
				for i := range 5000 {
					e := c.fresh("k"+strconv.Itoa(i), c.clock.now())
					require.NotNil(t, e)
					lives[time.Duration(e.expiry-e.written)/(10*time.Minute)]++
				}
				require.GreaterOrEqual(t, len(lives), 3, "lives are spread over half of TTL: %v", lives)
				before := calls.Load()
				require.NoError(t, c.Warm(t.Context(), slices.Values(keys[2:])))
				require.Equal(t, before, calls.Load(), "what is held is not loaded again")
			})
		})
	}
}

func TestWarm_saysHowFarItGot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		down := errors.New("down")
		ctx, cancel := context.WithCancel(t.Context())
		c := newTidy(t, func(_ context.Context, key string) (string, error) {
			switch key {
			case "3":
				return "", down
			case "50":
				cancel()
			}
			time.Sleep(time.Second)
			return key, nil
		}, Options[string]{TTL: time.Hour, MaxLoads: 10, Ramp: Off})
		keys := make([]string, 100)
		for i := range keys {
			keys[i] = strconv.Itoa(i)
		}
		err := c.Warm(ctx, slices.Values(keys))
		var we *WarmError
		require.ErrorAs(t, err, &we)
		require.ErrorIs(t, err, context.Canceled)
		require.GreaterOrEqual(t, we.Seen, 40)
		require.Less(t, we.Seen, 60)

		err = c.Warm(t.Context(), slices.Values(keys[we.Seen:]))
		require.NoError(t, err)
		err = c.Warm(t.Context(), slices.Values(keys))
		require.ErrorIs(t, err, down)
		require.ErrorAs(t, err, &we)
		require.Equal(t, 100, we.Seen)
		require.Equal(t, 1, we.Failed)
	})
}
