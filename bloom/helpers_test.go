package bloom

import (
	"fmt"
	"iter"
	"testing"

	"github.com/stretchr/testify/require"
)

// list is a source of these ids.
func list(ids ...string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for _, id := range ids {
			if !yield(id, nil) {
				return
			}
		}
	}
}

// numbered is a source of prefix-0 to prefix-(n-1).
func numbered(prefix string, n int) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for i := range n {
			if !yield(name(prefix, i), nil) {
				return
			}
		}
	}
}

func name(prefix string, i int) string { return fmt.Sprintf("%s-%d", prefix, i) }

func newGuard(t testing.TB, opts Options) *Guard {
	t.Helper()
	g, err := New(opts)
	require.NoError(t, err)
	return g
}

// built is a guard of prefix-0 to prefix-(n-1).
func built(t testing.TB, opts Options, prefix string, n int) *Guard {
	t.Helper()
	g := newGuard(t, opts)
	require.NoError(t, g.Build(t.Context(), numbered(prefix, n)))
	return g
}

// refusals counts the ids prefix-0 to prefix-(n-1) that g refuses.
func refusals(g *Guard, prefix string, n int) (refused int) {
	for i := range n {
		if !g.MayContain(name(prefix, i)) {
			refused++
		}
	}
	return refused
}

// corrupt wipes the filter in force, as no code of the package ever would.
func corrupt(g *Guard) {
	g.mu.Lock()
	defer g.mu.Unlock()
	clear(g.current.filter.BitSet().Words())
}
