package storetest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird/store"
)

// keeping are the promises of store.Blobs, for stores that keep them.
var keeping = []promise{
	{"BlobsTravelUnchanged", blobsTravel, anyLease},
	{"BlobsAreReplacedByNewerOnes", blobsAreReplaced, anyLease},
	{"BlobIsReadAsItWasOrNotAtAll", blobsAreWhole, anyLease},
	{"BlobsEnd", blobsEnd, anyLease},
	{"MeaninglessBlobsAreRefused", meaninglessBlobs, anyLease},
}

// blobsOf returns s as a keeper of blobs; a test of a store that is none is
// skipped.
func (x *tier) blobsOf(s store.Store[*Item]) store.Blobs {
	x.Helper()
	b, ok := s.(store.Blobs)
	if !ok {
		x.Skip("it is no store.Blobs")
	}
	return b
}

func blobOf(generation uint64, body string) store.Blob {
	return store.Blob{Generation: generation, Life: long, Body: strings.NewReader(body)}
}

// fetch returns what is kept under name, nothing if there is nothing.
func (x *tier) fetch(b store.Blobs, name string) (body string, found store.Blob) {
	x.Helper()
	found, err := b.GetBlob(x.Context(), name)
	require.NoError(x, err)
	if found.Body == nil {
		require.Zero(x, found)
		return "", found
	}
	all, err := io.ReadAll(found.Body)
	require.NoError(x, err)
	require.EqualValues(x, len(all), found.Size)
	return string(all), found
}

func blobsTravel(x *tier) {
	a, b := x.blobsOf(x.a), x.blobsOf(x.b)
	_, found := x.fetch(b, "none")
	require.Nil(x, found.Body)
	for i, name := range []string{"", "name", "{}", "}{", "na\x00me", "name:1", strings.Repeat("n", 1000)} {
		for j, size := range []int{0, 1, 1 << 17, 1<<17 + 1, 1<<20 + 5} {
			in := blobOf(uint64(1+j), rough(size))
			in.Mark = fmt.Sprint("mark\x00\xff", i)
			in.Body = iotest.HalfReader(in.Body)
			require.NoError(x, a.PutBlob(x.Context(), name, in))
			body, out := x.fetch(b, name)
			require.True(x, rough(size) == body)
			require.Equal(x, in.Mark, out.Mark)
			require.Equal(x, in.Generation, out.Generation)
		}
	}
	require.NoError(x, x.a.InvalidateAll(x.Context()))
	require.NoError(x, x.a.Invalidate(x.Context(), "name"))
	body, _ := x.fetch(b, "name")
	require.Len(x, body, 1<<20+5, "blobs are no records")
	require.Zero(x, x.get(x.a, "name").Kind)
}

func blobsAreReplaced(x *tier) {
	a, b := x.blobsOf(x.a), x.blobsOf(x.b)
	put := func(s store.Blobs, generation uint64, body string) error {
		return s.PutBlob(x.Context(), "k", blobOf(generation, body))
	}
	require.NoError(x, put(a, 0, "zero"))
	require.ErrorIs(x, put(b, 0, "another"), store.ErrLost)
	require.NoError(x, put(b, 1<<40, "new"))
	for _, old := range []uint64{0, 1, 1<<40 - 1, 1 << 40} {
		require.ErrorIs(x, put(a, old, "old"), store.ErrLost)
	}
	body, found := x.fetch(a, "k")
	require.Equal(x, "new", body)
	require.EqualValues(x, int64(1<<40), found.Generation)
	require.NoError(x, put(a, 1<<64-1, "last"))
	require.ErrorIs(x, put(a, 1<<63, "signed"), store.ErrLost)
	body, _ = x.fetch(a, "k")
	require.Equal(x, "last", body)
}

func blobsAreWhole(x *tier) {
	a, b := x.blobsOf(x.a), x.blobsOf(x.b)
	one, two := strings.Repeat("1", 1<<20), strings.Repeat("2", 1<<20)
	require.NoError(x, a.PutBlob(x.Context(), "k", blobOf(1, one)))
	broken := errors.New("broken")
	in := store.Blob{Generation: 2, Life: long, Body: io.MultiReader(strings.NewReader(two), iotest.ErrReader(broken))}
	require.ErrorIs(x, a.PutBlob(x.Context(), "k", in), broken)
	body, _ := x.fetch(b, "k")
	require.True(x, one == body, "the old one is there until the new one is whole")

	found, err := b.GetBlob(x.Context(), "k")
	require.NoError(x, err)
	first := make([]byte, 1000)
	_, err = io.ReadFull(found.Body, first)
	require.NoError(x, err)
	require.NoError(x, a.PutBlob(x.Context(), "k", blobOf(3, two)))
	rest, err := io.ReadAll(found.Body)
	if err == nil {
		require.True(x, one == string(first)+string(rest), "two are never mixed")
	} else {
		require.ErrorIs(x, err, store.ErrBroken)
	}
	body, _ = x.fetch(b, "k")
	require.True(x, two == body)
}

func blobsEnd(x *tier) {
	a := x.blobsOf(x.a)
	in := blobOf(7, "body")
	in.Life = short
	require.NoError(x, a.PutBlob(x.Context(), "k", in))
	x.eventually(func() bool { found, err := a.GetBlob(x.Context(), "k"); return err == nil && found.Body == nil }, "its life must end")
	require.NoError(x, a.PutBlob(x.Context(), "k", blobOf(1, "anew")))

	ctx, cancel := context.WithCancel(x.Context())
	cancel()
	_, err := a.GetBlob(ctx, "k")
	require.ErrorIs(x, err, context.Canceled)
	require.ErrorIs(x, a.PutBlob(ctx, "k", blobOf(2, "canceled")), context.Canceled)
	require.NoError(x, x.a.Close())
	_, err = a.GetBlob(x.Context(), "k")
	require.ErrorIs(x, err, store.ErrClosed)
	require.ErrorIs(x, a.PutBlob(x.Context(), "k", blobOf(2, "closed")), store.ErrClosed)
	body, _ := x.fetch(x.blobsOf(x.b), "k")
	require.Equal(x, "anew", body)
}

func meaninglessBlobs(x *tier) {
	a := x.blobsOf(x.a)
	for _, in := range []store.Blob{
		{}, {Life: long}, {Body: strings.NewReader("x")}, {Life: -1, Body: strings.NewReader("x")},
		{Life: long, Body: strings.NewReader("x"), Mark: strings.Repeat("m", store.MaxMark+1)},
		{Life: long, Body: iotest.ErrReader(errors.New("read all the same")), Size: 1 << 50},
	} {
		var e *store.ValueError
		require.ErrorAs(x, a.PutBlob(x.Context(), "k", in), &e)
		require.Equal(x, "k", e.Key)
	}
	_, found := x.fetch(a, "k")
	require.Nil(x, found.Body)
}
