package store

import (
	"context"
	"time"
)

// Store is one cache's end of a tier that caches share. All methods may be
// called from any goroutine. Keys are any strings, the empty one and those with
// braces, spaces and zero bytes included; different strings are different keys.
type Store[V any] interface {
	// Get returns what the tier holds of key. A Record that is Missing is what
	// it finds if there is nothing, and if what there is can not be read, which
	// the store counts and which the next Publish overwrites.
	Get(ctx context.Context, key string) (Record[V], error)

	// GetMany is Get for several keys at once, at about the cost of one for each
	// server that has some of them. The replies are in the order of keys.
	GetMany(ctx context.Context, keys []string) []Reply[V]

	// Acquire asks for leave to load key. have is the generation of what the
	// caller knows already, 0 if nothing. In one step, the first that applies:
	//
	//   - Found: the tier holds a record above have. It is returned, whether or
	//     not it is still fresh.
	//   - Busy: somebody holds the lease, or the key is cooling down after a
	//     failure; [Claim].Left says how long that lasts at most.
	//   - Granted: the caller gets the lease. It ends by itself after life, so
	//     that the death of its holder blocks nobody for longer.
	//
	// The caller should not load for longer than life, because what it brings
	// later is refused.
	Acquire(ctx context.Context, key string, have Generation, life time.Duration) (Claim[V], error)

	// Wait returns nil when it is worth calling Acquire again: there is a record
	// above have, or nobody is loading any more, because the lease that made the
	// last Acquire answer Busy was used, given up, taken away or has run out. It
	// misses nothing that happened between that Acquire and now, and may return
	// for nothing now and then. While the key is cooling down it returns at
	// once, so there is no use in calling it when Acquire said Cooling.
	//
	// It returns ctx's error when ctx ends, and has no other bound: give ctx a
	// deadline.
	Wait(ctx context.Context, key string, have Generation) error

	// Publish stores r under the lease's key, with the lease's generation, for
	// r.Life and after that r.Grace. It uses the lease up, and wakes those who
	// wait. If the tier's lease for the key is another one, or none, or the tier
	// holds something of the lease's generation or above, nothing is done and
	// the error is ErrLost.
	//
	// r.Left and r.Generation are not looked at. A life below the tier's
	// resolution is lengthened to it, and never becomes nothing or for ever.
	Publish(ctx context.Context, lease Lease, r Record[V]) error

	// Set stores r under key whatever was there, and takes the lease away. It
	// returns the generation given to r. It is for a writer who knows the new
	// value.
	Set(ctx context.Context, key string, r Record[V]) (Generation, error)

	// Fail gives up a lease because the load failed, and wakes those who wait.
	// For coolDown nobody gets another, so that a fleet does not hammer an
	// origin that is down; with 0 the next who asks gets one. If the lease is no
	// longer the tier's, Fail does nothing, and that is not an error.
	Fail(ctx context.Context, lease Lease, coolDown time.Duration) error

	// Invalidate forgets what the tier holds of keys, takes their leases away,
	// and wakes those who wait. What is published later has a generation above
	// all from before, also if the clock of the tier was set back.
	//
	// It is not called off when ctx ends: it returns within the budget all the
	// same. If some keys could not be confirmed, the error is a *PendingError:
	// the store goes on trying, later each time, until it succeeds or is closed.
	// Until then this Store answers as if it had, or not at all: Get finds
	// nothing under those keys, of [MaxGeneration], and Acquire first makes up for
	// it. Others may
	// still find what is to be forgotten.
	Invalidate(ctx context.Context, keys ...string) error

	// InvalidateAll is Invalidate of every key, for each of them at some instant
	// between call and return. It may take seconds; only ctx bounds it. On an
	// error it may have been done for some keys: call it again.
	InvalidateAll(ctx context.Context) error

	// Stats returns the present figures, also after Close.
	Stats() Stats

	// Close gives back what the Store holds. Calls that run are released, and
	// they and later ones fail with ErrClosed. What the tier holds stays there.
	// Closing again does nothing.
	Close() error
}
