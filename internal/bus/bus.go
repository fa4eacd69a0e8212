package bus

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/earlybird-cache/earlybird/store"
)

const (
	// Lease is how long a member hears after it has asked. All who share a log
	// must agree on it.
	Lease = time.Second

	// patience is how long a teller waits for a lease to end.
	patience = Lease + Lease/8

	// wait is how long a member waits for messages before it asks again. Two such
	// waits fit into a lease.
	wait = 300 * time.Millisecond

	// pace is what a round takes at least, so that a busy bus is heard in batches.
	pace = 5 * time.Millisecond
)

// Bus is one store's end of a bus. Its methods are those of [store.Bus].
type Bus struct {
	server Server
	name   string
	ctx    context.Context
	stop   context.CancelFunc
	all    sync.WaitGroup // the listener

	heard    func(store.Fact)
	gap      func()
	told     atomic.Uint64
	listened atomic.Uint64
	gaps     atomic.Uint64

	lease atomic.Pointer[time.Time] // when it began; nil if there is none

	mu     sync.Mutex
	closed bool
	at     Place     // up to where it was heard
	era    string    // the latest that was seen
	since  time.Time // when it was seen first

	census census

	polling sync.Mutex
	lows    map[string]low // members that a teller waits for
	low     atomic.Pointer[Place]
}

// New returns a Bus on server that does not listen yet.
func New(server Server) *Bus {
	b := &Bus{server: server, name: rand.Text(), lows: make(map[string]low)}
	b.ctx, b.stop = context.WithCancel(context.Background())
	return b
}

// Listen is that of store.Bus.
func (b *Bus) Listen(from string, heard func(store.Fact), gap func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.closed:
		return
	case b.heard != nil:
		panic("store: Listen was called before")
	}
	b.heard, b.gap = heard, gap
	b.at, _ = parsePlace(from)
	b.all.Go(b.listen)
}

// Hears is that of store.Bus. Time goes by as fast as the faster of two clocks
// says: one stops while the machine sleeps, and the other may be set.
func (b *Bus) Hears() bool {
	began := b.lease.Load()
	if began == nil {
		return false
	}
	now := time.Now()
	return now.Sub(*began) < Lease && now.Round(0).Sub(began.Round(0)) < Lease
}

// Place is that of store.Bus.
func (b *Bus) Place() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.at.String()
}

func (p Place) String() string {
	if p.Era == "" {
		return ""
	}
	return p.Era + "/" + strconv.FormatUint(p.Seq, 10)
}

func parsePlace(s string) (Place, error) {
	i := strings.LastIndexByte(s, '/')
	if i <= 0 {
		return Place{}, errors.New("no place")
	}
	seq, err := strconv.ParseUint(s[i+1:], 10, 64)
	if err != nil {
		return Place{}, err
	}
	return Place{Era: s[:i], Seq: seq}, nil
}

// Counts returns how many facts were told and heard, and how many gaps there
// were. deaf is whether it listens and does not hear.
func (b *Bus) Counts() (told, heard, gaps uint64, deaf bool) {
	b.mu.Lock()
	deaf = b.heard != nil && !b.closed
	b.mu.Unlock()
	return b.told.Load(), b.listened.Load(), b.gaps.Load(), deaf && !b.Hears()
}

// Close ends listening. It waits for a callback that runs, and tells the others
// that they need not wait for this one; ctx bounds that.
func (b *Bus) Close(ctx context.Context) {
	b.mu.Lock()
	listened := b.heard != nil && !b.closed
	b.closed = true
	b.mu.Unlock()
	b.stop()
	b.all.Wait()
	b.lease.Store(nil)
	if listened {
		b.server.Leave(ctx, b.name)
	}
}

// see notes that the log's era is era, and returns since when that is known.
func (b *Bus) see(era string) time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.era != era {
		b.era, b.since = era, time.Now()
	}
	return b.since
}

// sleep reports whether d went by before ctx or the bus ended.
func (b *Bus) sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
	case <-b.ctx.Done():
	}
	return false
}

// ended returns why a Tell must end, with the reason for which it has not yet.
func (b *Bus) ended(ctx context.Context, why error) error {
	switch {
	case b.ctx.Err() != nil:
		return store.ErrClosed
	case ctx.Err() != nil && why != nil:
		return fmt.Errorf("%w: %w", ctx.Err(), why)
	}
	return ctx.Err()
}
