package storetest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird/store"
)

// telling are the promises of store.Bus, for stores that are one.
var telling = []promise{
	{"WhoHearsHasHeard", whoHearsHasHeard, anyLease},
	{"FactsTravelUnchanged", factsTravel, anyLease},
	{"ListeningBeginsWithAGap", beginsWithAGap, anyLease},
	{"ListeningGoesOnFromAPlace", goesOnFromAPlace, anyLease},
	{"BusNoticesEnds", busNoticesEnds, anyLease},
	{"ListenersAreCounted", countsListeners, anyLease},
}

// listener is a store that listens, and what it has heard.
type listener struct {
	store.Bus
	mu    sync.Mutex
	heard []store.Fact
	knows map[string]bool
	gaps  int
}

// listen lets s listen; a test of a store that is no bus is skipped.
func (x *tier) listenTo(s store.Store[*Item], from string) *listener {
	x.Helper()
	b, ok := s.(store.Bus)
	if !ok {
		x.Skip("it is no store.Bus")
	}
	l := &listener{Bus: b, knows: make(map[string]bool)}
	b.Listen(from, func(f store.Fact) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.heard = append(l.heard, f)
		for _, key := range f.Keys {
			l.knows[key] = true
		}
	}, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.gaps++
	})
	return l
}

func (l *listener) state() (heard []store.Fact, gaps int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.heard), l.gaps
}

