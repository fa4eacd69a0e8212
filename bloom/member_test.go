package bloom

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func nothingMore(context.Context) error { return nil }

// written is what a member with these ids leaves to others.
func written(t testing.TB, opts Options, prefix string, n int) []byte {
	t.Helper()
	g := newGuard(t, opts)
	m := g.Join()
	m.Joined()
	require.NoError(t, g.Build(t.Context(), numbered(prefix, n)))
	var out bytes.Buffer
	_, err := m.WriteTo(&out)
	require.NoError(t, err)
	return out.Bytes()
}

func TestMember_beginsWithTheSnapshotOfAnother(t *testing.T) {
	saved := written(t, Options{}, "product", 1000)
	g := newGuard(t, Options{})
	g.Add("own")
	m := g.Join()
	require.Equal(t, Unbuilt, g.Stats().State)
	_, err := m.Load(t.Context(), bytes.NewReader(saved), []string{name("product", 7)}, func(context.Context) error {
		require.True(t, g.MayContain("stranger"), "not before it has caught up")
		g.Add("since")
		return nil
	})
	require.NoError(t, err)
	m.Joined()
	m.Joined()
	require.Equal(t, Ready, g.Stats().State)
	require.Zero(t, refusals(g, "product", 1000))
	require.True(t, g.MayContain("own") && g.MayContain("since"))
	require.Greater(t, refusals(g, "stranger", 1000), 900)
}

// A snapshot makes up for what was told to its writer, and for nothing else.
func TestMember_repairsNoMissedButThatOfJoin(t *testing.T) {
	saved := written(t, Options{}, "product", 10)
	for name, missed := range map[string]func(g *Guard, join func()){
		"before":          func(g *Guard, join func()) { g.Missed(); join() },
		"after":           func(g *Guard, join func()) { join(); g.Missed() },
		"a second before": func(g *Guard, join func()) { g.Join(); join() },
		"a second after":  func(g *Guard, join func()) { join(); g.Join() },
	} {
		t.Run(name, func(t *testing.T) {
			g := newGuard(t, Options{})
			var m *Member
			missed(g, func() { m = g.Join() })
			_, err := m.Load(t.Context(), bytes.NewReader(saved), nil, nothingMore)
			require.ErrorIs(t, err, ErrIncomplete)
			require.True(t, g.MayContain("stranger"))
		})
	}
	g := newGuard(t, Options{})
	_, err := g.Join().Load(t.Context(), bytes.NewReader(saved), nil, func(context.Context) error {
		g.Missed()
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, Incomplete, g.Stats().State)
}

func TestMember_refusesWhatItCannotTrust(t *testing.T) {
	saved := written(t, Options{Name: "a"}, "product", 10)
	load := func(opts Options, snapshot []byte, known ...string) error {
		g := newGuard(t, opts)
		_, err := g.Join().Load(t.Context(), bytes.NewReader(snapshot), known, func(context.Context) error {
			t.Error("it catches up with a snapshot that is of no use")
			return nil
		})
		require.Equal(t, Unbuilt, g.Stats().State)
		return err
	}
	var bad *SnapshotError
	require.ErrorAs(t, load(Options{Name: "a"}, saved[:len(saved)-1]), &bad)
	require.ErrorAs(t, load(Options{Name: "b"}, saved), &bad)
	require.ErrorAs(t, load(Options{Name: "a"}, saved, "tenant/product-1"), &bad, "ids are spelled otherwise")
	time.Sleep(2 * time.Millisecond)
	require.ErrorAs(t, load(Options{Name: "a", MaxAge: time.Millisecond}, saved), &bad, "too old")

	g := newGuard(t, Options{Name: "a"})
	cut := errors.New("cut off")
	_, err := g.Join().Load(t.Context(), bytes.NewReader(saved), nil, func(context.Context) error { return cut })
	require.ErrorIs(t, err, cut)
	require.Equal(t, Unbuilt, g.Stats().State)
}

// The age of what is known is that of the scan, however many guards it has gone
// through.
func TestMember_doesNotMakeIdsYounger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		read := time.Now()
		saved := written(t, Options{}, "product", 10)
		for range 3 {
			time.Sleep(time.Hour)
			g := newGuard(t, Options{MaxAge: 12 * time.Hour})
			m := g.Join()
			_, err := m.Load(t.Context(), bytes.NewReader(saved), nil, nothingMore)
			require.NoError(t, err)
			require.True(t, read.Equal(g.Stats().Read))
			var next bytes.Buffer
			_, err = m.WriteTo(&next)
			require.NoError(t, err)
			saved = next.Bytes()
		}
	})
}

