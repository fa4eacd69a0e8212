package earlybird

import (
	"bytes"
	"context"
	"maps"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// kind is a type of value that is shared by assignment.
type kind[V any] struct {
	fresh func() V
	clone func(V) V
	spoil func(V)
}

var (
	byteSlices = kind[[]byte]{
		fresh: func() []byte { return []byte("origin") },
		clone: bytes.Clone,
		spoil: func(v []byte) { copy(v, "XXXXXX") },
	}
	plainMaps = kind[map[string]int]{
		fresh: func() map[string]int { return map[string]int{"a": 1, "b": 2} },
		clone: maps.Clone[map[string]int],
		spoil: func(v map[string]int) { v["a"]++; delete(v, "b") },
	}
	pointers = kind[*document]{
		fresh: newDocument,
		clone: func(d *document) *document {
			return &document{Body: bytes.Clone(d.Body), Tags: maps.Clone(d.Tags), Next: &document{Body: bytes.Clone(d.Next.Body)}}
		},
		spoil: func(d *document) { d.Body[0]++; d.Tags["lang"] = "de"; d.Next = nil },
	}
)

// With Clone whoever holds a value may do with it as he likes: the origin that
// made it, the readers by whatever way, those who share a load, the writer who
// set it, Revalidate. Under the race detector a value that two of them hold
// would show at once.
func TestClone_readersCannotTouchOneAnother(t *testing.T) {
	t.Run("slice", func(t *testing.T) { isolates(t, byteSlices) })
	t.Run("map", func(t *testing.T) { isolates(t, plainMaps) })
	t.Run("pointer", func(t *testing.T) { isolates(t, pointers) })
}

func isolates[V any](t *testing.T, k kind[V]) {
	t.Run("hits", func(t *testing.T) { isolatesHits(t, k) })
	t.Run("loads", func(t *testing.T) { isolatesLoads(t, k) })
	t.Run("stale", func(t *testing.T) { isolatesStale(t, k) })
	t.Run("revalidation", func(t *testing.T) { isolatesRevalidation(t, k) })
}

// eachWay reads key in every way there is, looks at what it got, and spoils it.
func eachWay[V any](t *testing.T, c *Cache[V], k kind[V], key string) {
	t.Helper()
	use := func(v V, err error) {
		t.Helper()
		if err != nil {
			t.Error(err)
			return
		}
		require.Equal(t, k.fresh(), v)
		k.spoil(v)
	}
	ctx := context.Background()
	use(c.Get(ctx, key))
	r, err := c.Lookup(ctx, key)
	use(r.Value, err)
	many, err := c.GetMany(ctx, []string{key})
	use(many[key], err)
	if r, ok := c.Peek(key); ok {
		use(r.Value, nil)
	}
}

func isolatesHits[V any](t *testing.T, k kind[V]) {
	mine := k.fresh()
	opts := plain[V](time.Hour)
	opts.Clone = k.clone
	c := newTidy(t, func(context.Context, string) (V, error) { return mine, nil }, opts)
	mustGet(t, c, "k")
	k.spoil(mine)
	together(32, func(int) {
		for range 20 {
			eachWay(t, c, k, "k")
		}
	})
	given := k.fresh()
	require.NoError(t, c.Set(t.Context(), "k", given))
	k.spoil(given)
	eachWay(t, c, k, "k")
}

// Those who wait for one load are each given their own, and so is the cache,
// while the loader goes on using the value it returned.
func isolatesLoads[V any](t *testing.T, k kind[V]) {
	synctest.Test(t, func(t *testing.T) {
		opts := plain[V](time.Hour)
		opts.Clone = k.clone
		opts.LoadMany = func(_ context.Context, keys []string) (map[string]V, error) {
			time.Sleep(time.Second)
			one := k.fresh() // and the same for all of them
			found := map[string]V{}
			for _, key := range keys {
				found[key] = one
			}
			return found, nil
		}
		c := newTidy(t, func(context.Context, string) (V, error) {
			time.Sleep(time.Second)
			return k.fresh(), nil
		}, opts)
		together(32, func(i int) {
			if i%2 == 0 {
				eachWay(t, c, k, "single")
				return
			}
			many, err := c.GetMany(context.Background(), []string{"a", "b", "c", "a"})
			if err != nil || len(many) != 3 {
				t.Error(many, err)
			}
			for _, v := range many {
				require.Equal(t, k.fresh(), v)
				k.spoil(v)
			}
		})
		eachWay(t, c, k, "single")
		eachWay(t, c, k, "a")
	})
}

func isolatesStale[V any](t *testing.T, k kind[V]) {
	synctest.Test(t, func(t *testing.T) {
		var down atomic.Bool
		opts := plain[V](time.Minute)
		opts.Clone = k.clone
		opts.StaleWhileRevalidate, opts.StaleIfError = time.Minute, time.Hour
		c := newTidy(t, func(context.Context, string) (V, error) {
			time.Sleep(time.Second)
			if down.Load() {
				return k.fresh(), errDown
			}
			return k.fresh(), nil
		}, opts)
		mustGet(t, c, "k")
		down.Store(true)
		for _, past := range []time.Duration{10 * time.Second, 30 * time.Second, 10 * time.Minute} {
			time.Sleep(past + time.Minute)
			together(32, func(int) { eachWay(t, c, k, "k") })
			require.Equal(t, Stale, mustLookup(t, c, "k").State)
		}
		synctest.Wait()
	})
}

func isolatesRevalidation[V any](t *testing.T, k kind[V]) {
	synctest.Test(t, func(t *testing.T) {
		opts := eager[V](time.Minute)
		opts.Clone = k.clone
		opts.Revalidate = func(_ context.Context, _ string, old V) (V, error) {
			k.spoil(old)
			time.Sleep(time.Second)
			return old, ErrNotModified
		}
		c := newTidy(t, func(context.Context, string) (V, error) {
			time.Sleep(time.Second)
			return k.fresh(), nil
		}, opts)
		eachWay(t, c, k, "k")
		for range 5 {
			time.Sleep(50 * time.Second)
			together(32, func(int) { eachWay(t, c, k, "k") })
			time.Sleep(2 * time.Second)
		}
		require.Positive(t, c.Stats().Refreshes)
	})
}
