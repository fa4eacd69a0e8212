// Package bus is the protocol of [store.Bus], for every tier that keeps a log of
// messages and a table of who listens. See protocol.md in this directory for why
// it keeps the promise.
package bus

import (
	"context"
	"time"
)

// Server is what the protocol asks of a tier. Each method is one step there, but
// Read, which may wait. Errors are those of package store.
type Server interface {
	// Hear records that a member has heard all up to at, in the given round, and
	// returns where the log is now. If at is of another era nothing is recorded.
	Hear(ctx context.Context, name string, round uint64, at Place) (now Place, err error)

	// Read returns what follows at in the log, in order, as much as is convenient.
	// If there is nothing it waits for at most wait. Of another era than at's it
	// returns nothing.
	Read(ctx context.Context, at Place, wait time.Duration) ([]Message, error)

	// Tell appends messages to the log and returns the place of the last one.
	Tell(ctx context.Context, messages []string) (at Place, err error)

	// Members returns the log's era and what each member has said last.
	Members(ctx context.Context) (era string, members []Member, err error)

	// Drop takes members off the table if they have not said anything else since.
	Drop(ctx context.Context, members []Member) error

	// Leave takes a member off the table.
	Leave(ctx context.Context, name string) error
}

// Place is a place in the log. Messages of one era are numbered without a gap. A
// log that has lost anything, or might have, begins a new era.
type Place struct {
	Era string
	Seq uint64 // of the last message before the place
}

// Message is one of the log.
type Message struct {
	Seq  uint64
	Data string
}

// Member is one who listens, and the latest that he has said.
type Member struct {
	Name  string
	Seq   uint64
	Round uint64
}