// What is told while a guard joins is neither in its build nor heard, unless the
// build begins later.
func TestBuild_waitsForWhoeverJoins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGuard(t, Options{})
		m := g.Join()
		built := make(chan error, 1)
		go func() { built <- g.Build(t.Context(), numbered("product", 10)) }()
		synctest.Wait()
		require.False(t, g.Stats().Building)
		m.Joined()
		require.NoError(t, <-built)
		require.Equal(t, Ready, g.Stats().State)

		g.Join()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.ErrorIs(t, g.Build(ctx, numbered("product", 10)), context.DeadlineExceeded)
		require.Equal(t, Incomplete, g.Stats().State)
	})
}

func TestMember_writesOnlyWhatIsComplete(t *testing.T) {
	g := newGuard(t, Options{})
	m := g.Join()
	var out bytes.Buffer
	_, err := m.WriteTo(&out)
	require.ErrorIs(t, err, ErrUnbuilt)
	m.Joined()
	require.NoError(t, g.Build(t.Context(), numbered("product", 100)))
	g.Add("added")
	g.Missed()
	_, err = m.WriteTo(&out)
	require.ErrorIs(t, err, ErrIncomplete)
	require.Zero(t, out.Len())
	require.NoError(t, g.Build(t.Context(), numbered("product", 100)))
	g.Add("more")
	_, err = m.WriteTo(&out)
	require.NoError(t, err)

	next := newGuard(t, Options{})
	_, err = next.Join().Load(t.Context(), &out, []string{"added", "more"}, nothingMore)
	require.NoError(t, err)

	for i := range int(2 * g.Stats().Capacity) {
		g.Add(name("lots", i)) // saturated
	}
	_, err = m.WriteTo(&out)
	require.ErrorContains(t, err, "saturated")
}

// A Keeper does not ask the origin for what a snapshot has brought.
func TestKeeper_waitsForASnapshot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		saved := written(t, Options{}, "product", 10)
		time.Sleep(20 * time.Minute)
		g := newGuard(t, Options{})
		m := g.Join()
		builds := kept(t, g, Keeper{Every: time.Hour}, sized(10))
		time.Sleep(time.Second)
		_, err := m.Load(t.Context(), bytes.NewReader(saved), nil, nothingMore)
		require.NoError(t, err)
		m.Joined()
		time.Sleep(30 * time.Minute)
		require.Zero(t, builds.Load())
		time.Sleep(15 * time.Minute)
		require.EqualValues(t, 1, builds.Load(), "an hour after the ids were read")
	})
}

// A first build that was in vain is made good at once.
func TestKeeper_buildsAgainIfTheFirstWasInVain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGuard(t, Options{})
		builds := 0
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
		defer cancel()
		k := Keeper{Every: time.Hour, IDs: func(context.Context) iter.Seq2[string, error] {
			builds++
			return func(yield func(string, error) bool) {
				g.Missed()
				yield("product", nil)
			}
		}}
		require.ErrorIs(t, k.Run(ctx, g), context.DeadlineExceeded)
		require.Equal(t, 2, builds, "and only once, for the origin's sake")
	})
}

func TestMember_ofNoGuard(t *testing.T) {
	var off *Guard
	m := off.Join()
	m.Joined()
	_, err := m.Load(t.Context(), nil, nil, nil)
	require.NoError(t, err)
	_, err = m.WriteTo(nil)
	require.ErrorIs(t, err, ErrUnbuilt)
	require.Empty(t, off.Name())
}
