package storetest_test

import (
	"bytes"
	"context"
	"io"
	"time"

	"github.com/earlybird-cache/earlybird/store"
)

func (m mutant) PutBlob(ctx context.Context, name string, b store.Blob) error {
	switch {
	case m.is("loses marks"):
		b.Mark = ""
	case m.is("keeps any generation"):
		m.good.PutBlob(ctx, name, store.Blob{Generation: b.Generation + 1, Life: time.Hour, Body: bytes.NewReader(nil)})
		b.Generation = 1<<64 - 1
	case m.is("keeps half blobs") && b.Body != nil:
		half, _ := io.ReadAll(b.Body)
		b.Body = bytes.NewReader(half)
	case m.is("keeps blobs for ever"):
		b.Life = 1 << 60
	case m.is("keeps blobs without a life"):
		b.Life = max(b.Life, time.Hour)
	}
	return m.good.PutBlob(ctx, name, b)
}
