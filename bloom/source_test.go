package bloom

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

var errReset = errors.New("connection reset")

// table is an ordered set of ids whose connection breaks after every so many
// rows, if at all.
type table struct {
	ids    []string
	breaks int
	opened []string // the cursors asked for
}

func newTable(n int) *table {
	tab := &table{}
	for i := range n {
		tab.ids = append(tab.ids, fmt.Sprintf("id-%05d", i))
	}
	return tab
}

func (tab *table) open(ctx context.Context, after string) iter.Seq2[string, error] {
	tab.opened = append(tab.opened, after)
	return func(yield func(string, error) bool) {
		from, found := slices.BinarySearch(tab.ids, after)
		if found {
			from++
		}
		for i, id := range tab.ids[from:] {
			if tab.breaks > 0 && i == tab.breaks {
				yield("", errReset)
				return
			}
			if !yield(id, nil) {
				return
			}
		}
	}
}

func TestSource_goesOnWhereItBrokeOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tab := newTable(1_000)
		tab.breaks = 300
		var got []string
		for id, err := range (Source{Open: tab.open, Retries: 1}).IDs(t.Context()) {
			require.NoError(t, err)
			got = append(got, id)
		}
		require.Equal(t, tab.ids, got, "each once, in order")
		require.Equal(t, []string{"", "id-00299", "id-00599", "id-00899"}, tab.opened)
	})
}

func TestSource_givesUpWhenNothingComes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for retries, opens := range map[int]int{-1: 1, 0: 6, 2: 3} {
			opened := 0
			start := time.Now()
			g := newGuard(t, Options{})
			err := g.Build(t.Context(), Source{Retries: retries, Open: func(context.Context, string) iter.Seq2[string, error] {
				opened++
				return failing(0, errReset)
			}}.IDs(t.Context()))
			require.ErrorIs(t, err, errReset)
			require.Equal(t, opens, opened)
			require.Less(t, time.Since(start), 10*time.Second)
			require.Equal(t, opens > 1, time.Since(start) > 50*time.Millisecond, "with a pause between")
		}
	})
}

func TestSource_endsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		err := newGuard(t, Options{}).Build(ctx, Source{Retries: 1 << 30, Open: func(context.Context, string) iter.Seq2[string, error] {
			return failing(0, errReset)
		}}.IDs(ctx))
		require.ErrorIs(t, err, errReset, "the cause, not the wait for the next try")
		require.Equal(t, time.Second, time.Since(start))
	})
}

// A driver may close its rows when ctx ends without any error.
func TestSource_aScanCutShortByItsContextIsNoEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	tab := newTable(10)
	var last error
	for id, err := range (Source{Open: tab.open, Retries: -1}).IDs(ctx) {
		if last = err; id == tab.ids[9] {
			cancel()
		}
	}
	require.ErrorIs(t, last, context.Canceled)
}

func TestSource_tellsItsProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tab := newTable(1_000)
		tab.breaks = 250
		var told []string
		g := newGuard(t, Options{})
		require.NoError(t, g.Build(t.Context(), Source{
			Open:     tab.open,
			Every:    400,
			Progress: func(ids int, last string) { told = append(told, fmt.Sprint(ids, " ", last)) },
		}.IDs(t.Context())))
		require.Equal(t, []string{"400 id-00399", "800 id-00799", "1000 id-00999"}, told)
		require.EqualValues(t, 1_000, g.Stats().IDs)
	})
}

func TestSource_stopsWhenNobodyListens(t *testing.T) {
	tab := newTable(1_000)
	for range (Source{Open: tab.open}).IDs(t.Context()) {
		break
	}
	require.Len(t, tab.opened, 1)
}

func TestStats_showsHowFarABuildHasCome(t *testing.T) {
	g := newGuard(t, Options{})
	require.NoError(t, g.Build(t.Context(), func(yield func(string, error) bool) {
		for i := range 1_000 {
			yield(name("product", i), nil)
		}
		s := g.Stats()
		require.True(t, s.Building)
		require.InDelta(t, 1_000, s.Reading, 256)
	}))
	require.Zero(t, g.Stats().Reading)
}
