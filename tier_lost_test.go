package earlybird_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird"
	"github.com/earlybird-cache/earlybird/store"
)

// A tier that has lost the word of a change is no reason to serve what was before
// until it expires.
func TestTier_whatItHasLostIsRefreshed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 3, earlybird.Options[string]{NearTTL: time.Second}, someNetwork)
		get := func(i int) string {
			v, err := f.caches[i].Get(t.Context(), "k")
			require.NoError(t, err)
			return v
		}
		for i := range f.caches {
			require.Equal(t, "v1", get(i))
		}
		f.write("k", "v2")
		require.NoError(t, f.caches[0].Invalidate(t.Context(), "k"))
		f.tier.Evict("k")

		for range 22 { // nobody waits for it
			began := time.Now()
			get(1)
			get(2)
			require.Less(t, time.Since(began), f.delay)
			time.Sleep(100 * time.Millisecond)
		}
		require.Equal(t, "v2", get(1))
		require.Equal(t, "v2", get(2))
		require.EqualValues(t, 2, f.loads.Load(), "one of them loads, the other adopts")
	})
}

// fussy is a tier that takes no values.
type fussy struct{ store.Store[string] }

func (f fussy) Publish(_ context.Context, l store.Lease, _ store.Record[string]) error {
	return &store.ValueError{Key: l.Key, Err: errors.New("too large")}
}

// What the tier can not take is not loaded each time that it is asked.
func TestTier_whatItRefusesIsNotMissed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 1, earlybird.Options[string]{}, someNetwork)
		c, err := earlybird.New(f.load, earlybird.Options[string]{TTL: time.Minute, Jitter: earlybird.Off, NearTTL: time.Second, Store: fussy{f.clients[0]}})
		require.NoError(t, err)
		for range 50 {
			_, err := c.Get(t.Context(), "k")
			require.NoError(t, err)
			time.Sleep(time.Second)
		}
		require.EqualValues(t, 1, f.loads.Load())
		require.NoError(t, c.Close())
	})
}
