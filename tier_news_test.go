package earlybird_test

import (
	"context"
	"fmt"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird"
	"github.com/earlybird-cache/earlybird/bloom"
	"github.com/earlybird-cache/earlybird/storetest"
)

// guardedFleet are caches over one tier, each with a guard of its own.
type guardedFleet struct {
	*fleet
	guards []*bloom.Guard
}

func newGuardedFleet(t *testing.T, n int) *guardedFleet {
	g := &guardedFleet{fleet: &fleet{
		tier:  storetest.NewMemory(someNetwork),
		rows:  map[string]string{"k": "v1"},
		delay: 20 * time.Millisecond,
	}}
	for range n {
		guard, err := bloom.New(bloom.Options{})
		require.NoError(t, err)
		client := g.tier.Client()
		c, err := earlybird.New(g.load, earlybird.Options[string]{TTL: time.Minute, Store: client, Guard: guard})
		require.NoError(t, err)
		g.clients, g.caches, g.guards = append(g.clients, client), append(g.caches, c), append(g.guards, guard)
		t.Cleanup(func() {
			require.NoError(t, c.Close())
			require.NoError(t, client.Close())
		})
	}
	return g
}

func (g *guardedFleet) build(t *testing.T, i int) {
	require.NoError(t, g.guards[i].Build(t.Context(), iter.Seq2[string, error](func(yield func(string, error) bool) { yield("k", nil) })))
}

func (g *guardedFleet) refused(t *testing.T, i int, key string) bool {
	before := g.caches[i].Stats().Refused
	_, _ = g.caches[i].Get(t.Context(), key)
	return g.caches[i].Stats().Refused > before
}

func TestCreated_isKnownToAllCaches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGuardedFleet(t, 3)
		time.Sleep(5 * time.Second)
		require.False(t, g.refused(t, 1, "nobody"), "it has not asked for the ids since it listens")
		for i := range g.guards {
			g.build(t, i)
		}
		time.Sleep(5 * time.Second)
		require.True(t, g.refused(t, 1, "nobody"))

		for i := range 50 {
			id := fmt.Sprint("new", i)
			require.NoError(t, g.caches[i%3].Creating(t.Context(), []string{id}, func() error {
				for j := range g.caches {
					require.False(t, g.refused(t, j, id), "before the commit already")
				}
				g.write(id, "v")
				return nil
			}))
			for j := range g.caches {
				v, err := g.caches[j].Get(t.Context(), id)
				require.NoError(t, err)
				require.Equal(t, "v", v)
			}
		}
		require.True(t, g.refused(t, 2, "nobody"), "the guards are still closed to others")
	})
}

// Whoever can not be told does not refuse.
func TestCreated_whoIsCutOffRefusesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGuardedFleet(t, 2)
		time.Sleep(5 * time.Second)
		g.build(t, 0)
		g.build(t, 1)
		time.Sleep(5 * time.Second)
		require.True(t, g.refused(t, 1, "nobody"))

		g.tier.Cut(1)
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		g.write("new", "v")
		require.NoError(t, g.caches[0].Created(ctx, "new"))
		v, err := g.caches[1].Get(t.Context(), "new")
		require.NoError(t, err)
		require.Equal(t, "v", v)
		require.True(t, g.caches[1].Stats().Deaf)

		g.tier.Heal()
		time.Sleep(10 * time.Second)
		require.False(t, g.caches[1].Stats().Deaf)
		require.False(t, g.refused(t, 1, "new"))
	})
}
