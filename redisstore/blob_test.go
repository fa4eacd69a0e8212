//go:build unix

package redisstore_test

import (
	"context"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird/bloom"
	"github.com/earlybird-cache/earlybird/internal/redistest"
	"github.com/earlybird-cache/earlybird/internal/standstill"
	"github.com/earlybird-cache/earlybird/store"
)

// noise returns text that two parts of a blob do not have in common.
func noise(size int) string {
	b := make([]byte, size)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range b {
		b[i] = byte(rng.Uint32())
	}
	return string(b)
}

func putBlob(t testing.TB, s store.Blobs, generation uint64, body string) {
	t.Helper()
	require.NoError(t, s.PutBlob(t.Context(), "guard", store.Blob{Generation: generation, Life: long, Body: strings.NewReader(body)}))
}

// readBlob returns what is there, or why it can not be read.
func readBlob(ctx context.Context, s store.Blobs) (string, error) {
	b, err := s.GetBlob(ctx, "guard")
	if err != nil || b.Body == nil {
		return "", err
	}
	all, err := io.ReadAll(b.Body)
	return string(all), err
}

// Whatever has become of a blob in the server, what is read to the end is what
// was put.
func TestGetBlob_noticesDamage(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	s := open(t, patient[string](server.Addr))
	body := noise(3*(128<<10) + 1000)
	putBlob(t, s, 1, body)
	got, err := readBlob(t.Context(), s)
	require.NoError(t, err)
	require.True(t, body == got)

	parts := strings.Fields(server.Do("KEYS", "eb:p:*"))
	require.Len(t, parts, 4)
	for i, name := range parts {
		require.NotEqual(t, "-1", server.Do("PTTL", name), "everything ends by itself")
		whole := server.Do("GET", name)
		other := server.Do("GET", parts[(i+1)%len(parts)])
		for _, bad := range []string{"", whole[:100], whole[:len(whole)-1], whole + "x", whole[:50] + string(whole[50]^1) + whole[51:], string(whole[0]^1) + whole[1:], other} {
			server.Do("SET", name, bad, "KEEPTTL")
			_, err := readBlob(t.Context(), s)
			require.ErrorIs(t, err, store.ErrBroken)
		}
		server.Do("DEL", name)
		_, err := readBlob(t.Context(), s)
		require.ErrorIs(t, err, store.ErrBroken)
		server.Do("SET", name, whole, "PX", "60000")
	}
	description := server.Do("KEYS", "eb:b:*")
	require.NotEqual(t, "-1", server.Do("PTTL", description))
	whole := server.Do("GET", description)
	for n := range len(whole) {
		flipped := []byte(whole)
		flipped[n] ^= 1 << (n % 8)
		server.Do("SET", description, string(flipped), "PX", "60000")
		b, err := s.GetBlob(t.Context(), "guard")
		require.NoError(t, err)
		require.Nil(t, b.Body)
	}
	server.Do("SET", description, "EBB", "PX", "60000")
	putBlob(t, s, 1, "anew")
	server.Do("DEL", description)
	server.Do("LPUSH", description, "x")
	b, err := s.GetBlob(t.Context(), "guard")
	require.NoError(t, err)
	require.Nil(t, b.Body)
	putBlob(t, s, 1, "anew")
	got, err = readBlob(t.Context(), s)
	require.NoError(t, err)
	require.Equal(t, "anew", got)
}

// Of many who put at once the newest remains, and its parts.
func TestPutBlob_theNewestRemains(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	a, b := open(t, patient[string](server.Addr)), open(t, patient[string](server.Addr))
	var all sync.WaitGroup
	for i := range 20 {
		s := a
		if i%2 == 0 {
			s = b
		}
		all.Go(func() {
			err := s.PutBlob(t.Context(), "guard", store.Blob{Generation: uint64(i), Life: long, Body: strings.NewReader(strings.Repeat(fmt.Sprint(i%10), 200<<10))})
			if err != nil && err != store.ErrLost {
				t.Error(err)
			}
		})
	}
	all.Wait()
	got, err := readBlob(t.Context(), a)
	require.NoError(t, err)
	require.True(t, strings.Repeat("9", 200<<10) == got)
	eventually(t, func() error { // the others' parts end soon
		n := 0
		for _, name := range strings.Fields(server.Do("KEYS", "eb:p:*")) {
			left, err := strconv.Atoi(server.Do("TTL", name))
			require.NoError(t, err)
			if left > 60 {
				n++
			}
		}
		if n > 2 {
			return fmt.Errorf("%d parts", n)
		}
		return nil
	})
}

