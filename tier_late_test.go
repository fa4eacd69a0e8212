package earlybird_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird"
)

// Ways in which what another cache has changed could be told for longer than
// NearTTL. The model test has found them.

func TestTier_asksAboutWhatHasExpired(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 2, earlybird.Options[string]{
			TTL: time.Second, NearTTL: 100 * time.Millisecond, StaleWhileRevalidate: time.Minute,
		}, someNetwork)
		a, b := f.caches[0], f.caches[1]
		_, err := b.Get(t.Context(), "k")
		require.NoError(t, err)
		require.NoError(t, a.Set(t.Context(), "k", "v2"))
		time.Sleep(1500 * time.Millisecond)
		r, err := b.Lookup(t.Context(), "k")
		require.NoError(t, err)
		require.Equal(t, "v2", r.Value)
		require.Equal(t, earlybird.Stale, r.State)
		require.Zero(t, f.loads.Load()-1, "nobody waited for a load")
	})
}

func TestTier_asksAboutWhatStandsInForAFailedLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 2, earlybird.Options[string]{
			TTL: time.Second, Jitter: earlybird.Off, NearTTL: 100 * time.Millisecond, StaleIfError: time.Minute,
			Rand: func() float64 { return 0.001 }, // every draw wins a little before the end
		}, someNetwork)
		a, b := f.caches[0], f.caches[1]
		lookup := func() (earlybird.Result[string], error) { return b.Lookup(t.Context(), "k") }
		_, err := lookup()
		require.NoError(t, err)
		time.Sleep(850 * time.Millisecond)
		_, err = lookup() // the tier has just been asked
		require.NoError(t, err)
		f.delay = 300 * time.Millisecond
		f.breakOrigin(errors.New("down"))
		time.Sleep(60 * time.Millisecond)
		r, err := lookup()
		require.NoError(t, err)
		require.Equal(t, earlybird.Early, r.State)
		time.Sleep(10 * time.Millisecond)
		require.NoError(t, a.Invalidate(t.Context(), "k"))
		time.Sleep(200 * time.Millisecond)
		_, err = lookup()
		require.EqualError(t, err, "down", "it joined the refresh")
	})
}

func TestTier_asksAboutAbsencesAfterAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 2, earlybird.Options[string]{NearTTL: time.Hour, NegativeTTL: time.Hour, TTL: time.Hour}, someNetwork)
		a, b := f.caches[0], f.caches[1]
		f.delay = 700 * time.Millisecond
		f.tier.Cut(1)
		for range 2 {
			_, err := b.Get(t.Context(), "new")
			require.ErrorIs(t, err, earlybird.ErrNotFound)
		}
		require.EqualValues(t, 1, f.loads.Load(), "it is remembered meanwhile")
		f.tier.Heal()
		f.write("new", "n1")
		require.NoError(t, a.Invalidate(t.Context(), "new"))
		time.Sleep(400 * time.Millisecond)
		require.NoError(t, b.Invalidate(t.Context(), "k"))
		require.False(t, b.Stats().TierDown)
		v, err := b.Get(t.Context(), "new")
		require.NoError(t, err)
		require.Equal(t, "n1", v)
	})
}

func TestTier_aLongLoadDoesNotAnswerThoseWhoComeLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 2, earlybird.Options[string]{NearTTL: 100 * time.Millisecond}, someNetwork)
		f.delay = time.Second
		a, b := f.caches[0], f.caches[1]
		early := make(chan string)
		go func() {
			v, _ := b.Get(t.Context(), "k")
			early <- v
		}()
		time.Sleep(50 * time.Millisecond)
		f.write("k", "v2")
		require.NoError(t, a.Invalidate(t.Context(), "k"))
		time.Sleep(200 * time.Millisecond)
		v, err := b.Get(t.Context(), "k")
		require.NoError(t, err)
		require.Equal(t, "v2", v)
		require.Equal(t, "v1", <-early, "who waited already is answered")
	})
}

func TestTier_whatWasSetInAnOutageGivesWayAfterIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 2, earlybird.Options[string]{NearTTL: 50 * time.Millisecond}, someNetwork)
		a, b := f.caches[0], f.caches[1]
		f.tier.Cut(1)
		require.Error(t, b.Set(t.Context(), "k", "v2"))
		v, err := b.Get(t.Context(), "k")
		require.NoError(t, err)
		require.Equal(t, "v2", v)
		require.NoError(t, a.Set(t.Context(), "k", "v3"))
		f.write("k", "v3")
		f.tier.Heal()
		time.Sleep(60 * time.Millisecond)
		require.NotZero(t, b.Stats().Store.Pending, "the tier is yet to forget what was before")
		v, err = b.Get(t.Context(), "k")
		require.NoError(t, err)
		require.Equal(t, "v3", v)
	})
}

func TestTier_closeSendsNobodyToTheOrigin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 2, earlybird.Options[string]{}, someNetwork)
		f.delay = time.Second
		a, b := f.caches[0], f.caches[1]
		go a.Get(t.Context(), "k")
		time.Sleep(100 * time.Millisecond)
		failed := make(chan error, 20)
		for range cap(failed) {
			go func() {
				_, err := b.Get(t.Context(), "k")
				failed <- err
			}()
		}
		time.Sleep(100 * time.Millisecond)
		require.NoError(t, b.Close())
		for range cap(failed) {
			require.ErrorIs(t, <-failed, earlybird.ErrClosed)
		}
		require.EqualValues(t, 1, f.loads.Load())
	})
}
