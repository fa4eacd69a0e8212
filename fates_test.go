package earlybird

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// shards is an origin of three rows, of which one exists, one does not, and one
// is on a shard that is down. calls counts the times each was asked for.
type shards struct {
	down  error
	calls [3]atomic.Int64
}

var shardKeys = []string{"2", "21", "30"}

func (s *shards) one(_ context.Context, key string) (string, error) {
	switch key {
	case "2":
		s.calls[0].Add(1)
		return "two", nil
	case "21":
		s.calls[1].Add(1)
		return "", fmt.Errorf("row 21: %w", ErrNotFound)
	}
	s.calls[2].Add(1)
	return "", s.down
}

// many answers with a map and an error for what is not in it.
func (s *shards) many(ctx context.Context, keys []string) (map[string]string, error) {
	found, failed := map[string]string{}, map[string]error{}
	for _, key := range keys {
		if v, err := s.one(ctx, key); err != nil {
			failed[key] = err
		} else {
			found[key] = v
		}
	}
	return found, fmt.Errorf("batch: %w", &ManyError{Errors: failed})
}

// One bad row costs the others nothing, with LoadMany as without, whatever is
// wrong with it: the value is kept, the absence is remembered, the error is not.
func TestGetMany_oneBadRowCostsTheOthersNothing(t *testing.T) {
	for name, down := range map[string]error{
		"transient": errDown,
		"canceled":  context.Canceled,
		"deadline":  fmt.Errorf("query: %w", context.DeadlineExceeded),
		"overload":  ErrOverloaded,
	} {
		for _, batch := range []bool{false, true} {
			t.Run(fmt.Sprint(name, ", LoadMany ", batch), func(t *testing.T) {
				origin := &shards{down: down}
				opts := plain[string](time.Hour)
				opts.NegativeTTL = time.Hour
				if batch {
					opts.LoadMany = origin.many
				}
				c := newTidy(t, origin.one, opts)
				for range 3 {
					found, err := c.GetMany(t.Context(), shardKeys)
					require.Equal(t, map[string]string{"2": "two"}, found)
					each := err.(*ManyError).Errors
					require.Len(t, each, 2)
					require.ErrorIs(t, each["21"], ErrNotFound)
					require.ErrorIs(t, each["30"], down)
					require.NotErrorIs(t, each["30"], ErrNotFound)
				}
				require.Equal(t, "two", mustGet(t, c, "2"))
				_, err := c.Get(t.Context(), "21")
				require.ErrorIs(t, err, ErrNotFound)
				_, err = c.Get(t.Context(), "30")
				require.ErrorIs(t, err, down)
				require.EqualValues(t, 1, origin.calls[0].Load())
				require.EqualValues(t, 1, origin.calls[1].Load())
				require.EqualValues(t, 4, origin.calls[2].Load(), "each time: its error is not kept")
			})
		}
	}
}

// A batch that fails as a whole brings what it has; the rest have its error and
// are not taken for absent.
func TestGetMany_batchThatFailsMidwayKeepsWhatItHas(t *testing.T) {
	failing := true
	opts := plain[string](time.Hour)
	opts.LoadMany = func(_ context.Context, keys []string) (map[string]string, error) {
		if failing {
			return map[string]string{"a": "a"}, errDown
		}
		return map[string]string{"b": "b"}, nil
	}
	c := newTidy(t, echo(0), opts)
	found, err := c.GetMany(t.Context(), []string{"a", "b", "c"})
	require.Equal(t, map[string]string{"a": "a"}, found)
	require.Equal(t, map[string]error{"b": errDown, "c": errDown}, err.(*ManyError).Errors)
	require.Zero(t, c.Stats().Negatives)
	failing = false
	found, err = c.GetMany(t.Context(), []string{"a", "b", "c"})
	require.Equal(t, map[string]string{"a": "a", "b": "b"}, found)
	require.ErrorIs(t, err.(*ManyError).Errors["c"], ErrNotFound)
}

// Whoever leads a batch may leave it: those who joined are served by it, and it
// is stored.
func TestGetMany_leaderLeavingHarmsNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		opts := plain[string](time.Hour)
		var batches atomic.Int64
		opts.LoadMany = func(ctx context.Context, keys []string) (map[string]string, error) {
			batches.Add(1)
			select {
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-time.After(200 * time.Millisecond):
			}
			found := map[string]string{}
			for _, key := range keys {
				found[key] = key
			}
			return found, nil
		}
		c := newTidy(t, polite(200*time.Millisecond), opts)
		keys := []string{"a", "b", "c"}
		go func() {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
			defer cancel()
			_, err := c.GetMany(ctx, keys)
			for _, key := range keys {
				if !errors.Is(err.(*ManyError).Errors[key], context.DeadlineExceeded) {
					t.Error(err)
				}
			}
		}()
		time.Sleep(5 * time.Millisecond)
		start := time.Now()
		together(50, func(i int) {
			v, err := c.Get(context.Background(), keys[i%3])
			found, manyErr := c.GetMany(context.Background(), keys)
			if v != keys[i%3] || err != nil || manyErr != nil || len(found) != 3 {
				t.Error(v, err, found, manyErr)
			}
		})
		require.Equal(t, 195*time.Millisecond, time.Since(start))
		require.EqualValues(t, 1, batches.Load())
		require.EqualValues(t, 1, c.Stats().Loads)
	})
}
