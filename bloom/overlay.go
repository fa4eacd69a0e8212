package bloom

import "sync/atomic"

// An overlay is an exact set of the digests added since its generation's
// filter was frozen. One writer at a time inserts; any number of readers look
// on without a lock. It is open-addressed, at most half full, and nothing is
// ever removed, so a probe ends at the first empty slot.
type overlay struct {
	slots []slot // a power of two of them
	used  int    // the writer's
}

type slot struct{ lo, hi atomic.Uint64 }

const smallestOverlay = 64 // slots

func newOverlay(slots int) *overlay { return &overlay{slots: make([]slot, slots)} }

// has may run beside insert. A nil overlay is empty.
func (o *overlay) has(d digest) bool {
	if o == nil {
		return false
	}
	mask := uint64(len(o.slots) - 1)
	for i := d.hi & mask; ; i = (i + 1) & mask {
		switch s := &o.slots[i]; s.lo.Load() {
		case 0:
			return false
		case d.lo:
			if s.hi.Load() == d.hi {
				return true
			}
		}
	}
}

// insert puts in a digest that is not there yet; the overlay must not be full.
func (o *overlay) insert(d digest) {
	mask := uint64(len(o.slots) - 1)
	i := d.hi & mask
	for o.slots[i].lo.Load() != 0 {
		i = (i + 1) & mask
	}
	o.slots[i].hi.Store(d.hi)
	o.slots[i].lo.Store(d.lo) // last: a reader that sees lo sees hi
	o.used++
}

func (o *overlay) full() bool { return o == nil || 2*o.used >= len(o.slots) }

func (o *overlay) len() int {
	if o == nil {
		return 0
	}
	return o.used
}

// each calls f with every digest; the writer's.
func (o *overlay) each(f func(digest)) {
	if o == nil {
		return
	}
	for i := range o.slots {
		if lo := o.slots[i].lo.Load(); lo != 0 {
			f(digest{lo, o.slots[i].hi.Load()})
		}
	}
}

// doubled returns a copy with twice the room.
func (o *overlay) doubled() *overlay {
	if o == nil {
		return newOverlay(smallestOverlay)
	}
	next := newOverlay(2 * len(o.slots))
	o.each(next.insert)
	return next
}
