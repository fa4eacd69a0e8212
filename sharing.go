package earlybird

import (
	"cmp"
	"math"
	"sync/atomic"

	"github.com/earlybird-cache/earlybird/store"
	"github.com/earlybird-cache/earlybird/xfetch"
)

// sharing is what binds an entry to the shared tier's record of its key.
type sharing struct {
	// generation is the record's; pending while that of a Set is not known.
	generation atomic.Uint64

	// From renew on a reader has the tier asked again behind him, from due on
	// nobody is served before it was. Before quiet the published clock may tell
	// that it is time for neither.
	renew, quiet int64
	due          atomic.Int64
	outdated     atomic.Bool // the record has changed since
	refused      atomic.Bool // there is none, for the tier can not take the value
	watched      bool        // the tier tells if it does
}

const (
	pending = math.MaxUint64
	doubted = never + 1 // quiet of an entry that is to be asked about
)

// share binds e, which is not published yet, to a record of generation g that was
// in force at since or later. It is believed for near.
func (e *entry[V]) share(g store.Generation, since, near int64) {
	due := satAdd(since, near)
	s := &sharing{renew: math.MaxInt64, quiet: math.MaxInt64}
	if due < e.expiry {
		s.renew = satAdd(due, -near/8)
		s.quiet = min(s.renew, satAdd(due, -slack(near)))
	}
	s.generation.Store(uint64(g))
	s.due.Store(due)
	e.more().sharing = s
}

// nearLife draws how long what the tier says now is believed, or, while it says
// nothing, how long until it is asked again.
func (c *Cache[V]) nearLife(isDown bool) int64 {
	life := max(c.opts.NearTTL, 0)
	if isDown {
		life = min(cmp.Or(life, outageNear), outageNear)
	}
	return int64(xfetch.Life(life, c.jitter(), c.opts.Rand()))
}

// sharing returns what binds e to the shared tier, or nil.
func (e *entry[V]) sharing() *sharing {
	if e == nil {
		return nil
	}
	if r := e.rare.Load(); r != nil {
		return r.sharing
	}
	return nil
}

// generation is that of the record e is a copy of, 0 if it is of none.
func (e *entry[V]) generation() store.Generation {
	if s := e.sharing(); s != nil {
		return store.Generation(s.generation.Load())
	}
	return 0
}

// isFresh reports whether e may be served at now as it is: it has not expired, and
// what the tier said is not too long ago.
func (e *entry[V]) isFresh(now int64) bool { return now < e.expiry && e.isBelieved(now) }

// isBelieved reports whether what the tier said of e is not too long ago at now.
func (e *entry[V]) isBelieved(now int64) bool {
	s := e.sharing()
	return s == nil || now < s.due.Load()
}

// isOutdated reports whether the tier has said that e is.
func (e *entry[V]) isOutdated() bool {
	s := e.sharing()
	return s != nil && s.outdated.Load()
}

// isMissed reports whether it is news that the tier holds nothing of e's key: it has
// lost what it held, or was never told.
func (e *entry[V]) isMissed() bool { return e.generation() != pending && !e.sharing().refused.Load() }

// renewAtOnce has the first reader ask the tier about e.
func (e *entry[V]) renewAtOnce() {
	s := e.sharing()
	s.renew, s.quiet = never, doubted
}

// isToRenew reports whether a reader at now is to have the tier asked again.
func (e *entry[V]) isToRenew(now int64) bool {
	s := e.sharing()
	return s != nil && now >= s.renew
}

// outdate lets e serve until then at most, and whatever happens not longer: the
// record has changed.
func (e *entry[V]) outdate(until int64) {
	s := e.sharing()
	s.outdated.Store(true)
	if until < s.due.Load() {
		s.due.Store(until)
	}
	e.disquiet()
}

// doubt has the tier asked about e before it is served again.
func (e *entry[V]) doubt() {
	e.sharing().due.Store(never)
	e.disquiet()
}

// disquiet makes every reader look closely.
func (e *entry[V]) disquiet() {
	for quiet := e.quiet.Load(); quiet > doubted; quiet = e.quiet.Load() {
		e.quiet.CompareAndSwap(quiet, doubted)
	}
}
