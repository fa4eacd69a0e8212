package earlybird

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestValidate_keepsBadValuesOutAndBacksOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bad := errors.New("corrupt")
		var calls atomic.Int64
		var fixed atomic.Bool
		opts := plain[string](time.Minute)
		opts.Validate = func(_, v string) error {
			if v == "bad" {
				return bad
			}
			return nil
		}
		c := newTidy(t, func(context.Context, string) (string, error) {
			calls.Add(1)
			if fixed.Load() {
				return "good", nil
			}
			return "bad", nil
		}, opts)
		// A thousand clients a second, for ten seconds.
		for range 10_000 {
			_, err := c.Get(t.Context(), "k")
			require.ErrorIs(t, err, bad)
			var ie *InvalidError
			require.ErrorAs(t, err, &ie)
			time.Sleep(time.Millisecond)
		}
		require.LessOrEqual(t, calls.Load(), int64(10))
		fixed.Store(true)
		n := c.negative("k", c.clock.now())
		time.Sleep(time.Duration(n.expiry - c.clock.now()))
		require.Equal(t, "good", mustGet(t, c, "k"))

		time.Sleep(2 * time.Minute)
		fixed.Store(false)
		_, err := c.Get(t.Context(), "k")
		require.ErrorIs(t, err, bad)
	})
}

func TestValidate_badRefreshKeepsTheGoodValue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int64
		opts := eager[string](time.Minute)
		opts.Validate = func(_, v string) error {
			if v == "bad" {
				return errors.New("corrupt")
			}
			return nil
		}
		c := newTidy(t, func(context.Context, string) (string, error) {
			time.Sleep(time.Second)
			if calls.Add(1) == 1 {
				return "good", nil
			}
			return "bad", nil
		}, opts)
		mustGet(t, c, "k")
		for range 58 {
			time.Sleep(time.Second)
			require.Equal(t, "good", mustGet(t, c, "k"))
		}
		require.Greater(t, calls.Load(), int64(1))
		require.NotZero(t, c.Stats().RefreshFailures)
	})
}

func TestValidate_mayCallAValueAbsent(t *testing.T) {
	opts := plain[string](time.Minute)
	opts.Validate = func(_, v string) error {
		if v == "tombstone" {
			return ErrNotFound
		}
		return nil
	}
	c := newTidy(t, func(context.Context, string) (string, error) { return "tombstone", nil }, opts)
	for range 2 {
		_, err := c.Get(t.Context(), "k")
		require.ErrorIs(t, err, ErrNotFound)
	}
	require.EqualValues(t, 1, c.Stats().NegativeHits)
}
