package ladder

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird"
)

var errOrigin = errors.New("origin is down")

// slow is an origin that takes a second, has every key but "absent", fails for
// "broken", and listens to its caller.
type slow struct{ calls int }

func (s *slow) load(ctx context.Context, key string) (product, error) {
	s.calls++
	select {
	case <-time.After(time.Second):
	case <-ctx.Done():
		return product{}, ctx.Err()
	}
	switch key {
	case "absent":
		return product{}, earlybird.ErrNotFound
	case "broken":
		return product{}, errOrigin
	}
	return product{Key: key}, nil
}

// reading runs f with a reader of the given kind over a slow origin.
func reading(t *testing.T, kind func(*cache, loader) reader, f func(t *testing.T, r reader, o *slow)) {
	synctest.Test(t, func(t *testing.T) {
		o := new(slow)
		c, err := earlybird.New(o.load, options{TTL: time.Hour, Now: time.Now})
		require.NoError(t, err)
		f(t, kind(c, o.load), o)
		require.NoError(t, c.Close())
	})
}

var cached = map[string]func(*cache, loader) reader{"aside": aside, "through": through}

func TestReader_nearNeitherWaitsNorLoads(t *testing.T) {
	for name, kind := range cached {
		t.Run(name, func(t *testing.T) {
			reading(t, kind, func(t *testing.T, r reader, o *slow) {
				start := time.Now()
				_, ok, _ := r.near("a")
				require.False(t, ok)
				synctest.Wait()
				require.Zero(t, o.calls)

				v, err := r.fetch(t.Context(), "a")
				require.NoError(t, err)
				require.Equal(t, product{Key: "a"}, v)
				require.Equal(t, time.Second, time.Since(start))

				v, ok, err = r.near("a")
				require.True(t, ok)
				require.NoError(t, err)
				require.Equal(t, product{Key: "a"}, v)
				require.Equal(t, 1, o.calls)
			})
		})
	}
}

func TestReader_failuresAreNotNear(t *testing.T) {
	for name, kind := range cached {
		t.Run(name, func(t *testing.T) {
			reading(t, kind, func(t *testing.T, r reader, o *slow) {
				_, err := r.fetch(t.Context(), "broken")
				require.ErrorIs(t, err, errOrigin)
				_, ok, _ := r.near("broken")
				require.False(t, ok)
			})
		})
	}
}

func TestThrough_rememberedAbsenceIsNear(t *testing.T) {
	reading(t, through, func(t *testing.T, r reader, o *slow) {
		_, err := r.fetch(t.Context(), "absent")
		require.ErrorIs(t, err, earlybird.ErrNotFound)
		_, ok, err := r.near("absent")
		require.True(t, ok)
		require.ErrorIs(t, err, earlybird.ErrNotFound)
	})
}

// The difference that decides the ladder: what happens to a load whose client left.
func TestReader_loadOfClientWhoLeft(t *testing.T) {
	for name, stored := range map[string]bool{"aside": false, "through": true} {
		t.Run(name, func(t *testing.T) {
			reading(t, cached[name], func(t *testing.T, r reader, o *slow) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
				defer cancel()
				_, err := r.fetch(ctx, "a")
				require.ErrorIs(t, err, context.DeadlineExceeded)
				time.Sleep(2 * time.Second)
				_, ok, _ := r.near("a")
				require.Equal(t, stored, ok)
			})
		})
	}
}

func TestDirect_everyReadIsACall(t *testing.T) {
	reading(t, direct, func(t *testing.T, r reader, o *slow) {
		for range 3 {
			_, ok, _ := r.near("a")
			require.False(t, ok)
			_, err := r.fetch(t.Context(), "a")
			require.NoError(t, err)
		}
		require.Equal(t, 3, o.calls)
	})
}
