package bloom

import (
	"context"
	"errors"
	"iter"
	"testing"

	"github.com/stretchr/testify/require"
)

// failing yields n ids and then err.
func failing(n int, err error) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for id := range numbered("half", n) {
			if !yield(id, nil) {
				return
			}
		}
		yield("", err)
	}
}

// requireUntouched asserts that the guard is still the one built from
// product-0 to product-999.
func requireUntouched(t *testing.T, g *Guard, before Stats) {
	t.Helper()
	require.Equal(t, before, g.Stats())
	require.Zero(t, refusals(g, "product", 1_000))
	require.Greater(t, refusals(g, "half", 1_000), 950)
}

func TestBuild_failureLeavesThePreviousFilterInForce(t *testing.T) {
	broken := errors.New("connection reset")
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]struct {
		ctx  context.Context
		ids  iter.Seq2[string, error]
		want error
	}{
		"source fails at once":     {t.Context(), failing(0, broken), broken},
		"source fails half-way":    {t.Context(), failing(700, broken), broken},
		"context ended before":     {cancelled, numbered("half", 1_000), context.Canceled},
		"source ends with context": {cancelled, list(), context.Canceled},
		"source yields nothing":    {t.Context(), list(), ErrEmptySource},
		"more ids than MaxBytes":   {t.Context(), numbered("half", 5_000), ErrTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			g := built(t, Options{MaxBytes: 8 << 10}, "product", 1_000)
			g.Add("own")
			before := g.Stats()
			err := g.Build(c.ctx, c.ids)
			require.ErrorIs(t, err, c.want)
			requireUntouched(t, g, before)
			require.True(t, g.MayContain("own"))

			require.NoError(t, g.Build(t.Context(), numbered("product", 1_000)), "and can be tried again")
			require.True(t, g.MayContain("own"))
		})
	}
}

func TestBuild_saysHowFarTheSourceCame(t *testing.T) {
	err := newGuard(t, Options{}).Build(t.Context(), failing(700, errors.New("reset")))
	require.ErrorContains(t, err, "after 700 ids: reset")
}

func TestBuild_stopsReadingWhenItsContextEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	read := 0
	err := newGuard(t, Options{}).Build(ctx, func(yield func(string, error) bool) {
		for ; yield(name("product", read), nil); read++ {
			if read == 1_000 {
				cancel()
			}
		}
	})
	require.ErrorIs(t, err, context.Canceled)
	require.Less(t, read, 2_000)
}

func TestBuild_panickingSourceDoesNotBlockTheNext(t *testing.T) {
	g := built(t, Options{}, "product", 1_000)
	before := g.Stats()
	require.PanicsWithValue(t, "driver", func() {
		_ = g.Build(t.Context(), func(func(string, error) bool) { panic("driver") })
	})
	requireUntouched(t, g, before)
	require.NoError(t, g.Build(t.Context(), list("x")))
}

func TestBuild_oneAtATime(t *testing.T) {
	g := newGuard(t, Options{})
	err := g.Build(t.Context(), func(yield func(string, error) bool) {
		require.True(t, g.Stats().Building)
		require.ErrorIs(t, g.Build(t.Context(), list("inner")), ErrBuilding)
		yield("outer", nil)
	})
	require.NoError(t, err)
	require.True(t, g.MayContain("outer"))
	require.False(t, g.MayContain("inner"))
	require.False(t, g.Stats().Building)
}

// Whenever an Add comes, before, during or after a build whose source does not
// list it, through as many builds as there may be.
func TestBuild_carriesAddsOver(t *testing.T) {
	g := newGuard(t, Options{})
	added := 0
	add := func() {
		g.Add(name("own", added))
		added++
		require.Zero(t, refusals(g, "own", added))
	}
	for range 4 {
		add()
		require.NoError(t, g.Build(t.Context(), func(yield func(string, error) bool) {
			add()
			for id := range numbered("product", 1_000) {
				yield(id, nil)
			}
			add()
		}))
		add()
	}
	require.Zero(t, refusals(g, "product", 1_000))
}

func TestBuild_forgetsWhatItsSourceNoLongerLists(t *testing.T) {
	g := built(t, Options{Grace: -1}, "old", 5_000)
	require.NoError(t, g.Build(t.Context(), numbered("new", 5_000)))
	require.Greater(t, refusals(g, "old", 5_000), 4_900)
}

func TestBuild_drawsAFreshSecret(t *testing.T) {
	g := built(t, Options{Expected: 1_500, FalsePositiveRate: 0.1, Grace: -1}, "product", 1_000)
	for i := range 500 { // to the design count
		g.Add(name("product", 1_000+i))
	}
	var learnt []string // an attacker collects strangers that pass
	for i := 0; len(learnt) < 1_000; i++ {
		if id := name("stranger", i); g.MayContain(id) {
			learnt = append(learnt, id)
		}
	}
	first := g.current.secret
	require.NoError(t, g.Build(t.Context(), numbered("product", 1_500)))
	require.NotEqual(t, first, g.current.secret)

	passed := 0
	for _, id := range learnt {
		if g.MayContain(id) {
			passed++
		}
	}
	require.Less(t, passed, 1_000/4, "what was learnt is worth no more than a guess")
}

func TestBuild_duplicatesAreOneID(t *testing.T) {
	g := newGuard(t, Options{FalsePositiveRate: 1e-9})
	ids := make([]string, 10_000)
	for i := range ids {
		ids[i] = name("product", i%100)
	}
	require.NoError(t, g.Build(t.Context(), list(ids...)))
	require.EqualValues(t, 100, g.Stats().IDs)
}

// unpublished is a build of half-0 to half-999, filled but not in force.
func unpublished(t *testing.T, g *Guard) (*build, *filling) {
	b, err := g.begin(t.Context(), newSecret())
	require.NoError(t, err)
	require.NoError(t, b.read(t.Context(), numbered("half", 1_000)))
	d := designFor(1_000, 1e-3)
	f := &filling{design: d, filter: newFilter(d)}
	b.listed.drain(f.add)
	return b, f
}

func TestBuild_refusesAFilterThatForgot(t *testing.T) {
	g := built(t, Options{}, "product", 1_000)
	before := g.Stats()
	b, f := unpublished(t, g)
	clear(f.filter.BitSet().Words()[:f.m/128])
	require.ErrorIs(t, g.publish(b, f), ErrDamaged)
	g.abandon(b)
	requireUntouched(t, g, before)
}

func TestBuild_refusesAFilterThatForgotAnAdd(t *testing.T) {
	g := newGuard(t, Options{})
	b, f := unpublished(t, g)
	g.Add("own")
	b.added = digests{}
	require.ErrorIs(t, g.publish(b, f), ErrDamaged)
}
