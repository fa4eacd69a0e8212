package bloom

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync/atomic"
	"time"

	bitsbloom "github.com/bits-and-blooms/bloom/v3"
)

var (
	// ErrBuilding: another build or load of the same guard is under way.
	ErrBuilding = errors.New("bloom: a build is under way already")
	// ErrEmptySource: the source ended without yielding an id. A query that
	// went wrong is far likelier than an origin with nothing in it, and would
	// make the guard refuse everything; an empty origin loses nothing by a
	// guard that stays open.
	ErrEmptySource = errors.New("bloom: the source has no ids")
	// ErrTooLarge: the source has more ids than Options.MaxBytes has room for.
	ErrTooLarge = errors.New("bloom: more ids than MaxBytes has room for")
	// ErrDamaged: a filter denied an id that it must hold.
	ErrDamaged = errors.New("bloom: the filter denied an id it holds")
)

// Build replaces what the guard knows by the ids that the sequence yields,
// plus those given to Add as described there. Readers go on with the previous
// filter until the new one has been filled and tried out, and then with both
// for Options.Grace.
//
// An error, be it from the sequence, from ctx or one of the package's own,
// leaves everything as it was. The sequence must list what exists at some
// moment after Build was called; it should give up by itself when ctx ends,
// since Build can only look between ids. [Source] makes one that survives a
// broken connection. Duplicates cost some room, no more. Strings are not
// retained.
//
// It takes 16 bytes for each id while it reads, and then the new filter beside
// the old one.
func (g *Guard) Build(ctx context.Context, ids iter.Seq2[string, error]) error {
	if g == nil {
		return nil
	}
	b, err := g.begin(ctx, newSecret())
	if err != nil {
		return err
	}
	defer g.abandon(b) // also when the sequence panics
	if err := b.read(ctx, ids); err != nil {
		return err
	}
	if b.reading.Load() == 0 {
		return ErrEmptySource
	}
	b.carry()
	d := g.opts.designFor(b.listed.n)
	f := &filling{design: d, filter: newFilter(d)}
	b.listed.drain(f.add)
	return g.publish(b, f)
}

// A build is a generation in the making. All but added belongs to the
// goroutine that runs Build or Load.
type build struct {
	opts    *Options
	secret  secret
	born    time.Time
	carried [][]byte // the journal as of begin
	listed  digests  // the source's ids and the carried ones
	reading atomic.Uint64
	sample  sample
	added   digests // ids added since begin, under Guard.mu
	heard   uint64  // Guard.missed at begin
}

// begin begins a build, once nobody is joining.
func (g *Guard) begin(ctx context.Context, s secret) (*build, error) {
	for {
		if err := g.awaitMembers(ctx); err != nil {
			return nil, err
		}
		if b, err := g.tryBegin(s); b != nil || err != nil {
			return b, err
		}
	}
}

// tryBegin returns nothing if somebody is joining.
func (g *Guard) tryBegin(s secret) (*build, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.joining) > 0 {
		return nil, nil
	}
	return g.beginLocked(s)
}

// beginLocked makes the build known to Add: each id is then either in the journal
// that the build carries over or among its added ones.
func (g *Guard) beginLocked(s secret) (*build, error) {
	if g.next != nil {
		return nil, ErrBuilding
	}
	g.next = &build{opts: &g.opts, secret: s, born: time.Now(), carried: g.journal.snapshot(), heard: g.missed}
	return g.next, nil
}

// abandon drops b unless it was published.
func (g *Guard) abandon(b *build) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.next == b {
		g.next = nil
	}
}

// read lists the source's ids.
func (b *build) read(ctx context.Context, ids iter.Seq2[string, error]) error {
	most := b.opts.mostIDs()
	for id, err := range ids {
		n := b.listed.n
		if n%256 == 0 && err == nil {
			b.reading.Store(n)
			err = ctx.Err()
		}
		if err != nil {
			return fmt.Errorf("bloom: source failed after %d ids: %w", n, err)
		}
		if n >= most {
			return fmt.Errorf("%w: %d", ErrTooLarge, most)
		}
		b.listed.append(b.secret.digest(id))
		b.sample.offer(id)
	}
	b.reading.Store(b.listed.n)
	if err := ctx.Err(); err != nil { // a source may end early and say nothing
		return fmt.Errorf("bloom: build stopped after %d ids: %w", b.listed.n, err)
	}
	return nil
}

// carry lists the ids that Add was given before.
func (b *build) carry() {
	for _, chunk := range b.carried {
		eachID(chunk, func(id string) bool {
			b.listed.append(b.secret.digest(id))
			return true
		})
	}
}

// A filling is a filter that is still being written.
type filling struct {
	design
	filter *bitsbloom.BloomFilter
	held   uint64
}

func (f *filling) add(d digest) {
	b := d.bytes()
	if !f.filter.TestOrAdd(b[:]) {
		f.held++
	}
}

// publish completes the filter with the ids added meanwhile, tries it on ids
// it must know, and swaps it in. The last of the ids, the trial and the swap
// are one step under the lock, so no Add falls between the old generation and
// the new; what takes long, many adds and the counting of bits, goes before.
func (g *Guard) publish(b *build, f *filling) error {
	g.takeAdded(b).drain(f.add)
	fill := fillOf(f.filter)

	g.mu.Lock()
	defer g.mu.Unlock()
	b.added.drain(f.add)
	gen := &generation{design: f.design, secret: b.secret, filter: f.filter, held: f.held, fill: fill, born: b.born}
	if !gen.holds(b.sample.ids, g.journal.newest()) {
		return ErrDamaged
	}
	gen.succeed(g.serving.Load(), &g.opts)
	g.current, g.sample, g.damaged, g.heard = gen, b.sample.ids, false, b.heard
	g.next = nil
	g.builds++
	g.tally.restart()
	g.settleLocked()
	return nil
}

func (g *Guard) takeAdded(b *build) *digests {
	g.mu.Lock()
	defer g.mu.Unlock()
	added := b.added
	b.added = digests{}
	return &added
}
