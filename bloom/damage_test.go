package bloom

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

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
