package earlybird

import (
	"hash/maphash"
	"sync/atomic"
)

// fence orders loads against changes. A load takes a pass before it begins and
// publishes only while the pass holds; a change raises the fence, and so every
// load that began before it answers those who already wait and is then
// forgotten.
//
// A change raises twice, before and after it touches what is stored. The first
// raise keeps a load that is about to publish from putting the doomed value
// back. The second is for a load that began in between: it may have found the
// doomed value still stored, and whoever comes once the change has returned
// must not join it.
//
// Keys share 2^16 stripes. A raise for one key also fences the loads of its
// stripe's other keys, which costs them a load and never gives a wrong value.
type fence struct {
	seed    maphash.Seed
	epoch   atomic.Uint32 // raised by changes to all keys at once
	stripes [1 << 16]atomic.Uint32
}

// pass is the state of the fence before one key at one instant.
type pass struct {
	fence  *fence
	stripe *atomic.Uint32
	epoch  uint32
	height uint32
}

func newFence() *fence {
	return &fence{seed: maphash.MakeSeed()}
}

func (f *fence) stripe(key string) *atomic.Uint32 {
	return &f.stripes[maphash.String(f.seed, key)%uint64(len(f.stripes))]
}

// pass returns the pass of a load of key that begins now.
func (f *fence) pass(key string) pass {
	s := f.stripe(key)
	return pass{fence: f, stripe: s, epoch: f.epoch.Load(), height: s.Load()}
}

// holds reports whether nothing was raised since the pass was taken.
func (p pass) holds() bool {
	return p.stripe.Load() == p.height && p.fence.epoch.Load() == p.epoch
}

func (f *fence) raise(key string) { f.stripe(key).Add(1) }

// raiseAll takes effect for all keys at once: entries carry the epoch they
// were written in, and those of an earlier one are never served.
func (f *fence) raiseAll() { f.epoch.Add(1) }
