package l1

import (
	"hash/maphash"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/dgraph-io/ristretto/v2"
)

// Tier holds the values of hot keys. Make one with [New] and close it when it
// is done with. Its methods may be called from any goroutine, also after Close,
// when it is empty and keeps nothing. The nil Tier is one that is off: likewise
// empty.
//
// Values are handed out as they were put in, not copied.
type Tier[V any] struct {
	ristretto *ristretto.Cache[string, *place[V]]
	hash      func(key string) uint64
	fence     fence
	door      door
	closing   sync.Once

	kept, refused, overtaken atomic.Uint64
}

// New makes an empty tier. The error, if any, is an *[OptionError].
func New[V any](opts Options) (*Tier[V], error) {
	seed := maphash.MakeSeed()
	return newTier[V](opts, func(key string) uint64 { return maphash.String(seed, key) })
}

// newTier makes a tier that hashes with hash, which may be as bad as it likes.
func newTier[V any](opts Options, hash func(key string) uint64) (*Tier[V], error) {
	opts, err := opts.filled()
	if err != nil {
		return nil, err
	}
	r, err := ristretto.NewCache(&ristretto.Config[string, *place[V]]{
		MaxCost:            int64(opts.MaxKeys),
		IgnoreInternalCost: true,                     // each place costs 1, and nothing else
		NumCounters:        10 * int64(opts.MaxKeys), // as its authors recommend
		BufferItems:        64,                       // likewise
		// Its second hash would only make up for comparing no keys.
		KeyToHash: func(key string) (uint64, uint64) { return hash(key), 0 },
		// A place is never replaced, not even by one for the same key.
		ShouldUpdate: func(_, _ *place[V]) bool { return false },
		// Called for what is rejected, evicted, deleted and cleared; with nil
		// if there was nothing to delete.
		OnExit: func(p *place[V]) {
			if p != nil {
				p.end()
			}
		},
		// Its ticker looks for lives that have ended, of which it has none.
		TtlTickerDurationInSec: 1 << 30,
	})
	if err != nil {
		return nil, &OptionError{"MaxKeys", opts.MaxKeys, err.Error()}
	}
	return &Tier[V]{ristretto: r, hash: hash}, nil
}

// Get returns the value of key if it is held and expires after now, in
// nanoseconds of the clock that Put's expiry is taken from. It takes no lock but
// ristretto's and does not allocate, except that ristretto collects what is
// asked for in blocks of 64, at most 8 bytes a call.
func (t *Tier[V]) Get(key string, now int64) (v V, ok bool) {
	if t == nil {
		return v, false
	}
	lane := t.door.enter()
	if lane == nil {
		return v, false
	}
	p := t.find(key)
	lane.leave()
	if p == nil {
		return v, false
	}
	if c := p.cell.Load(); c != nil && now < c.expiry && c.all == t.fence.all.Load() {
		return c.value, true
	}
	return v, false
}

// Put stores v for key until expiry, and reports whether the tier holds it now:
// false if there is no room for the key, if something of a higher version is
// there, or if the key was deleted meanwhile. Among equal versions the last
// wins.
//
// What was read from a store is put by a [Fill].
func (t *Tier[V]) Put(key string, v V, version uint64, expiry int64) bool {
	return t.PutIf(key, v, version, expiry, nil)
}

// PutIf is Put under a condition, for whoever has a fence of his own. It is asked,
// at most once, inside the key's critical section, which every change of the key
// must pass: a Delete is over either before the question or after the store. holds
// must be quick, must not block and must not use the tier. nil always holds.
func (t *Tier[V]) PutIf(key string, v V, version uint64, expiry int64, holds func() bool) bool {
	if t == nil {
		return false
	}
	return t.put(key, &cell[V]{value: v, version: version, expiry: expiry}, nil, holds)
}

// put stores c if nothing has happened to key since, if that is not nil, and if
// the condition holds, if that is not nil.
func (t *Tier[V]) put(key string, c *cell[V], since *mark, holds func() bool) bool {
	lane := t.door.enter()
	if lane == nil {
		return false
	}
	defer lane.leave()
	p := t.find(key)
	if p == nil {
		p = t.admit(key)
	}
	switch {
	case p == nil:
		t.refused.Add(1)
		return false
	case !p.put(c, &t.fence, since, holds):
		t.overtaken.Add(1)
		return false
	}
	t.kept.Add(1)
	return true
}

// find returns key's place, or nil. The caller is inside the door.
func (t *Tier[V]) find(key string) *place[V] {
	p, ok := t.ristretto.Get(key)
	if !ok || p.key != key { // the place of a key with the same hash
		return nil
	}
	return p
}

// admit asks ristretto for a place for key and returns it, or nil if it is
// refused. Should others ask at the same time, ristretto keeps the first place
// and they all find that one: hence the places come empty.
func (t *Tier[V]) admit(key string) *place[V] {
	t.ristretto.Set(key, &place[V]{key: strings.Clone(key), hash: t.hash(key)}, 1)
	t.ristretto.Wait() // or it would have decided nothing yet
	return t.find(key)
}

// Delete takes the value of key away and makes fills of it void that have begun,
// whether or not the key is held. The key keeps its place, since a hot key will
// soon want it again. A Put that has not reached the key's critical section when
// Delete is there may store again; a fill may not. It waits for nobody but who is
// storing that key, so it may be called where a connection's messages are read.
func (t *Tier[V]) Delete(key string) {
	if t == nil {
		return
	}
	lane := t.door.enter()
	if lane == nil {
		return
	}
	defer lane.leave()
	t.fence.of(t.hash(key)).Add(1) // first: what is stored in spite of it is then taken away
	if p := t.find(key); p != nil {
		p.empty()
	}
}

// Demote takes the place of key away, with its value, because the key is hot no
// longer.
func (t *Tier[V]) Demote(key string) {
	if t == nil {
		return
	}
	lane := t.door.enter()
	if lane == nil {
		return
	}
	defer lane.leave()
	if t.find(key) != nil {
		t.ristretto.Del(key) // ends the place before it returns
	}
}

// Void makes void all that is held, and all fills that have begun, at once: for
// when changes may have been missed, because the connection that tells of them was
// lost. It takes no longer however much is held. The memory is given back as keys
// are put again or leave.
func (t *Tier[V]) Void() {
	if t != nil {
		t.fence.all.Add(1)
	}
}

// Clear is Void, and takes every key's place away, and forgets how often they were
// asked for.
func (t *Tier[V]) Clear() {
	if t == nil {
		return
	}
	lane := t.door.enter()
	if lane == nil {
		return
	}
	defer lane.leave()
	t.fence.all.Add(1)
	t.ristretto.Clear()
}

// Len returns how many keys have a place, whether there is a value in it or not.
// A Demote that has just returned may not yet be reckoned.
func (t *Tier[V]) Len() int {
	if t == nil {
		return 0
	}
	return int(t.ristretto.MaxCost() - t.ristretto.RemainingCost())
}

// Close removes every key, stops the tier's goroutines and waits for them. It
// may be called more than once, and returns when the first call is done.
func (t *Tier[V]) Close() {
	if t == nil {
		return
	}
	t.closing.Do(func() {
		t.door.close()
		t.ristretto.Close()
	})
}
