package storetest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"time"

	"github.com/earlybird-cache/earlybird/store"
)

var _ store.Blobs = (*Client[int])(nil)

// blob is what the server has of one.
type blob struct {
	generation uint64
	mark       string
	body       []byte
	gone       time.Time
}

const mostBlob = 256 << 20

// PutBlob is that of store.Blobs.
func (c *Client[V]) PutBlob(ctx context.Context, name string, b store.Blob) error {
	if b.Body == nil || b.Life <= 0 || len(b.Mark) > store.MaxMark {
		return &store.ValueError{Key: name, Err: errors.New("a blob without life or Body, or with too long a mark")}
	}
	if b.Size > mostBlob {
		return &store.ValueError{Key: name, Err: errors.New("too large")}
	}
	if err := c.usable(ctx); err != nil {
		return err
	}
	body, err := io.ReadAll(io.LimitReader(b.Body, mostBlob+1))
	if err != nil {
		return err
	}
	if len(body) > mostBlob {
		return &store.ValueError{Key: name, Err: errors.New("too large")}
	}
	lost := new(bool)
	err = c.exchange(ctx, "PutBlob", name, func() {
		m := c.mem
		if old, ok := m.blobs[name]; ok && time.Now().Before(old.gone) && old.generation >= b.Generation {
			*lost = true
			return
		}
		if m.blobs == nil {
			m.blobs = make(map[string]blob)
		}
		m.blobs[name] = blob{b.Generation, b.Mark, body, time.Now().Add(b.Life)}
	})
	if err == nil && *lost {
		return store.ErrLost
	}
	return err
}

// GetBlob is that of store.Blobs.
func (c *Client[V]) GetBlob(ctx context.Context, name string) (store.Blob, error) {
	reply := new(store.Blob)
	err := c.exchange(ctx, "GetBlob", name, func() {
		if b, ok := c.mem.blobs[name]; ok && time.Now().Before(b.gone) {
			*reply = store.Blob{Generation: b.generation, Mark: b.mark, Size: int64(len(b.body)), Body: bytes.NewReader(b.body)}
		}
	})
	if err != nil {
		return store.Blob{}, err
	}
	return *reply, nil
}
