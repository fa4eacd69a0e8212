package storetest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird/store"
)

// copies are the promises of a store.Splitter, kept by stores that are one.
var copies = []promise{
	{"CopiesHoldWhatTheBaseHolds", copiesHoldTheBase, anyLease},
	{"CopiesOfOtherNumbersAreOthers", copiesOfOtherNumbers, anyLease},
	{"CopiesOfNothing", copiesOfNothing, anyLease},
	{"CopiesAreOutOfReach", copiesAreOutOfReach, anyLease},
	{"CopiesAreCopies", copiesAreCopies, anyLease},
	{"CopiesLearnOfInvalidate", func(x *tier) {
		x.reachesCopies(func(key string) error { return x.b.Invalidate(x.Context(), "other", key) })
	}, anyLease},
	{"CopiesLearnOfInvalidateAll", func(x *tier) {
		x.reachesCopies(func(string) error { return x.b.InvalidateAll(x.Context()) })
	}, anyLease},
	{"CopiesLearnOfSet", func(x *tier) {
		x.reachesCopies(func(key string) error { _, err := x.b.Set(x.Context(), key, valueOf("new")); return err })
	}, anyLease},
	{"CopiesTakeWhatIsNewerAtOnce", copiesTakeTheNewer, anyLease},
	{"CopiesAreRenewed", copiesAreRenewed, anyLease},
	{"CopiesEndByThemselves", copiesEnd, anyLease},
	{"CopiesEndWithTheBase", copiesEndWithTheBase, anyLease},
	{"CopiesThatAreNotThere", copiesNotThere, anyLease},
	{"CopiesNoticeContextsAndClose", copiesNoticeEnds, anyLease},
	{"CopiesShowNobodyWhatWasBeforeAChange", copiesNeverShowThePast, anyLease},
}

// splitter is s as a store.Splitter. A store that is none makes no promise about
// copies.
func (x *tier) splitter(s store.Store[*Item]) store.Splitter[*Item] {
	x.Helper()
	sp, ok := s.(store.Splitter[*Item])
	if !ok {
		x.Skip("keeps no copies")
	}
	return sp
}

func (x *tier) copy(s store.Store[*Item], key string, i, n int) store.Copy[*Item] {
	x.Helper()
	c, err := x.splitter(s).GetCopy(x.Context(), key, i, n)
	require.NoError(x, err)
	return c
}

// spread loads r and makes n of it.
func (x *tier) spread(s store.Store[*Item], key string, n int, r store.Record[*Item]) {
	x.Helper()
	x.splitter(s)
	x.load(s, key, r)
	require.NoError(x, x.splitter(s).Spread(x.Context(), key, n))
}

func copiesHoldTheBase(x *tier) {
	whole := store.Record[*Item]{
		Kind: store.Value, Value: &Item{Text: "text \x00\xff", Tags: []string{"", "b"}},
		Life: long + 7, Grace: 10*time.Second + 3, Delta: 123456789, Cost: 1,
	}
	for name, r := range map[string]store.Record[*Item]{
		"whole":  whole,
		"nil":    {Kind: store.Value, Life: long},
		"absent": {Kind: store.Absent, Life: long, Cost: 5},
		"large":  valueOf(rough(100_000)),
	} {
		for _, n := range []int{2, 3, 5, store.MostCopies} {
			x.spread(x.a, fmt.Sprint(name, n), n, r)
			base := x.get(x.b, fmt.Sprint(name, n))
			for i := range n {
				c := x.copy(x.b, fmt.Sprint(name, n), i, n)
				require.LessOrEqual(x, c.Left, base.Left+time.Second) // what a message may take
				require.GreaterOrEqual(x, c.Left, base.Left-10*time.Second)
				c.Left = base.Left
				require.Equal(x, base, c.Record, "copy %d of %d", i, n)
			}
		}
	}
	require.Positive(x, x.b.Stats().CopiesFound)
	require.Positive(x, x.b.Stats().Copies.Done)
	require.EqualValues(x, 16, x.a.Stats().Spreads.Done)
}

func copiesOfOtherNumbers(x *tier) {
	x.spread(x.a, "k", 4, valueOf("v"))
	require.Equal(x, store.Missing, x.copy(x.a, "k", 1, 2).Kind)
	require.Equal(x, store.Missing, x.copy(x.a, "k", 2, 3).Kind)
	require.NoError(x, x.splitter(x.b).Spread(x.Context(), "k", 2))
	require.NoError(x, x.b.Invalidate(x.Context(), "k"))
	require.Equal(x, store.Missing, x.copy(x.a, "k", 1, 2).Kind)
	require.Equal(x, store.Missing, x.copy(x.a, "k", 1, 4).Kind, "a change reaches those of every number")
}

