package store

import (
	"context"
	"errors"
	"io"
	"time"
)

// Blobs is what a Store may be besides: one that keeps a few large things for all
// who share the tier, such as the snapshot of a guard with which a new instance
// starts warm. They have names of their own, which are any strings, and nothing
// to do with keys: InvalidateAll leaves them alone.
type Blobs interface {
	// PutBlob reads b.Body to its end and keeps that under name for b.Life, unless
	// there is a blob of b.Generation or a higher one already: then the error is
	// ErrLost, which may come before Body is read. Others find the old blob until
	// the new one is there as a whole. It is a *ValueError if the blob has no life
	// or no Body, or is too large.
	//
	// Only ctx bounds it, but each of its messages has a budget as for any other
	// call; the error is ErrUnavailable if one of them fails. That of Body is
	// returned as it is.
	PutBlob(ctx context.Context, name string, b Blob) error

	// GetBlob returns what is kept under name; if there is nothing, or nothing
	// that can be read, Body is nil and the error too. Reading from Body asks the
	// tier for one part after the other, within ctx.
	//
	// Body ends with io.EOF if it was read as it was put, whole and undamaged.
	// Any other error, ErrBroken among them, means that what was read before is
	// not to be used. All of it comes from outside: it may be undamaged, and yet
	// not be what one hopes that somebody has put there.
	GetBlob(ctx context.Context, name string) (Blob, error)
}

// Blob is one of Blobs.
type Blob struct {
	// Generation orders the blobs of a name; 0 is replaced by any other.
	Generation uint64

	// Mark is what its reader should know first, such as the Place in a Bus that
	// a snapshot was made at; at most MaxMark bytes.
	Mark string

	// Life is how long it is kept from when it is stored. GetBlob does not say.
	Life time.Duration

	// Size is the length of Body in bytes. PutBlob need not be told, but refuses at
	// once what is said to be too large.
	Size int64

	Body io.Reader
}

// MaxMark is how long a Mark can be, in bytes.
const MaxMark = 1 << 10

// ErrBroken says that a blob is damaged, or was replaced while it was read: try
// again, from the beginning.
var ErrBroken = errors.New("store: blob not whole")
