package bloom

import (
	"iter"
	"testing"

	"github.com/stretchr/testify/require"
)

func ids(list ...string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for _, id := range list {
			if !yield(id, nil) {
				return
			}
		}
	}
}

// A guard that may not have been told of ids refuses none, until it has asked.
func TestMissed_opensUntilABuildThatBeganLater(t *testing.T) {
	g, err := New(Options{})
	require.NoError(t, err)
	require.NoError(t, g.Build(t.Context(), ids("a", "b")))
	require.False(t, g.MayContain("z"))

	g.Missed()
	require.True(t, g.MayContain("z"))
	require.Equal(t, Incomplete, g.Stats().State)
	require.True(t, g.Stats().WantsBuild)

	missing := func(yield func(string, error) bool) { // a build that a gap falls into
		if yield("a", nil) {
			g.Missed()
		}
	}
	require.NoError(t, g.Build(t.Context(), missing))
	require.True(t, g.MayContain("z"))

	require.NoError(t, g.Build(t.Context(), ids("a")))
	require.False(t, g.MayContain("z"))
	require.Equal(t, Ready, g.Stats().State)

	var off *Guard
	off.Missed()
}
