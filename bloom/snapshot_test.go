package bloom

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"io"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func snapshotOf(t testing.TB, g *Guard) []byte {
	t.Helper()
	var b bytes.Buffer
	n, err := g.WriteTo(&b)
	require.NoError(t, err)
	require.EqualValues(t, b.Len(), n)
	return b.Bytes()
}

func TestLoad_knowsWhatWasSaved(t *testing.T) {
	g := built(t, Options{Name: "products", FalsePositiveRate: 1e-9}, "product", 20_000)
	for i := range 1_000 {
		g.Add(name("own", i))
	}
	snapshot := snapshotOf(t, g)
	g.Add("after the save")

	other := newGuard(t, Options{Name: "products"})
	other.Add("before the load")
	described, err := other.Load(t.Context(), bytes.NewReader(snapshot), nil)
	require.NoError(t, err)
	other.Add("after the load")

	require.Zero(t, refusals(other, "product", 20_000))
	require.Zero(t, refusals(other, "own", 1_000))
	require.True(t, other.MayContain("before the load"))
	require.True(t, other.MayContain("after the load"))
	require.False(t, other.MayContain("after the save"))
	require.Greater(t, refusals(other, "stranger", 10_000), 9_900)
	require.NoError(t, other.Check())

	was, is := g.Stats(), other.Stats()
	require.Equal(t, Ready, is.State)
	require.Equal(t, was.KeyID, is.KeyID)
	require.Equal(t, was.KeyID, described.KeyID)
	require.Equal(t, was.Capacity, is.Capacity)
	require.EqualValues(t, 21_000, described.IDs)
	require.True(t, was.Read.Equal(described.Read))
	require.False(t, described.Saved.Before(described.Read))

	require.NoError(t, other.Build(t.Context(), numbered("product", 20_000)))
	require.NotEqual(t, was.KeyID, other.Stats().KeyID, "the saved secret goes at the next build")
	require.True(t, other.MayContain("before the load"))
}

// What was created since the snapshot must be in before it is believed.
func TestLoad_catchesUpBeforeItRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		g := built(t, Options{FalsePositiveRate: 1e-9}, "product", 1_000)
		time.Sleep(time.Hour)
		snapshot := snapshotOf(t, g)
		time.Sleep(time.Hour)

		next := newGuard(t, Options{})
		_, err := next.Load(t.Context(), bytes.NewReader(snapshot), func(s Snapshot) iter.Seq2[string, error] {
			require.True(t, start.Equal(s.Read))
			require.True(t, start.Add(time.Hour).Equal(s.Saved))
			require.True(t, next.Stats().Building)
			next.Add("while catching up")
			require.True(t, next.MayContain("stranger"), "open until then")
			return numbered("created", 500)
		})
		require.NoError(t, err)
		require.Zero(t, refusals(next, "product", 1_000))
		require.Zero(t, refusals(next, "created", 500))
		require.True(t, next.MayContain("while catching up"))
		require.False(t, next.MayContain("stranger"))
		require.EqualValues(t, 1_501, next.Stats().IDs)
		require.Zero(t, time.Since(next.Stats().Read), "as fresh as a build")

		empty := newGuard(t, Options{})
		_, err = empty.Load(t.Context(), bytes.NewReader(snapshot), func(Snapshot) iter.Seq2[string, error] { return list() })
		require.NoError(t, err, "nothing was created since")
		require.Equal(t, Ready, empty.Stats().State)
	})
}

func TestLoad_failedCatchUpChangesNothing(t *testing.T) {
	snapshot := snapshotOf(t, built(t, Options{}, "half", 1_000))
	g := built(t, Options{}, "product", 1_000)
	before := g.Stats()
	_, err := g.Load(t.Context(), bytes.NewReader(snapshot), func(Snapshot) iter.Seq2[string, error] { return failing(10, errReset) })
	require.ErrorIs(t, err, errReset)
	requireUntouched(t, g, before)

	before = g.Stats()
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = g.Load(cancelled, bytes.NewReader(snapshot), func(Snapshot) iter.Seq2[string, error] { return list() })
	require.ErrorIs(t, err, context.Canceled)
	requireUntouched(t, g, before)
}

