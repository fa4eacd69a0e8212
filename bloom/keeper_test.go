package bloom

import (
	"context"
	"errors"
	"iter"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// kept runs a Keeper until the test ends. The source has as many ids as size
// says, or fails while that is negative.
func kept(t *testing.T, g *Guard, k Keeper, size *atomic.Int64) (builds *atomic.Int64) {
	builds = new(atomic.Int64)
	k.IDs = func(context.Context) iter.Seq2[string, error] {
		builds.Add(1)
		if n := size.Load(); n >= 0 {
			return numbered("product", int(n))
		}
		return failing(10, errReset)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := k.Run(ctx, g); err != context.Canceled {
			t.Errorf("Run returned %v", err)
		}
	})
	t.Cleanup(func() {
		cancel()
		wg.Wait()
	})
	return builds
}

func sized(n int64) *atomic.Int64 {
	size := new(atomic.Int64)
	size.Store(n)
	return size
}

func TestKeeper_buildsAtOnceAndEverySoOften(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGuard(t, Options{})
		builds := kept(t, g, Keeper{Every: time.Hour}, sized(1_000))
		time.Sleep(time.Nanosecond)
		require.Equal(t, Ready, g.Stats().State)
		time.Sleep(50 * time.Minute)
		require.EqualValues(t, 1, builds.Load(), "what was wanted before is not wanted any more")

		time.Sleep(20 * time.Hour)
		require.InDelta(t, 22, builds.Load(), 1, "each wait is up to a tenth shorter")
	})
}

func TestKeeper_growsTheGuardBeforeItSaturates(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGuard(t, Options{})
		size := sized(1_000)
		builds := kept(t, g, Keeper{Every: 100 * time.Minute}, size)
		time.Sleep(time.Minute)
		for range 100 { // 500 minutes
			for range 200 {
				g.Add(name("product", int(size.Add(1)-1)))
			}
			time.Sleep(5 * time.Minute)
			require.NotEqual(t, Saturated, g.Stats().State)
		}
		require.Less(t, builds.Load(), int64(500/10+1))
		require.Greater(t, g.Stats().Capacity, uint64(20_000/1.25))
	})
}

func TestKeeper_mendsADamagedGuardButNotInALoop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGuard(t, Options{})
		builds := kept(t, g, Keeper{Every: time.Hour}, sized(1_000))
		time.Sleep(time.Second)
		corrupt(g)
		require.Error(t, g.Check())
		time.Sleep(6*time.Minute - 2*time.Second)
		require.EqualValues(t, 1, builds.Load(), "a tenth of Every after the last")
		time.Sleep(2 * time.Second)
		require.EqualValues(t, 2, builds.Load())
		require.Equal(t, Ready, g.Stats().State)

		time.Sleep(30 * time.Minute)
		corrupt(g)
		time.Sleep(checkEvery)
		require.EqualValues(t, 3, builds.Load(), "its own check found it")
		require.Equal(t, Ready, g.Stats().State)
	})
}

func TestKeeper_triesAgainAfterAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGuard(t, Options{})
		size := sized(-1)
		var failures atomic.Int64
		builds := kept(t, g, Keeper{Every: time.Hour, OnError: func(err error) {
			failures.Add(1)
			if !errors.Is(err, errReset) {
				t.Errorf("told of %v", err)
			}
		}}, size)
		time.Sleep(time.Hour)
		require.InDelta(t, 11, builds.Load(), 1)
		require.Equal(t, builds.Load(), failures.Load())
		require.Equal(t, Unbuilt, g.Stats().State)
		size.Store(5)
		time.Sleep(6 * time.Minute)
		require.Equal(t, Ready, g.Stats().State)
	})
}

func TestKeeper_startsFromWhatWasLoaded(t *testing.T) {
	file := filepath.Join(t.TempDir(), "guard")
	synctest.Test(t, func(t *testing.T) {
		g := newGuard(t, Options{})
		kept(t, g, Keeper{Every: time.Hour, File: file}, sized(1_000))
		time.Sleep(30 * time.Minute)

		next := newGuard(t, Options{})
		_, err := next.LoadFile(t.Context(), file, nil)
		require.NoError(t, err)
		builds := kept(t, next, Keeper{Every: time.Hour}, sized(1_000))
		time.Sleep(20 * time.Minute)
		require.Zero(t, builds.Load())
		time.Sleep(10 * time.Minute)
		require.EqualValues(t, 1, builds.Load())
	})
}

func TestKeeper_namesTheOptionItRefuses(t *testing.T) {
	for field, k := range map[string]Keeper{
		"IDs":   {},
		"Every": {IDs: Source{}.IDs, Every: -1},
	} {
		var refused *OptionError
		require.ErrorAs(t, k.Run(t.Context(), newGuard(t, Options{})), &refused)
		require.Equal(t, field, refused.Field)
	}
	var refused *OptionError
	require.ErrorAs(t, newGuard(t, Options{}).Build(t.Context(), Source{}.IDs(t.Context())), &refused)
	require.Equal(t, "Open", refused.Field)
}

func TestKeeper_ofNoGuardWaitsForItsEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		require.ErrorIs(t, Keeper{}.Run(ctx, nil), context.DeadlineExceeded)
	})
}
