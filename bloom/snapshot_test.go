package bloom

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"testing/iotest"
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

// resealed is the snapshot with its header changed and its checksum made good:
// what another release, or somebody who knows the format, would write.
func resealed(t testing.TB, snapshot []byte, change func(*header)) []byte {
	t.Helper()
	var h header
	_, err := binary.Decode(snapshot, byteOrder, &h)
	require.NoError(t, err)
	change(&h)
	out := bytes.Clone(snapshot)
	_, err = binary.Encode(out, byteOrder, h)
	require.NoError(t, err)
	return seal(out)
}

// seal replaces the checksum at the end.
func seal(b []byte) []byte {
	body := b[:max(len(b)-sha256.Size, 0)]
	sum := sha256.Sum256(body)
	return append(body[:len(body):len(body)], sum[:]...)
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

// requireRefused asserts that the snapshot is refused by a fresh guard, which
// stays open, and by one in use, which stays as it is.
func requireRefused(t *testing.T, fresh, used *Guard, before Stats, snapshot []byte, what string) *SnapshotError {
	t.Helper()
	_, err := fresh.Load(context.Background(), bytes.NewReader(snapshot), nil)
	var refused *SnapshotError
	require.ErrorAs(t, err, &refused, what)
	require.Equal(t, Unbuilt, fresh.Stats().State, what)
	_, err = used.Load(context.Background(), bytes.NewReader(snapshot), nil)
	require.ErrorAs(t, err, &refused, what)
	require.Equal(t, before, used.Stats(), what)
	return refused
}

func TestLoad_refusesWhatIsCutShort(t *testing.T) {
	g := built(t, Options{}, "product", 1_000)
	snapshot := snapshotOf(t, g)
	fresh, before := newGuard(t, Options{}), g.Stats()
	for n := range snapshot {
		refused := requireRefused(t, fresh, g, before, snapshot[:n], fmt.Sprint(n, " bytes"))
		require.ErrorIs(t, refused, io.ErrUnexpectedEOF)
	}
	requireUntouched(t, g, before)
}

func TestLoad_refusesAnyFlippedBit(t *testing.T) {
	g := built(t, Options{}, "product", 1_000)
	snapshot := snapshotOf(t, g)
	fresh, before := newGuard(t, Options{}), g.Stats()
	for i := range snapshot {
		bit := byte(1) << (i % 8)
		if i < 2*binary.Size(header{}) { // every bit of what steers the reader
			bit = 1
		}
		for ; bit != 0; bit <<= 1 {
			snapshot[i] ^= bit
			requireRefused(t, fresh, g, before, snapshot, fmt.Sprintf("bit %b of byte %d", bit, i))
			snapshot[i] ^= bit
			if i >= 2*binary.Size(header{}) {
				break
			}
		}
	}
	requireUntouched(t, g, before)
	_, err := fresh.Load(t.Context(), bytes.NewReader(snapshot), nil)
	require.NoError(t, err, "unharmed after all")
}

func TestLoad_namesWhatIsWrong(t *testing.T) {
	g := built(t, Options{Name: "products"}, "product", 1_000)
	snapshot := snapshotOf(t, g)
	before := g.Stats()
	for want, change := range map[string]func(*header){
		"is something else":          func(h *header) { h.Magic[3]++ },
		"has the unknown format 2":   func(h *header) { h.Version++ },
		"was hashed in another way":  func(h *header) { h.Hash++ },
		"hashed in another way":      func(h *header) { h.KeyID++ }, // as if SipHash or the library had changed
		"in another way":             func(h *header) { h.Secret[1]++ },
		"0 hashes":                   func(h *header) { h.Hashes = 0 },
		"33 hashes":                  func(h *header) { h.Hashes = 33 },
		"35184372088832 bits":        func(h *header) { h.Bits = 1 << 45; h.Design = 1 << 46 },
		"takes 4398046511104 bytes":  func(h *header) { h.Bits = 1 << 45 },
		"65 bits":                    func(h *header) { h.Bits = 65 },
		"0 bits":                     func(h *header) { h.Bits = 0 },
		"0 ids":                      func(h *header) { h.Design = 0 },
		"size":                       func(h *header) { h.Held = 1 << 63 },
		"cut short":                  func(h *header) { h.Bits += 64 },
		"does not match its check":   func(h *header) { h.Bits -= 64 },
		"an impossible length":       func(h *header) { h.NameBytes = 1 << 31 },
		"impossible length":          func(h *header) { h.SampleBytes = 1 << 31 },
		"of the guard named \"pro\"": func(h *header) { h.NameBytes = 3; h.SampleBytes += 5 },
	} {
		t.Run(want, func(t *testing.T) {
			fresh := newGuard(t, Options{Name: "products"})
			bad := resealed(t, snapshot, change)
			_, err := fresh.Load(t.Context(), bytes.NewReader(bad), nil)
			var refused *SnapshotError
			require.ErrorAs(t, err, &refused)
			require.ErrorContains(t, err, want)
			require.Equal(t, Unbuilt, fresh.Stats().State)
		})
	}
	require.Equal(t, before, g.Stats())
}

func TestLoad_refusesABrokenSample(t *testing.T) {
	snapshot := snapshotOf(t, built(t, Options{}, "product", 1_000))
	for _, length := range []string{"\xff\xff\x7f", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"} { // too long, without an end
		bad := bytes.Clone(snapshot)
		copy(bad[binary.Size(header{}):], length)
		_, err := newGuard(t, Options{}).Load(t.Context(), bytes.NewReader(seal(bad)), nil)
		require.ErrorContains(t, err, "broken sample")
	}
}

func TestLoad_refusesAnotherGuardsSnapshot(t *testing.T) {
	snapshot := snapshotOf(t, built(t, Options{Name: "users"}, "user", 1_000))
	_, err := newGuard(t, Options{Name: "products"}).Load(t.Context(), bytes.NewReader(snapshot), nil)
	require.ErrorContains(t, err, `named "users"`)
}

func TestLoad_refusesAnythingBehindTheSnapshot(t *testing.T) {
	snapshot := snapshotOf(t, built(t, Options{}, "product", 1_000))
	_, err := newGuard(t, Options{}).Load(t.Context(), bytes.NewReader(append(snapshot, 0)), nil)
	require.ErrorContains(t, err, "followed by something else")
}

// The checksum is right, the filter is not: the canaries tell.
func TestLoad_triesTheFilterOnItsSample(t *testing.T) {
	snapshot := snapshotOf(t, built(t, Options{}, "product", 1_000))
	words := snapshot[len(snapshot)-sha256.Size-64:][:64]
	clear(words)
	g := newGuard(t, Options{})
	_, err := g.Load(t.Context(), bytes.NewReader(seal(snapshot)), nil)
	var refused *SnapshotError
	require.ErrorAs(t, err, &refused)
	require.ErrorIs(t, err, ErrDamaged)
	require.Equal(t, Unbuilt, g.Stats().State)
}

func TestLoad_saysWhatTheReaderSaid(t *testing.T) {
	snapshot := snapshotOf(t, built(t, Options{}, "product", 1_000))
	broken := io.MultiReader(bytes.NewReader(snapshot[:500]), iotest.ErrReader(errReset))
	_, err := newGuard(t, Options{}).Load(t.Context(), broken, nil)
	require.ErrorIs(t, err, errReset)
	_, err = newGuard(t, Options{}).Load(t.Context(), iotest.OneByteReader(bytes.NewReader(snapshot)), nil)
	require.NoError(t, err, "however it comes")
}

// 150 bytes may claim 128 MiB; what is allocated is for the bytes that come.
func TestLoad_allocatesForWhatComesNotForWhatIsClaimed(t *testing.T) {
	snapshot := snapshotOf(t, built(t, Options{}, "product", 1_000))
	claim := resealed(t, snapshot, func(h *header) { h.Bits = 1 << 30; h.Design = 1 << 26 })
	g := newGuard(t, Options{})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := g.Load(t.Context(), bytes.NewReader(claim), nil)
	runtime.ReadMemStats(&after)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(4*len(claim)+8*blockBytes))
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

// Adds, reads, builds, saves and loads of one guard at once: what was added is
// never refused, and every snapshot has what was added before it was begun.
func TestGuard_wholeLifeAtOnce(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	path := filepath.Join(t.TempDir(), "guard")
	g := built(t, Options{Expected: 60_000, Grace: time.Millisecond}, "product", 2_000)
	require.NoError(t, g.SaveFile(path))
	const adds = 20_000

	var added int64 // under mu
	var mu sync.Mutex
	upTo := func() int { mu.Lock(); defer mu.Unlock(); return int(added) }
	stop := make(chan struct{})
	var wg, writer sync.WaitGroup
	loop := func(f func()) {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					f()
				}
			}
		})
	}
	writer.Go(func() {
		for i := range adds {
			g.Add(name("own", i))
			mu.Lock()
			added++
			mu.Unlock()
		}
	})
	for r := range 2 {
		rng := rand.New(rand.NewPCG(seed, uint64(r)))
		loop(func() {
			if n := upTo(); n > 0 {
				if id := name("own", n-1-rng.IntN(min(n, 100))); !g.MayContain(id) {
					t.Errorf("refused %s", id)
				}
			}
		})
	}
	loop(func() {
		if err := g.Build(context.Background(), numbered("product", 2_000)); err != nil && !errors.Is(err, ErrBuilding) {
			t.Errorf("build: %v", err)
		}
	})
	loop(func() {
		if _, err := g.LoadFile(context.Background(), path, nil); err != nil && !errors.Is(err, ErrBuilding) {
			t.Errorf("load: %v", err)
		}
	})
	loop(func() {
		n := upTo()
		if err := g.SaveFile(path); err != nil {
			t.Errorf("save: %v", err)
			return
		}
		other := newGuard(t, Options{})
		if _, err := other.LoadFile(context.Background(), path, nil); err != nil {
			t.Errorf("load elsewhere: %v", err)
			return
		}
		if k := refusals(other, "own", n); k > 0 {
			t.Errorf("a snapshot lacks %d of the %d ids added before it", k, n)
		}
	})
	writer.Wait()
	close(stop)
	wg.Wait()
	require.Zero(t, refusals(g, "own", adds))
	require.Zero(t, refusals(g, "product", 2_000))
	require.Equal(t, Ready, g.Stats().State)
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

