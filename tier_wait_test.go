package earlybird_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird"
	"github.com/earlybird-cache/earlybird/store"
)

// Who comes second waits for the load of another cache as long as his own context
// lasts, the lease, or MaxWait, whichever is shortest.
func TestTier_waitsAreBounded(t *testing.T) {
	const leased = 2 * time.Second
	for name, c := range map[string]struct {
		caller, maxWait time.Duration
		waits           time.Duration
		err             error
		unleased        uint64
	}{
		"by the caller": {100 * time.Millisecond, time.Second, 100 * time.Millisecond, context.DeadlineExceeded, 0},
		"by MaxWait":    {time.Minute, time.Second, time.Second, nil, 1},
		"by the lease":  {time.Minute, 30 * time.Second, leased, nil, 0},
		"not at all":    {time.Minute, earlybird.Off, 0, nil, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFleet(t, 2, earlybird.Options[string]{MaxWait: c.maxWait}, someNetwork)
				f.delay = 0
				claim, err := f.clients[0].Acquire(t.Context(), "k", 0, leased) // and never publishes
				require.NoError(t, err)
				require.Equal(t, store.Granted, claim.Outcome)

				ctx, cancel := context.WithTimeout(t.Context(), c.caller)
				defer cancel()
				began := time.Now()
				_, err = f.caches[1].Get(ctx, "k")
				require.ErrorIs(t, err, c.err)
				require.InDelta(t, c.waits, time.Since(began), float64(20*time.Millisecond))
				require.Equal(t, c.unleased, f.caches[1].Stats().Unleased)
				time.Sleep(leased) // what was left alone ends
			})
		})
	}
}

// unburied is a tier that takes what is set, and can not reach a copy of the key.
type unburied struct {
	store.Store[string]
	invalidations int
}

func (u *unburied) Set(ctx context.Context, key string, r store.Record[string]) (store.Generation, error) {
	g, err := u.Store.Set(ctx, key, r)
	if err == nil {
		err = &store.PendingError{Keys: []string{key}, Err: store.ErrUnavailable}
	}
	return g, err
}

func (u *unburied) Invalidate(ctx context.Context, keys ...string) error {
	u.invalidations++
	return u.Store.Invalidate(ctx, keys...)
}

// What the tier has taken is not taken away again because a copy of it could not
// be told.
func TestSet_staysInATierThatCouldNotTellCopies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 2, earlybird.Options[string]{}, someNetwork)
		u := &unburied{Store: f.tier.Client()}
		c, err := earlybird.New(f.load, earlybird.Options[string]{TTL: time.Minute, Store: u})
		require.NoError(t, err)
		defer func() {
			require.NoError(t, c.Close())
			require.NoError(t, u.Close())
		}()
		var pending *store.PendingError
		require.ErrorAs(t, c.Set(t.Context(), "k", "set"), &pending)
		require.Zero(t, u.invalidations)
		for _, cache := range []*earlybird.Cache[string]{c, f.caches[0]} {
			v, err := cache.Get(t.Context(), "k")
			require.NoError(t, err)
			require.Equal(t, "set", v)
		}
		require.Zero(t, f.loads.Load())
	})
}