func copiesOfNothing(x *tier) {
	c := x.copy(x.a, "k", 1, 3)
	require.Equal(x, store.Missing, c.Kind)
	require.Zero(x, c.Generation)
	require.True(x, c.Due)
	require.NoError(x, x.splitter(x.a).Spread(x.Context(), "k", 3))
	require.Equal(x, store.Missing, x.copy(x.a, "k", 1, 3).Kind)
	x.grant(x.a, "k", 0, long)
	require.NoError(x, x.splitter(x.a).Spread(x.Context(), "k", 3), "a lease is nothing yet")
	require.Equal(x, store.Missing, x.copy(x.a, "k", 1, 3).Kind)
	require.NoError(x, x.a.Invalidate(x.Context(), "k"))
	require.NoError(x, x.splitter(x.a).Spread(x.Context(), "k", 3), "nor is a tombstone")
	require.Equal(x, store.Missing, x.copy(x.a, "k", 1, 3).Kind)
}

// No key of a user's is a copy of another.
func copiesAreOutOfReach(x *tier) {
	keys := []string{"", "k", "k#1", "k@2", "r1:k", "k:1", "1/2", "{k}", "{k}1", "}", "}k", "{", "{}k", "\x00"}
	for i, key := range keys {
		x.load(x.a, key, valueOf(fmt.Sprint(i)))
		for _, n := range []int{2, 3, 12} {
			require.NoError(x, x.splitter(x.a).Spread(x.Context(), key, n))
		}
	}
	for j, key := range keys {
		for i, key := range keys[j:] {
			require.Equal(x, fmt.Sprint(i+j), x.get(x.b, key).Value.Text, "%q", key)
			for _, n := range []int{2, 3, 12} {
				if c := x.copy(x.b, key, n-1, n); c.Kind == store.Value { // or it has ended by now
					require.Equal(x, fmt.Sprint(i+j), c.Value.Text, "%q", key)
				}
			}
		}
		require.NoError(x, x.b.Invalidate(x.Context(), key))
		require.Equal(x, store.Missing, x.copy(x.a, key, 1, 2).Kind, "%q", key)
	}
}

func copiesAreCopies(x *tier) {
	x.spread(x.a, "k", 2, store.Record[*Item]{Kind: store.Value, Value: &Item{Tags: []string{"original"}}, Life: long})
	for range 2 {
		for i := range 2 {
			c := x.copy(x.a, "k", i, 2)
			require.Equal(x, "original", c.Value.Tags[0])
			c.Value.Tags[0] = "changed"
		}
	}
}

// reachesCopies changes a key for which its changer has never seen copies.
func (x *tier) reachesCopies(change func(key string) error) {
	x.Helper()
	x.splitter(x.a)
	for _, n := range []int{2, 3, 7} {
		key := fmt.Sprint("k", n)
		x.spread(x.a, key, n, valueOf("old"))
		old := x.get(x.a, key).Generation
		require.NoError(x, change(key))
		for i := 1; i < n; i++ {
			c := x.copy(x.a, key, i, n)
			require.Equal(x, store.Missing, c.Kind, "copy %d of %d", i, n)
			require.Greater(x, c.Generation, old, "copies that lie elsewhere are void")
		}
	}
	require.Zero(x, x.b.Stats().Pending)
}

func copiesTakeTheNewer(x *tier) {
	x.spread(x.a, "k", 3, valueOf("one"))
	l := x.grant(x.b, "k", x.get(x.b, "k").Generation, long)
	require.NoError(x, x.b.Publish(x.Context(), l, valueOf("two")))
	if c := x.copy(x.a, "k", 1, 3); c.Kind == store.Value {
		require.Equal(x, "one", c.Value.Text, "a Publish leaves copies as they are")
	}
	for i, v := range []string{"two", "three"} {
		if i > 0 {
			_, err := x.b.Set(x.Context(), "k", valueOf(v))
			require.NoError(x, err)
		}
		require.NoError(x, x.splitter(x.b).Spread(x.Context(), "k", 3))
		for i := 1; i < 3; i++ {
			require.Equal(x, v, x.copy(x.a, "k", i, 3).Value.Text)
		}
	}
}

func copiesAreRenewed(x *tier) {
	x.spread(x.a, "k", 3, valueOf("v"))
	for range 2 {
		x.eventually(func() bool { return x.copy(x.b, "k", 1, 3).Due }, "a copy must become due")
		require.NoError(x, x.splitter(x.b).Spread(x.Context(), "k", 3))
		c := x.copy(x.a, "k", 1, 3)
		require.Equal(x, "v", c.Value.Text)
		require.False(x, c.Due)
		require.Equal(x, x.get(x.a, "k").Generation, c.Generation)
	}
}

