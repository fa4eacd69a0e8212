package earlybird_test

import (
	"context"
	"fmt"
	"iter"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird"
	"github.com/earlybird-cache/earlybird/bloom"
	"github.com/earlybird-cache/earlybird/internal/redistest"
)

// Once Created has returned, no guard of the fleet refuses the id, wherever it was
// created, and while the way of one instance to the server breaks and mends.
func TestFleetCreated_isRefusedNowhere(t *testing.T) {
	for name, cut := range map[string]func(*redistest.Server, *redistest.Proxy) (mend func()){
		"reconnect": func(_ *redistest.Server, p *redistest.Proxy) func() {
			p.Break()
			return func() {}
		},
		"deaf": func(_ *redistest.Server, p *redistest.Proxy) func() {
			p.Deafen(true)
			return func() { p.Deafen(false); p.Break() }
		},
		"black hole": func(_ *redistest.Server, p *redistest.Proxy) func() {
			p.BlackHole(true)
			return func() { p.BlackHole(false); p.Break() }
		},
		"killed": func(s *redistest.Server, _ *redistest.Proxy) func() {
			s.Kill()
			return s.Restart
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := redistest.Start(t)
			proxy := redistest.NewProxy(t, server.Addr)
			g := newGuarded(t, server.Addr, proxy.Addr)
			g.close(t)
			g.createEach(t, 3)
			mend := cut(server, proxy)
			g.create(t, 0)
			g.create(t, 1)
			mend()
			g.create(t, 1)
			g.create(t, 0)
			for _, c := range g.caches {
				eventually(t, func() error { return wellAgain(t, c, &g.created) })
			}
			g.close(t)
			g.createEach(t, 3)
		})
	}
}

// guarded are instances with guards, one for each address.
type guarded struct {
	*instances[string]
	db      rows
	guards  []*bloom.Guard
	created atomic.Int64
}

func newGuarded(t *testing.T, addrs ...string) *guarded {
	g := &guarded{}
	g.db.Store("k", "v")
	g.instances = start(t, 0, g.db.value, earlybird.Options[string]{}, brisk[string](addrs[0]))
	g.delay = time.Millisecond
	for _, addr := range addrs {
		guard, err := bloom.New(bloom.Options{})
		require.NoError(t, err)
		g.guards = append(g.guards, guard)
		g.join(t, earlybird.Options[string]{Guard: guard, Ramp: earlybird.Off}, brisk[string](addr))
	}
	return g
}

// close builds the guards until all of them refuse whom they do not know.
func (g *guarded) close(t *testing.T) {
	for i, c := range g.caches {
		eventually(t, func() error {
			before := c.Stats().Refused
			_, _ = c.Get(t.Context(), fmt.Sprint("nobody", g.created.Add(1)))
			if c.Stats().Refused > before {
				return nil
			}
			all := iter.Seq2[string, error](func(yield func(string, error) bool) {
				g.db.Range(func(key, _ any) bool { return yield(key.(string), nil) })
			})
			require.NoError(t, g.guards[i].Build(t.Context(), all))
			return fmt.Errorf("the guard of instance %d is open", i)
		})
	}
}

// create has instance i create an id, and sees that none refuses it if that instance
// says so, and that instance never.
func (g *guarded) create(t *testing.T, i int) {
	id := fmt.Sprint("id", g.created.Add(1))
	ctx, cancel := context.WithTimeout(t.Context(), 2500*time.Millisecond) // who is cut off takes one to be left out
	defer cancel()
	err := g.caches[i].Creating(ctx, []string{id}, func() error {
		g.db.Store(id, "v")
		return nil
	})
	g.db.Store(id, "v") // if it could not even be announced
	for j, c := range g.caches {
		if err == nil || j == i {
			require.Equal(t, "v", get(t, c, id), "created by instance %d, asked instance %d", i, j)
		}
	}
}

// createEach has each instance create some ids, which succeeds, if not at once on a
// machine that is busy.
func (g *guarded) createEach(t *testing.T, n int) {
	for k := range n * len(g.caches) {
		id := fmt.Sprint("id", g.created.Add(1))
		eventually(t, func() error {
			return g.caches[k%len(g.caches)].Creating(t.Context(), []string{id}, func() error {
				g.db.Store(id, "v")
				return nil
			})
		})
		for _, c := range g.caches {
			require.Equal(t, "v", get(t, c, id))
		}
	}
}
