package l1

import "sync/atomic"

// fence tells whether a key was deleted since some moment, also one that the tier
// does not hold. Keys share stripes: a deletion of another key may void a fill,
// which then costs a read of the store and nothing else.
type fence struct {
	all     atomic.Uint64 // times that everything was made void
	stripes [stripes]atomic.Uint64
}

const stripes = 1 << 10

// mark is a moment as a key's fence knows it.
type mark struct {
	all, own uint64
}

func (f *fence) of(hash uint64) *atomic.Uint64 { return &f.stripes[hash%stripes] }

func (f *fence) now(hash uint64) mark {
	return mark{all: f.all.Load(), own: f.of(hash).Load()}
}