func copiesEnd(x *tier) {
	x.spread(x.a, "k", 3, valueOf("v"))
	spread := time.Now()
	x.eventually(func() bool { return x.copy(x.b, "k", 2, 3).Kind == store.Missing }, "a copy must end")
	require.Greater(x, time.Since(spread), store.CopyLife/4)
	require.True(x, x.copy(x.b, "k", 2, 3).Due)
	require.Equal(x, "v", x.get(x.b, "k").Value.Text)
	if x.suite.Virtual {
		require.Less(x, time.Since(spread), store.CopyLife+100*time.Millisecond)
	}
}

func copiesEndWithTheBase(x *tier) {
	r := valueOf("v")
	r.Life, r.Grace = 300*time.Millisecond, 300*time.Millisecond
	x.spread(x.a, "k", 3, r)
	stale := false
	x.eventually(func() bool {
		c := x.copy(x.b, "k", 1, 3)
		if c.Kind == store.Missing {
			return true
		}
		require.False(x, c.Due, "there would be nothing to gain")
		require.LessOrEqual(x, c.Left, r.Life)
		require.GreaterOrEqual(x, c.Left, -r.Grace-2*time.Millisecond)
		if base := x.get(x.b, "k"); base.Kind != store.Missing {
			stale = stale || c.Left < 0
		}
		return false
	}, "copies must end")
	if x.suite.Virtual {
		require.True(x, stale, "copies have the grace of the base")
	}
	x.eventually(func() bool { return x.get(x.b, "k").Kind == store.Missing }, "so must the base")
}

func copiesNotThere(x *tier) {
	s := x.splitter(x.a)
	for _, c := range [][2]int{{0, 0}, {0, 1}, {-1, 3}, {3, 3}, {0, store.MostCopies + 1}, {1, -5}} {
		require.Panics(x, func() { s.GetCopy(x.Context(), "k", c[0], c[1]) }, c)
	}
	for _, n := range []int{-1, 0, 1, store.MostCopies + 1} {
		require.Panics(x, func() { s.Spread(x.Context(), "k", n) }, n)
	}
}

func copiesNoticeEnds(x *tier) {
	x.spread(x.a, "k", 3, valueOf("v"))
	ctx, cancel := context.WithCancel(x.Context())
	cancel()
	_, err := x.splitter(x.a).GetCopy(ctx, "k", 1, 3)
	require.ErrorIs(x, err, context.Canceled)
	require.ErrorIs(x, x.splitter(x.a).Spread(ctx, "k", 3), context.Canceled)
	require.NoError(x, x.a.Invalidate(ctx, "k"), "an invalidation is not called off")
	require.Equal(x, store.Missing, x.copy(x.b, "k", 1, 3).Kind)
	require.NoError(x, x.b.Close())
	_, err = x.splitter(x.b).GetCopy(x.Context(), "k", 1, 3)
	require.ErrorIs(x, err, store.ErrClosed)
	require.ErrorIs(x, x.splitter(x.b).Spread(x.Context(), "k", 3), store.ErrClosed)
}

// copiesNeverShowThePast is nobodySeesThePast for rows that are split: in twos,
// threes and fives, for not everybody agrees.
func copiesNeverShowThePast(x *tier) {
	x.splitter(x.a)
	seed := rand.Uint64()
	x.Logf("seed %d", seed)
	c := &crowd{tier: x, clients: []store.Store[*Item]{x.a, x.b, x.client()}}
	for i := range 4 {
		c.rows = append(c.rows, &row{key: fmt.Sprint("row", i), changing: make(chan struct{}, 1)})
	}
	rounds := 200
	if x.suite.Virtual {
		rounds = 1000
	}
	var wg sync.WaitGroup
	for who := range 12 {
		rng := rand.New(rand.NewPCG(seed, uint64(who)))
		client := c.clients[who%len(c.clients)]
		wg.Go(func() {
			for range rounds {
				c.splitStep(rng, client, c.rows[rng.IntN(len(c.rows))])
			}
		})
	}
	wg.Wait()
	require.Positive(x, x.a.Stats().CopiesFound, "nobody has seen a copy")
	require.Zero(x, x.a.Stats().Copies.Errors()+x.a.Stats().Spreads.Errors())
}

func (c *crowd) splitStep(rng *rand.Rand, s store.Store[*Item], r *row) {
	n := []int{2, 3, 5}[rng.IntN(3)]
	switch p := rng.IntN(10); {
	case p < 5:
		least := r.confirmed.Load()
		found, err := c.splitter(s).GetCopy(c.Context(), r.key, rng.IntN(n), n)
		if err != nil {
			c.Errorf("GetCopy: %v", err)
		}
		c.judge("GetCopy", r, found.Record, least)
	case p < 8:
		if err := c.splitter(s).Spread(c.Context(), r.key, n); err != nil {
			c.Errorf("Spread: %v", err)
		}
	default:
		c.step(rng, s, r)
	}
}