// FuzzLoad feeds bytes from outside to the loader, as they are and with the
// checksum made good, so that what lies behind it is reached. It must not
// panic, nor allocate for a claim, nor leave anything behind on an error.
func FuzzLoad(f *testing.F) {
	g := built(f, Options{Name: "p", MaxBytes: 1 << 16}, "product", 200)
	snapshot := snapshotOf(f, g)
	f.Add(snapshot)
	f.Add(snapshot[:len(snapshot)/2])
	f.Add([]byte{})
	f.Add(resealed(f, snapshot, func(h *header) { h.SampleBytes = 0 }))
	f.Add(resealed(f, snapshot, func(h *header) { h.Held = h.Bits; h.Design = 1 }))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, bytes := range [][]byte{data, seal(data)} {
			load(t, bytes)
		}
	})
}

func load(t *testing.T, data []byte) {
	g := newGuard(t, Options{Name: "p", MaxBytes: 1 << 16})
	g.Add("own")
	_, err := g.Load(context.Background(), bytes.NewReader(data), nil)
	var refused *SnapshotError
	if err != nil && !errors.As(err, &refused) {
		t.Fatalf("error without a name: %v", err)
	}
	if open := g.MayContain("stranger"); err != nil && !open {
		t.Fatal("refuses although the load failed")
	}
	g.Add("more")
	for _, id := range []string{"own", "more"} {
		if !g.MayContain(id) {
			t.Fatalf("refused %s", id)
		}
	}
	g.Stats()
}
