package siege

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird"
	"github.com/earlybird-cache/earlybird/bloom"
	"github.com/earlybird-cache/earlybird/fuzz/archive"
)

func open(t testing.TB, d defence) *world {
	t.Helper()
	w, err := newWorld(small.archive, d)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, errors.Join(w.cache.Close(), w.fault)) })
	return w
}

func TestWorld_guardIsAsFullAsItWasDesignedFor(t *testing.T) {
	s := open(t, guarded).guard.Stats()
	require.Equal(t, bloom.Ready, s.State)
	require.InEpsilon(t, s.Capacity, s.IDs, 0.01)
	require.InEpsilon(t, guardRate, s.EstimatedRate, 0.1)
	require.False(t, s.WantsBuild)
}

func TestWorld_attackersSeeWhatReachesTheOrigin(t *testing.T) {
	w := open(t, unguarded)
	require.True(t, w.reaches("product:0"))
	require.False(t, w.reaches("product:0"), "it is remembered")
	require.False(t, w.reaches("product:00"))
	require.Equal(t, int64(1), w.origin.hostile.Load())

	_, err := w.get(context.Background(), "product:1000000")
	require.ErrorIs(t, err, earlybird.ErrNotFound)
	require.Equal(t, int64(1), w.origin.hostile.Load(), "good readers' calls are not theirs")
}

func TestWorld_deniedFindsWhatTheGuardForgot(t *testing.T) {
	w := open(t, guarded)
	require.Zero(t, w.denied())
	w.create("product:18446744073709551615")
	require.Zero(t, w.denied())

	ids := slices.Collect(w.archive.IDs())
	fresh, err := newGuard(w.archive)
	require.NoError(t, err)
	require.NoError(t, fresh.Build(t.Context(), source(ids[:len(ids)/10])))
	w.guard = fresh
	require.Greater(t, w.denied(), len(ids)/10)
	w.rebuild()
	require.Zero(t, w.denied())
}

func TestWorld_floodOfRecordsOpensTheGuardUntilTheNextBuild(t *testing.T) {
	w := open(t, guarded)
	for i := range 30_000 {
		w.create(archive.Product(1<<40 + uint64(i)))
	}
	require.Equal(t, bloom.Saturated, w.guard.Stats().State)
	require.Zero(t, w.denied())
	w.rebuild()
	require.Equal(t, bloom.Ready, w.guard.Stats().State)
	require.Zero(t, w.denied())
}

func TestIntrude_tellsRefusalsFromAnswers(t *testing.T) {
	w := open(t, guarded)
	tally := newTally(0)
	w.intrude(w.archive.Keys()[0], tally)
	w.intrude("product:00", tally)
	require.EqualValues(t, 1, tally.rejects.Load())
	require.Equal(t, []string{"product:00"}, tally.refused)
	require.Zero(t, tally.failed.Load()+tally.leaks.Load()+tally.strange.Load())

	lost := open(t, guarded)
	require.NoError(t, lost.guard.Build(t.Context(), source([]string{"nothing"})))
	lost.intrude(w.archive.Keys()[0], tally)
	require.EqualValues(t, 1, tally.failed.Load(), "also an attacker may read what exists")
	require.NoError(t, lost.cache.Set(t.Context(), "product:0", record{}))
	lost.intrude("product:0", tally)
	require.EqualValues(t, 1, tally.leaks.Load())
	require.NoError(t, lost.cache.Close())
	lost.intrude("product:3", tally)
	require.EqualValues(t, 1, tally.strange.Load())
}

func TestFeed_dealsAStreamOutInOrder(t *testing.T) {
	want := []string{"a", "b", "c", "d", "e", "f", "g"}
	f := newFeed(slices.Values(want))
	defer f.close()
	f.prime()
	var got []string
	r := f.ration(5)
	for portion := r.take(make([]string, 2)); len(portion) > 0; portion = r.take(make([]string, 2)) {
		got = append(got, portion...)
	}
	require.Equal(t, want[:5], got)
	require.Equal(t, want[5:], f.ration(2).take(make([]string, 10)))
	require.Empty(t, (*ration)(nil).take(make([]string, 10)))
}

func TestAdmit_readsBothRationsToTheEnd(t *testing.T) {
	w := open(t, guarded)
	for _, c := range [][2]int{{100, 400}, {100, 0}, {0, 100}, {100, 5}, {7, 3000}} {
		good, bad := newFeed(small.goodKeys()), newFeed(named(t, "spelling").Keys(w.target(), 1))
		tally := newTally(c[0])
		w.admit(good.ration(c[0]), bad.ration(c[1]), tally)
		require.EqualValues(t, c[0], tally.reads.Load())
		require.EqualValues(t, c[1], tally.rejects.Load())
		require.NotContains(t, tally.waits, 0)
		good.close()
		bad.close()
	}
}

// FuzzGet looks for a key that confuses the cache, whatever bytes it is made of: it is
// answered with its own record if there is one, and refused otherwise.
func FuzzGet(f *testing.F) {
	w := open(f, guarded)
	f.Add(w.archive.Keys()[0])
	f.Add(w.archive.Deleted()[0])
	for _, p := range Plans() {
		if strings.Contains(p.Name, "replay") || p.Name == "pollute" {
			continue // these take a while, and then ask for random ids
		}
		keys := newFeed(p.Keys(w.target(), 1))
		for _, key := range keys.ration(5).take(make([]string, 5)) {
			f.Add(key)
		}
		keys.close()
	}
	f.Fuzz(func(t *testing.T, key string) {
		r, err := w.get(context.Background(), key)
		exists := w.archive.Exists(key)
		switch {
		case exists && (err != nil || r.Value.key != key):
			t.Fatalf("%q: %v, %v", key, r.Value, err)
		case !exists && !errors.Is(err, earlybird.ErrNotFound) && !errors.Is(err, earlybird.ErrMalformedKey):
			t.Fatalf("%q is of nothing: %v, %v", key, r.Value, err)
		}
	})
}
