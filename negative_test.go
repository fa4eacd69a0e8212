package earlybird

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

var errForbidden = errors.New("forbidden")

func TestGet_remembersNoErrorButAbsence(t *testing.T) {
	for name, failure := range map[string]error{
		"transient":           errors.New("db down"),
		"canceled":            context.Canceled,
		"deadline":            context.DeadlineExceeded,
		"wrapped deadline":    fmt.Errorf("query: %w", context.DeadlineExceeded),
		"another's not found": fs.ErrNotExist,
		"forbidden":           fmt.Errorf("row: %w", errForbidden),
		"overloaded":          ErrOverloaded,
		"closed":              ErrClosed,
		"malformed":           ErrMalformedKey,
		"timeout":             ErrLoadTimeout,
		"text of not found":   errors.New(ErrNotFound.Error()),
	} {
		t.Run(name, func(t *testing.T) {
			var calls atomic.Int64
			c := newTidy(t, func(_ context.Context, key string) (string, error) {
				if key == "k" && calls.Add(1) <= 3 {
					return "half a row", failure
				}
				return key, nil
			}, Options[string]{TTL: time.Minute, NegativeTTL: time.Minute})
			for range 3 {
				v, err := c.Get(t.Context(), "k")
				require.ErrorIs(t, err, failure)
				require.NotErrorIs(t, err, ErrNotFound)
				require.Empty(t, v, "an error brings no value")
				require.Equal(t, "other", mustGet(t, c, "other"))
			}
			require.Equal(t, "k", mustGet(t, c, "k"))
			require.EqualValues(t, 4, calls.Load())
			require.Zero(t, c.Stats().Negatives)
			require.Zero(t, c.Stats().Absent)
		})
	}
}

// isNotFound is an error type that declares itself an absence.
type isNotFound struct{}

func (isNotFound) Error() string        { return "no such row" }
func (isNotFound) Is(target error) bool { return target == ErrNotFound }

func TestGet_remembersAbsencesForNegativeTTL(t *testing.T) {
	for name, absence := range map[string]error{
		"plain":    ErrNotFound,
		"wrapped":  fmt.Errorf("user 7: %w", ErrNotFound),
		"joined":   errors.Join(errors.New("row"), ErrNotFound),
		"declared": isNotFound{},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var calls atomic.Int64
				opts := plain[string](time.Hour)
				opts.NegativeTTL = time.Minute
				c := newTidy(t, func(context.Context, string) (string, error) {
					calls.Add(1)
					return "", absence
				}, opts)
				absent := func(want int64) {
					t.Helper()
					_, err := c.Get(t.Context(), "k")
					require.ErrorIs(t, err, ErrNotFound)
					require.Equal(t, want, calls.Load())
				}
				absent(1)
				absent(1)
				time.Sleep(time.Minute - 1)
				absent(1)
				time.Sleep(1)
				absent(2)
				require.EqualValues(t, 2, c.Stats().NegativeHits)
				require.EqualValues(t, 2, c.Stats().Absent)
			})
		})
	}
}

func TestNegativeTTL_defaultsToHalfAMinuteAtMost(t *testing.T) {
	for ttl, want := range map[time.Duration]time.Duration{
		time.Hour:   30 * time.Second,
		time.Second: time.Second,
	} {
		synctest.Test(t, func(t *testing.T) {
			c := newTidy(t, func(context.Context, string) (string, error) { return "", ErrNotFound }, plain[string](ttl))
			read := func() uint64 {
				_, err := c.Get(t.Context(), "k")
				require.ErrorIs(t, err, ErrNotFound)
				return c.Stats().Loads
			}
			read()
			time.Sleep(want - 1)
			require.EqualValues(t, 1, read())
			time.Sleep(1)
			require.EqualValues(t, 2, read())
		})
	}
}

func TestNegatives_canBeOff(t *testing.T) {
	for name, opts := range map[string]Options[string]{
		"NegativeTTL":  {TTL: time.Minute, NegativeTTL: Off},
		"MaxNegatives": {TTL: time.Minute, MaxNegatives: Off},
	} {
		t.Run(name, func(t *testing.T) {
			c := newTidy(t, func(context.Context, string) (string, error) { return "", ErrNotFound }, opts)
			for i := range 3 {
				_, err := c.Get(t.Context(), "k")
				require.ErrorIs(t, err, ErrNotFound)
				require.EqualValues(t, i+1, c.Stats().Loads)
			}
			require.Zero(t, c.Stats().Negatives)
			require.EqualValues(t, 3, c.Stats().Episodes, "an answer ends the episode, kept or not")
		})
	}
}

func TestNegatives_andValuesHaveRoomsOfTheirOwn(t *testing.T) {
	const values, negatives = 200, 50
	c := newTidy(t, func(_ context.Context, key string) (string, error) {
		if key[0] == '-' {
			return "", ErrNotFound
		}
		return key, nil
	}, Options[string]{TTL: time.Hour, MaxEntries: values, MaxNegatives: negatives})
	for i := range 5000 {
		if i < values {
			mustGet(t, c, strconv.Itoa(i))
		}
		_, err := c.Get(t.Context(), "-"+strconv.Itoa(i))
		require.ErrorIs(t, err, ErrNotFound)
	}
	c.negatives.Settle()
	require.LessOrEqual(t, c.Stats().Negatives, negatives)
	require.Positive(t, c.Stats().Negatives)
	for i := range values {
		_, ok := c.Peek(strconv.Itoa(i))
		require.True(t, ok, "value %d", i)
	}

	before := c.Stats().Negatives
	for i := range 5000 {
		mustGet(t, c, strconv.Itoa(i))
	}
	require.Equal(t, before, c.Stats().Negatives)
}

func TestNegatives_areNeverRefreshedEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int64
		c := newTidy(t, func(context.Context, string) (string, error) {
			calls.Add(1)
			time.Sleep(time.Second)
			return "", ErrNotFound
		}, eager[string](time.Minute))
		for start := time.Now(); time.Since(start) < 30*time.Second; time.Sleep(time.Second) {
			_, err := c.Get(t.Context(), "k")
			require.ErrorIs(t, err, ErrNotFound)
		}
		require.EqualValues(t, 1, calls.Load())
	})
}

// A key is either there or not: what is learnt last replaces what was known.
func TestNegatives_giveWayToValuesAndBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		exists := false
		opts := plain[string](time.Minute)
		opts.NegativeTTL = time.Minute
		c := newTidy(t, func(context.Context, string) (string, error) {
			if !exists {
				return "", ErrNotFound
			}
			return "v", nil
		}, opts)
		for range 3 {
			exists = false
			_, err := c.Get(t.Context(), "k")
			require.ErrorIs(t, err, ErrNotFound)
			require.Equal(t, 1, c.Stats().Negatives)
			time.Sleep(time.Minute)
			exists = true
			require.Equal(t, "v", mustGet(t, c, "k"))
			require.Zero(t, c.Stats().Negatives)
			time.Sleep(time.Minute)
		}
	})
}
