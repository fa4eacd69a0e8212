package earlybird_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird"
	"github.com/earlybird-cache/earlybird/bloom"
	"github.com/earlybird-cache/earlybird/internal/redistest"
	"github.com/earlybird-cache/earlybird/redisstore"
)

// A snapshot travels through a real server, with all that was told since.
func TestFleet_newInstanceBeginsWithTheGuardOfOthers(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	f := start(t, 0, named, earlybird.Options[string]{}, redisstore.Options[string]{})
	join := func() (*earlybird.Cache[string], *bloom.Guard) {
		guard, err := bloom.New(bloom.Options{Name: "ids", Expected: 200_000}) // some parts
		require.NoError(t, err)
		return f.join(t, earlybird.Options[string]{Guard: guard}, patient[string](server.Addr)), guard
	}
	refuses := func(c *earlybird.Cache[string], key string) bool {
		before := c.Stats().Refused
		_, _ = c.Get(t.Context(), key)
		return c.Stats().Refused > before
	}
	first, guard := join()
	require.NoError(t, guard.Build(t.Context(), iter.Seq2[string, error](func(yield func(string, error) bool) {
		for i := range 1000 {
			if !yield(strconv.Itoa(i), nil) {
				return
			}
		}
	})))
	require.Equal(t, bloom.Ready, guard.Stats().State, "the build has waited until it was told everything")
	eventually(t, func() error {
		if first.Stats().GuardSaves == 0 {
			return errors.New("it leaves no snapshot")
		}
		return nil
	})
	for i := range 50 {
		require.NoError(t, first.Created(t.Context(), "new"+strconv.Itoa(i)))
	}

	second, copied := join()
	eventually(t, func() error { // the load is counted when it is over, a moment after the guard is ready
		if s := second.Stats(); s.Guard.State != bloom.Ready || s.Deaf || s.GuardLoads != 1 {
			return fmt.Errorf("%v, deaf %v, %d snapshots loaded", s.Guard.State, s.Deaf, s.GuardLoads)
		}
		return nil
	})
	require.True(t, refuses(second, "nobody"))
	require.Equal(t, guard.Stats().KeyID, copied.Stats().KeyID)
	for i := range 50 {
		require.False(t, refuses(second, "new"+strconv.Itoa(i)))
	}
	for i := range 1000 {
		require.False(t, refuses(second, strconv.Itoa(i)))
	}

	// What is created while others begin is refused by none of them.
	var newest atomic.Pointer[earlybird.Cache[string]]
	newest.Store(second)
	ctx, stop := context.WithCancel(t.Context())
	var creator sync.WaitGroup
	creator.Go(func() {
		for i := 0; ctx.Err() == nil; i++ {
			id := "newer" + strconv.Itoa(i)
			if first.Created(ctx, id) == nil && refuses(newest.Load(), id) {
				t.Errorf("%s is refused", id)
			}
		}
	})
	for range 3 {
		third, _ := join()
		newest.Store(third)
		eventually(t, func() error {
			if s := third.Stats().Guard.State; s != bloom.Ready {
				return fmt.Errorf("the guard is %v", s)
			}
			return nil
		})
		time.Sleep(20 * time.Millisecond)
	}
	stop()
	creator.Wait()
	require.Empty(t, f.told())
}