func TestLoad_anOldSnapshotIsOutdated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		snapshot := snapshotOf(t, built(t, Options{}, "product", 1_000))
		time.Sleep(2 * time.Hour)
		g := newGuard(t, Options{MaxAge: time.Hour})
		_, err := g.Load(t.Context(), bytes.NewReader(snapshot), nil)
		require.NoError(t, err)
		require.Equal(t, Outdated, g.Stats().State)
		require.True(t, g.MayContain("stranger"))
	})
}

func TestLoad_aSnapshotFromTheFutureAgesFromNow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		snapshot := resealed(t, snapshotOf(t, built(t, Options{}, "product", 1_000)), func(h *header) { h.Read += int64(100 * time.Hour) })
		g := newGuard(t, Options{MaxAge: time.Hour})
		_, err := g.Load(t.Context(), bytes.NewReader(snapshot), nil)
		require.NoError(t, err)
		require.Equal(t, Ready, g.Stats().State)
		time.Sleep(time.Hour)
		require.Equal(t, Outdated, g.Stats().State)
	})
}

func TestWriteTo_hasNothingToSaveOrWillNot(t *testing.T) {
	var none *Guard
	_, err := none.WriteTo(io.Discard)
	require.ErrorIs(t, err, ErrUnbuilt)

	g := newGuard(t, Options{})
	_, err = g.WriteTo(io.Discard)
	require.ErrorIs(t, err, ErrUnbuilt)

	require.NoError(t, g.Build(t.Context(), numbered("product", 1_000)))
	g.ReportFound("unknown")
	_, err = g.WriteTo(io.Discard)
	require.ErrorIs(t, err, ErrDamaged)
}

func TestWriteTo_reportsTheWriter(t *testing.T) {
	g := built(t, Options{}, "product", 100_000)
	for _, room := range []int64{0, 100, 100_000} {
		_, err := g.WriteTo(&full{room})
		require.ErrorIs(t, err, errFull)
	}
}

var errFull = errors.New("disk full")

type full struct{ room int64 }

func (f *full) Write(p []byte) (int, error) {
	if f.room -= int64(len(p)); f.room < 0 {
		return 0, errFull
	}
	return len(p), nil
}

func TestSaveFile_replacesAsAWholeForItsOwnerOnly(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "products.guard")
	require.NoError(t, os.WriteFile(path, []byte("what was there"), 0o644))

	g := newGuard(t, Options{})
	require.ErrorIs(t, g.SaveFile(path), ErrUnbuilt)
	was, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "what was there", string(was), "a failed save leaves the old file")

	require.NoError(t, g.Build(t.Context(), numbered("product", 1_000)))
	require.NoError(t, g.SaveFile(path))
	require.NoError(t, g.SaveFile(path))
	info, err := os.Stat(path)
	require.NoError(t, err)
	if runtime.GOOS != "windows" {
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	}
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 1, "no temporary file is left")

	next := newGuard(t, Options{})
	_, err = next.LoadFile(t.Context(), path, nil)
	require.NoError(t, err)
	require.Zero(t, refusals(next, "product", 1_000))

	_, err = next.LoadFile(t.Context(), filepath.Join(dir, "none"), nil)
	require.ErrorIs(t, err, os.ErrNotExist)
	require.Error(t, g.SaveFile(filepath.Join(dir, "no", "such", "dir")))
}

var update = flag.Bool("update", false, "write testdata/v1.guard anew")

// A file of the first release. Should hashing, placing or the format change,
// it must still be understood, or be refused by name, but not believed.
func TestLoad_readsTheFirstRelease(t *testing.T) {
	const path = "testdata/v1.guard"
	if *update {
		g := built(t, Options{Name: "products", FalsePositiveRate: 1e-6}, "product", 500)
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, g.SaveFile(path))
	}
	g := newGuard(t, Options{Name: "products"})
	_, err := g.LoadFile(t.Context(), path, nil)
	require.NoError(t, err)
	require.Zero(t, refusals(g, "product", 500))
	require.Greater(t, refusals(g, "stranger", 500), 495)
}
