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

// overtaken is a tier that one Set reaches late: after another that began later.
type overtaken struct {
	store.Store[string]
	late string
}

func (o overtaken) Set(ctx context.Context, key string, r store.Record[string]) (store.Generation, error) {
	if r.Value == o.late {
		time.Sleep(20 * time.Millisecond)
	}
	return o.Store.Set(ctx, key, r)
}

// Of two Sets of one key that meet, the one that comes last to the tier counts,
// also in the memory of the cache in which it began first.
func TestSet_whatTheTierWasToldLastCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFleet(t, 2, earlybird.Options[string]{NearTTL: time.Hour}, someNetwork)
		c, err := earlybird.New(f.load, earlybird.Options[string]{
			TTL: time.Hour, NearTTL: time.Hour, Store: overtaken{f.clients[0], "first"},
		})
		require.NoError(t, err)
		set := make(chan error)
		go func() { set <- c.Set(t.Context(), "k", "first") }()
		time.Sleep(10 * time.Millisecond)
		require.NoError(t, c.Set(t.Context(), "k", "second"))
		require.NoError(t, <-set)
		for _, c := range []*earlybird.Cache[string]{f.caches[1], c} {
			v, err := c.Get(t.Context(), "k")
			require.NoError(t, err)
			require.Equal(t, "first", v)
		}
		require.NoError(t, c.Close())
	})
}
