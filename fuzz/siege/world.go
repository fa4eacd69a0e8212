package siege

import (
	"context"
	"errors"
	"iter"
	"slices"
	"time"

	bitsbloom "github.com/bits-and-blooms/bloom/v3"

	"github.com/earlybird-cache/earlybird"
	"github.com/earlybird-cache/earlybird/bloom"
	"github.com/earlybird-cache/earlybird/fuzz/archive"
	"github.com/earlybird-cache/earlybird/fuzz/hostile"
)

// defence is what stands before the origin besides the cache and its shapes.
type defence int

const (
	guarded   defence = iota // the cache's own guard
	unguarded                // nothing
	unkeyed                  // an ordinary Bloom filter in front of the cache
)

const (
	guardRate    = 1e-3
	maxNegatives = 500
	maxLoads     = 128
	maxKeyLen    = 1024
	ttl          = time.Minute // a siege is over sooner, on a slow machine too
	negativeTTL  = time.Second / 4
	jitter       = 0.1
	loadTimeout  = 10 * time.Second
)

// world is an origin and what stands before it.
type world struct {
	archive *archive.Archive
	origin  *origin
	cache   *earlybird.Cache[record]
	guard   *bloom.Guard           // nil unless guarded
	filter  *bitsbloom.BloomFilter // nil unless unkeyed
	created []string               // ids that attackers made
	fault   error                  // of a rebuild, or of making them
}

func newWorld(a *archive.Archive, d defence) (*world, error) {
	w := &world{archive: a, origin: &origin{archive: a}}
	var err error
	switch d {
	case guarded:
		w.guard, err = newGuard(a)
	case unkeyed:
		w.filter = newFilter(a)
	}
	if err != nil {
		return nil, err
	}
	w.cache, err = earlybird.New(w.origin.load, earlybird.Options[record]{
		Name:         "archive",
		TTL:          ttl,
		NegativeTTL:  negativeTTL,
		Jitter:       jitter,
		LoadTimeout:  loadTimeout,
		MaxLoads:     maxLoads,
		MaxEntries:   len(a.Keys()) / 6,
		MaxNegatives: maxNegatives,
		MaxKeyLen:    maxKeyLen,
		Shapes:       archive.Shapes(),
		Guard:        w.guard,
		GuardPart:    archive.ID,
	})
	return w, err
}

// newGuard returns a guard that holds as many ids as it was designed for, when most
// strangers pass: a build leaves room for half as many again as its source lists, so a
// third of the ids come after it, as new records do.
func newGuard(a *archive.Archive) (*bloom.Guard, error) {
	guard, err := bloom.New(bloom.Options{FalsePositiveRate: guardRate, Grace: -1})
	if err != nil {
		return nil, err
	}
	ids := slices.Collect(a.IDs())
	if err := guard.Build(context.Background(), source(ids[:2*len(ids)/3])); err != nil {
		return nil, err
	}
	guard.Add(ids[2*len(ids)/3:]...)
	return guard, nil
}

func source(ids []string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		for _, id := range ids {
			if !yield(id, nil) {
				return
			}
		}
	}
}

// newFilter returns the filter that one would take without thinking of attackers, and
// of a far lower rate than the guard's.
func newFilter(a *archive.Archive) *bitsbloom.BloomFilter {
	ids := slices.Collect(a.IDs())
	filter := bitsbloom.NewWithEstimates(uint(len(ids)), 1e-9)
	for _, id := range ids {
		filter.AddString(id)
	}
	return filter
}

// get is a read of whoever it is.
func (w *world) get(ctx context.Context, key string) (earlybird.Result[record], error) {
	if w.filter != nil && !w.filter.TestString(archive.ID(key)) {
		return earlybird.Result[record]{}, earlybird.ErrNotFound
	}
	return w.cache.Lookup(ctx, key)
}

// target is the world as attackers see it.
func (w *world) target() *hostile.Target {
	return &hostile.Target{
		Archive:   w.archive,
		MaxKeyLen: maxKeyLen,
		Reaches:   w.reaches,
		Create:    w.create,
		Rebuild:   w.rebuild,
	}
}

func (w *world) reaches(key string) bool {
	before := w.origin.hostile.Load()
	_, _ = w.get(hostileContext, key)
	return w.origin.hostile.Load() != before
}

func (w *world) create(key string) {
	w.created = append(w.created, archive.ID(key))
	w.fault = errors.Join(w.fault, w.cache.Created(hostileContext, key))
}

func (w *world) rebuild() {
	ids := slices.AppendSeq(slices.Clone(w.created), w.archive.IDs())
	w.fault = errors.Join(w.fault, w.guard.Build(context.Background(), source(ids)))
}

// denied counts the ids of what exists that the guard would refuse, and the keys that have
// the wrong shape.
func (w *world) denied() (n int) {
	for _, id := range w.created {
		if !w.guard.MayContain(id) {
			n++
		}
	}
	shapes := archive.Shapes()
	for _, key := range w.archive.Keys() {
		if !shapes.Match(key) || !w.guard.MayContain(archive.ID(key)) {
			n++
		}
	}
	return n
}
