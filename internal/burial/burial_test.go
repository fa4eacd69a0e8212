package burial

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird/store"
)

// graveyard fails until it is told not to, and remembers what it was asked.
type graveyard struct {
	reachable atomic.Bool
	while     func() // called during each Bury

	mu  sync.Mutex
	all []Split
}

func (g *graveyard) asked() []Split {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.all)
}

func (g *graveyard) bury(_ context.Context, splits []Split) (failed []string) {
	g.mu.Lock()
	g.all = append(g.all, splits...)
	g.mu.Unlock()
	if g.while != nil {
		g.while()
	}
	if g.reachable.Load() {
		return nil
	}
	for _, s := range splits {
		failed = append(failed, s.Key)
	}
	return failed
}

func play(t *testing.T, f func(g *graveyard, d *Debts)) {
	synctest.Test(t, func(*testing.T) {
		g := &graveyard{}
		d := New(Options{Bury: g.bury, Bound: 2, Batch: 10})
		defer d.Close()
		f(g, d)
	})
}

func TestDebts_areTriedUntilTheyArePaid(t *testing.T) {
	play(t, func(g *graveyard, d *Debts) {
		owed := Split{Key: "k", Generation: 7, Of: []int{3}}
		require.Empty(t, d.Add([]Split{owed}))
		require.True(t, d.Has("k"))
		require.False(t, d.Has("other"))
		time.Sleep(2 * time.Second)
		synctest.Wait()
		require.True(t, d.Has("k"))
		require.Greater(t, len(g.asked()), 1)
		require.Equal(t, owed, g.asked()[0])
		g.reachable.Store(true)
		time.Sleep(time.Second)
		synctest.Wait()
		require.False(t, d.Has("k"))
		require.Empty(t, d.of)
		tries := len(g.asked())
		time.Sleep(time.Minute)
		require.Len(t, g.asked(), tries)
	})
}

// A copy that was never told has ended by then.
func TestDebts_endWithTheCopies(t *testing.T) {
	play(t, func(g *graveyard, d *Debts) {
		d.Add([]Split{{Key: "k", Generation: 7, Of: []int{3}}})
		time.Sleep(store.CopyLife)
		require.True(t, d.Has("k"))
		time.Sleep(2 * store.CopyLife)
		synctest.Wait()
		require.False(t, d.Has("k"))
		require.Empty(t, d.of)
	})
}

func TestDebts_theLatestChangeCounts(t *testing.T) {
	play(t, func(g *graveyard, d *Debts) {
		g.reachable.Store(true)
		again := true
		g.while = func() { // it is changed once more while that is being told
			if again {
				again = false
				d.Add([]Split{{Key: "k", Generation: 10, Of: []int{5}}})
			}
		}
		d.Add([]Split{{Key: "k", Generation: 7, Of: []int{3}}})
		d.Add([]Split{{Key: "k", Generation: 9, Of: []int{2, 3}}})
		d.Add([]Split{{Key: "k", Generation: 8, Of: []int{3}}})
		time.Sleep(3 * time.Second)
		synctest.Wait()
		require.Equal(t, []store.Generation{9, 10}, []store.Generation{g.asked()[0].Generation, g.asked()[1].Generation})
		require.Len(t, g.asked(), 2)
		require.False(t, d.Has("k"))
	})
}

func TestDebts_haveABound(t *testing.T) {
	play(t, func(_ *graveyard, d *Debts) {
		lost := d.Add([]Split{{Key: "a", Generation: 1}, {Key: "b", Generation: 1}, {Key: "c", Generation: 1}})
		require.Equal(t, []string{"c"}, lost)
		require.Len(t, d.of, 2)
		waiting, _, givenUp := d.Counts()
		require.Equal(t, 2, waiting)
		require.EqualValues(t, 1, givenUp)
	})
}
