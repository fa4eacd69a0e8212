package store

import (
	"errors"
	"fmt"
)

var (
	// ErrUnavailable says that the tier could not be asked, did not answer in
	// time, or is left alone for now because it did not answer others.
	ErrUnavailable = errors.New("store: tier unavailable")

	// ErrLost says that the lease is over, so nothing was published: it ran out,
	// or somebody changed the key. What was loaded may be out of date.
	ErrLost = errors.New("store: lease lost")

	// ErrClosed says that the Store was closed.
	ErrClosed = errors.New("store: closed")
)

// ValueError is the error for a value that the tier can not take: it can not be
// encoded, or is too large. Trying again is no use, and the tier is well.
type ValueError struct {
	Key string
	Err error
}

func (e *ValueError) Error() string {
	return fmt.Sprintf("store: value of %.64q: %v", e.Key, e.Err)
}

func (e *ValueError) Unwrap() error { return e.Err }

// PendingError is the error of an Invalidate that the tier has not confirmed
// for all keys; of a Set, it says that copies of the key are not told.
type PendingError struct {
	Keys []string // that are not confirmed, and are being tried again
	Lost []string // that are not confirmed and, for lack of room, are not tried again
	Err  error    // why, for one of them
}

func (e *PendingError) Error() string {
	return fmt.Sprintf("store: %d invalidations not confirmed, %d given up: %v", len(e.Keys), len(e.Lost), e.Err)
}

func (e *PendingError) Unwrap() error { return e.Err }