func TestPutBlob_isBounded(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	opts := patient[string](server.Addr)
	opts.MaxBlob = 300 << 10
	s := open(t, opts)
	putBlob(t, s, 1, noise(300<<10))
	var e *store.ValueError
	err := s.PutBlob(t.Context(), "guard", store.Blob{Generation: 2, Life: long, Body: rand.NewChaCha8([32]byte{})}) // without end
	require.ErrorAs(t, err, &e)
	got, err := readBlob(t.Context(), s)
	require.NoError(t, err)
	require.Len(t, got, 300<<10)

	opts.MaxBlob = 1000
	small := open(t, opts)
	got, err = readBlob(t.Context(), small)
	require.NoError(t, err)
	require.Empty(t, got, "what is too large is not there")
}

func TestBlobs_areBoundedInTime(t *testing.T) {
	t.Parallel()
	standstill.Rounds(t, brief, func(t testing.TB) {
		server := redistest.Start(t)
		s := open(t, brisk(server.Addr))
		set(t, s, "warm", "v")
		putBlob(t, s, 1, noise(1<<20))
		b, err := s.GetBlob(t.Context(), "guard")
		require.NoError(t, err)
		_, err = io.CopyN(io.Discard, b.Body, 200<<10)
		require.NoError(t, err)
		server.Stop()
		defer server.Continue()
		for _, f := range []func() error{
			func() error { _, err := io.ReadAll(b.Body); return err },
			func() error { _, err := s.GetBlob(t.Context(), "guard"); return err },
			func() error {
				return s.PutBlob(t.Context(), "guard", store.Blob{Generation: 2, Life: long, Body: strings.NewReader("x")})
			},
		} {
			inTime(t, soon, func() { require.ErrorIs(t, f(), store.ErrUnavailable) })
		}
	})
}

// An instance that starts with another's snapshot, and listens from where that
// was made, knows what was created since, without a scan and without a gap.
func TestBlobs_newInstanceStartsWarm(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	old := open(t, patient[string](server.Addr))
	filter, err := bloom.New(bloom.Options{Expected: 10_000})
	require.NoError(t, err)
	old.Listen("", func(f store.Fact) {
		for _, id := range f.Keys {
			filter.Add(id)
		}
	}, func() {})
	eventually(t, func() error {
		if !old.Hears() {
			return fmt.Errorf("it does not hear")
		}
		return nil
	})
	ids := func(yield func(string, error) bool) {
		for i := range 1000 {
			if !yield(fmt.Sprint("old ", i), nil) {
				return
			}
		}
	}
	require.NoError(t, filter.Build(t.Context(), iter.Seq2[string, error](ids)))
	require.NoError(t, tell(t.Context(), old, "before the snapshot"))
	place := old.Place()
	in, out := io.Pipe()
	go func() { _, err := filter.WriteTo(out); out.CloseWithError(err) }()
	require.NoError(t, old.PutBlob(t.Context(), "guard", store.Blob{Generation: 1, Mark: place, Life: long, Body: in}))
	require.NoError(t, tell(t.Context(), old, "after the snapshot"))

	fresh := open(t, patient[string](server.Addr))
	warm, err := bloom.New(bloom.Options{Expected: 10_000})
	require.NoError(t, err)
	b, err := fresh.GetBlob(t.Context(), "guard")
	require.NoError(t, err)
	require.NotNil(t, b.Body)
	_, err = warm.Load(t.Context(), b.Body, nil)
	require.NoError(t, err)
	fresh.Listen(b.Mark, func(f store.Fact) {
		for _, id := range f.Keys {
			warm.Add(id)
		}
	}, func() { t.Error("a gap") })
	eventually(t, func() error {
		if !fresh.Hears() {
			return fmt.Errorf("it does not hear")
		}
		return nil
	})
	for _, id := range []string{"old 0", "old 999", "before the snapshot", "after the snapshot"} {
		require.True(t, warm.MayContain(id), id)
	}
	require.False(t, warm.MayContain("stranger") && warm.MayContain("another") && warm.MayContain("third"), "it refuses again")
}