// refuses is whether a guard that learns by l may refuse key, before how many
// gaps.
func (l *listener) refuses(key string) (refuses bool, gaps int) {
	if !l.Hears() {
		return false, 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.knows[key], l.gaps
}

// hears waits until l hears.
func (x *tier) hears(l *listener) {
	x.Helper()
	x.eventually(l.Hears, "it must hear")
}

func created(keys ...string) store.Fact { return store.Fact{Kind: "created", Keys: keys} }

// whoHearsHasHeard is the promise: many tell at once, and once a Tell has
// returned nobody who hears does not know.
func whoHearsHasHeard(x *tier) {
	stores := []store.Store[*Item]{x.a, x.b, x.client()}
	var all []*listener
	for _, s := range stores {
		all = append(all, x.listenTo(s, ""))
	}
	for _, l := range all {
		x.hears(l)
	}
	var tellers sync.WaitGroup
	for who, l := range all {
		tellers.Go(func() {
			for i := range 40 {
				key := fmt.Sprint(who, "/", i)
				var before [3]int
				for n, l := range all {
					_, before[n] = l.state()
				}
				if err := l.Tell(x.Context(), created(key)); err != nil {
					x.Errorf("Tell: %v", err)
					return
				}
				for n, l := range all {
					if refuses, gaps := l.refuses(key); refuses && gaps == before[n] {
						x.Errorf("%d hears, and has not heard %s", n, key)
					}
				}
			}
		})
	}
	tellers.Wait()
	if x.Failed() {
		return
	}
	for _, l := range all {
		x.eventually(func() bool { heard, gaps := l.state(); return len(heard) >= 120 || gaps > 1 }, "all are heard in the end")
	}
	order, _ := all[0].state()
	for _, l := range all[1:] {
		if heard, gaps := l.state(); gaps == 1 && len(order) == 120 {
			require.Equal(x, order, heard, "in the same order")
		}
	}
	require.Positive(x, x.a.Stats().Told)
	require.Positive(x, x.a.Stats().Heard)
}

func factsTravel(x *tier) {
	l := x.listenTo(x.a, "")
	x.hears(l)
	tell := func(f store.Fact) (heard []store.Fact) {
		x.Helper()
		before, _ := l.state()
		require.NoError(x, l.Tell(x.Context(), f))
		x.eventually(func() bool {
			heard, _ = l.state()
			heard = heard[len(before):]
			n := 0
			for _, h := range heard {
				n += len(h.Keys)
			}
			return n >= len(f.Keys) && len(heard) > 0
		}, "it must be heard")
		return heard
	}
	for _, f := range []store.Fact{
		{}, {Kind: "no keys"}, created(""), created("a", "", "b\x00\xff"), {Keys: []string{"no kind"}},
		{Kind: strings.Repeat("k", store.MaxFactPart), Keys: []string{strings.Repeat("x", store.MaxFactPart)}},
	} {
		require.Equal(x, []store.Fact{f}, tell(f))
	}
	many := make([]string, 3000)
	for i := range many {
		many[i] = fmt.Sprint("a key of some length, number ", i)
	}
	var keys []string
	for _, f := range tell(created(many...)) {
		require.Equal(x, "created", f.Kind)
		keys = append(keys, f.Keys...)
	}
	require.Equal(x, many, keys)

	var e *store.ValueError
	require.ErrorAs(x, l.Tell(x.Context(), created("a", strings.Repeat("x", store.MaxFactPart+1))), &e)
	require.ErrorAs(x, l.Tell(x.Context(), store.Fact{Kind: strings.Repeat("x", store.MaxFactPart+1)}), &e)
}

func beginsWithAGap(x *tier) {
	a := x.listenTo(x.a, "")
	x.hears(a)
	_, gaps := a.state()
	require.GreaterOrEqual(x, gaps, 1)
	require.NoError(x, a.Tell(x.Context(), created("before")))
	for _, from := range []string{"", "nonsense", "/", "another/1", "another/99999999999999999999999"} {
		s := x.client()
		l := x.listenTo(s, from)
		x.hears(l)
		heard, gaps := l.state()
		require.GreaterOrEqual(x, gaps, 1, "what was before was missed")
		require.Empty(x, heard)
		require.False(x, s.Stats().Deaf)
	}
}

func goesOnFromAPlace(x *tier) {
	a := x.listenTo(x.a, "")
	x.hears(a)
	require.NoError(x, a.Tell(x.Context(), created("before")))
	x.eventually(func() bool { heard, _ := a.state(); return len(heard) > 0 }, "it must be heard")
	place := a.Place()
	require.NotEmpty(x, place)
	require.NoError(x, a.Tell(x.Context(), created("one")))
	require.NoError(x, a.Tell(x.Context(), created("two")))
	for range 2 { // from the same place as often as one likes
		l := x.listenTo(x.client(), place)
		x.hears(l)
		heard, gaps := l.state()
		require.Zero(x, gaps)
		require.Equal(x, []store.Fact{created("one"), created("two")}, heard)
		require.NoError(x, a.Tell(x.Context(), created("three")))
		x.eventually(func() bool {
			heard, _ := l.state()
			return slices.ContainsFunc(heard, func(f store.Fact) bool { return f.Keys[0] == "three" })
		}, "and so on")
		place = l.Place()
		require.NoError(x, a.Tell(x.Context(), created("one")))
		require.NoError(x, a.Tell(x.Context(), created("two")))
	}
}

func countsListeners(x *tier) {
	a := x.listenTo(x.a, "")
	x.eventually(func() bool { return a.Listeners() == 1 }, "itself")
	x.listenTo(x.b, "")
	c := x.client()
	x.listenTo(c, "")
	x.eventually(func() bool { return a.Listeners() == 3 }, "and the others")
	require.NoError(x, c.Close())
	x.eventually(func() bool { return a.Listeners() == 2 }, "but those who have left")
}

func busNoticesEnds(x *tier) {
	a, b := x.listenTo(x.a, ""), x.listenTo(x.b, "")
	x.hears(a)
	x.hears(b)
	ctx, cancel := context.WithCancel(x.Context())
	cancel()
	require.ErrorIs(x, a.Tell(ctx, created("k")), context.Canceled)

	require.NoError(x, a.Tell(x.Context(), created("k")))
	require.NoError(x, x.b.Close())
	require.False(x, b.Hears())
	require.ErrorIs(x, b.Tell(x.Context(), created("l")), store.ErrClosed)
	heard, gaps := b.state()
	began := time.Now()
	require.NoError(x, a.Tell(x.Context(), created("m")))
	if x.suite.Virtual {
		require.Less(x, time.Since(began), 500*time.Millisecond, "who has left is not waited for")
	}
	h, g := b.state()
	require.Equal(x, heard, h, "nothing is heard after Close")
	require.Equal(x, gaps, g)
	require.False(x, x.b.Stats().Deaf)

	c := x.client()
	require.NoError(x, c.Close())
	x.listenTo(c, "")
	require.False(x, c.(store.Bus).Hears())
}
