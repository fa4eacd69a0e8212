package store

import (
	"context"
	"time"
)

const (
	// MostCopies is the largest number of copies of a key, the base included.
	MostCopies = 64

	// CopyLife bounds the life of a copy, from when it is written. It bounds for
	// how long a copy can be out of date although nobody could tell it so.
	CopyLife = 2 * time.Second
)

// Splitter is what a Store may be besides, if it can keep copies of a key in
// other places than the key's own: the readers of a key that is too hot for one
// server are spread over several.
//
// What the methods of Store work on is the base. It alone has leases, and on it
// alone is decided when to load again. Copies are made of the base by Spread and
// seen by GetCopy, and by nothing else; a Publish leaves them as they are, with
// what is a little older and within its life.
//
// Copy i of n lies in a place that depends on nothing but the key, i and n. For
// another n they are other copies. So nobody need agree with anybody about which
// keys are split: who takes one for split that is not finds no copy and asks the
// base.
//
// # Changes reach the copies
//
// Spread notes, in the one step in which it reads the base, that there are copies.
// So that is known to whoever changes the key later, on whatever machine and
// however cold the key may look there. Invalidate, InvalidateAll and Set change
// the base first, in a step that tells them of copies, and then leave a tombstone
// with the new generation in each. What a copy or its tombstone has of a higher
// generation never gives way to a lower: a Spread under way that comes late
// stores nothing. Hence
//
//   - a copy holds what the base has held, and once a change has returned without
//     an error, no GetCopy that starts finds what was before;
//   - if some copies could not be told, the error is a *PendingError with their
//     keys, from Set too, which has stored its record all the same. The store
//     goes on trying while copies can live; meanwhile its own GetCopy finds none
//     of the key's. Others may still find what was before, for CopyLife at most
//     after it was copied.
//
// The note outlives every copy. It may be lost, as all may that a tier holds: then
// a change does not reach the copies, and CopyLife is what bounds them.
type Splitter[V any] interface {
	// GetCopy returns what copy i of n holds, 0 <= i < n and 2 <= n <= MostCopies;
	// else it panics. Copy 0 is the base, of which it returns what Get would. If
	// the copy is Missing, ask the base; its Generation is that below which
	// everything is void, or 0.
	GetCopy(ctx context.Context, key string, i, n int) (Copy[V], error)

	// Spread makes copies 1 to n-1 of what the base holds, for as long as the base
	// would keep it and CopyLife at most. If there is nothing, or if somebody has
	// just done it, it does nothing; so call it whenever a copy was Due and the
	// base has a record. It takes the budgets of a read and of a write.
	Spread(ctx context.Context, key string, n int) error
}

// Copy is what a copy holds.
type Copy[V any] struct {
	// Record is that of the base, its Left counted as if it had been read there.
	Record[V]

	// Due says that the copy is missing, or will be soon: it is time to Spread.
	Due bool
}

// CheckCopy panics if there is no copy i of n. It is for implementations.
func CheckCopy(i, n int) {
	if n < 2 || n > MostCopies {
		panic("store: a key has 2 to 64 copies, the base included")
	}
	if i < 0 || i >= n {
		panic("store: there is no such copy")
	}
}
