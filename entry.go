package earlybird

import (
	"math"
	"strings"
	"sync/atomic"
	"time"

	"github.com/earlybird-cache/earlybird/xfetch"
)

// entry is a value and what the cache knows of it. Instants are cache time.
// What is not atomic is never written after publication.
//
// What a hit looks at comes first and is 64 bytes if V is a string: with the key
// in a string of its own a hit waits for memory once more.
type entry[V any] struct {
	// quiet is the instant before which the entry is served without another
	// thought: no draw can succeed and expiry is far. Retiring the entry sets
	// it to the beginning of time, so that one comparison covers both.
	quiet atomic.Int64

	epoch uint32        // the fence's epoch it was written in
	turn  atomic.Uint32 // the table's, when eviction was last told of a hit
	name  name
	value V

	written int64
	expiry  int64
	delta   atomic.Int64 // smoothed cost of a load, ns: what XFetch goes by
	rare    atomic.Pointer[rare]
}

// rare is what few entries need to know of themselves.
type rare struct {
	long    string   // the key, if it does not fit name
	weight  uint32   // if Options.Weigh says so
	habits  *habits  // if Options.Refresh asks for them
	sharing *sharing // if there is a shared tier

	// resume is the instant before which nobody starts a refresh: in the future
	// while one runs, which makes it a lease that ends by itself, and while
	// failed ones back off.
	resume atomic.Int64
	failed atomic.Int32 // refreshes in a row
}

// name is a short key, held where its entry is.
type name struct {
	len   uint8 // above nameLen: the key is longer
	bytes [nameLen]byte
}

const nameLen = 31

// newEntry returns an entry of key without a value.
func newEntry[V any](key string, weight uint32) *entry[V] {
	e := &entry[V]{name: name{len: uint8(min(len(key), nameLen+1))}}
	isLong := copy(e.name.bytes[:], key) < len(key)
	if isLong || weight != 1 {
		r := &rare{weight: weight}
		if isLong {
			r.long = strings.Clone(key)
		}
		e.rare.Store(r)
	}
	return e
}

// more returns what few entries need to know, and makes room for it if e is
// not yet one of them.
func (e *entry[V]) more() *rare {
	if r := e.rare.Load(); r != nil {
		return r
	}
	e.rare.CompareAndSwap(nil, &rare{weight: 1})
	return e.rare.Load()
}

// weight is what Options.Weigh said of the value.
func (e *entry[V]) weight() uint32 {
	if r := e.rare.Load(); r != nil {
		return r.weight
	}
	return 1
}

// isOf reports whether key is the entry's.
func (e *entry[V]) isOf(key string) bool {
	if len(key) > nameLen {
		return e.name.len > nameLen && e.rare.Load().long == key
	}
	return int(e.name.len) == len(key) && string(e.name.bytes[:len(key)]) == key
}

// retire makes the entry unservable wherever a pointer to it still lies.
func (e *entry[V]) retire() { e.quiet.Store(never) }

// isRetired reports whether the entry was retired.
func (e *entry[V]) isRetired() bool { return e.quiet.Load() == never }

const never = math.MinInt64

// isQuiet reports whether the entry may be served at now, which may lag behind
// the clock, without another thought.
func (e *entry[V]) isQuiet(now int64, epoch uint32) bool {
	return now < e.quiet.Load() && e.epoch == epoch
}

// alive reports whether the entry may be served: it was not retired, and not
// written before the epoch.
func (e *entry[V]) alive(epoch uint32) bool {
	return e.epoch == epoch && !e.isRetired()
}

// scale is the spread of this entry's early refreshes.
func (e *entry[V]) scale(beta float64) time.Duration {
	if beta < 0 {
		return 0
	}
	s := xfetch.Scale(time.Duration(e.delta.Load()), beta)
	return xfetch.ClampScale(s, time.Duration(e.expiry-e.written))
}

// hush sets quiet, before the entry is published.
func (e *entry[V]) hush(beta float64) {
	quiet := e.beforeWindow(e.aim(beta))
	if h := e.habits(); h != nil {
		quiet = min(quiet, h.listens)
	}
	e.quiet.Store(quiet)
}

// beforeWindow is the instant until which no draw with the given aim can
// succeed, nor the shared tier is to be asked, and the published clock may tell.
func (e *entry[V]) beforeWindow(a xfetch.Aim) int64 {
	early := max(int64(a.Window()), slack(e.expiry-e.written))
	quiet := satAdd(e.expiry, -early)
	if s := e.sharing(); s != nil {
		quiet = min(quiet, s.quiet)
	}
	return max(quiet, doubted)
}

// learn makes the entry's recompute dearer than it seemed.
func (e *entry[V]) learn(cost time.Duration) {
	e.delta.Store(int64(xfetch.Smooth(time.Duration(e.delta.Load()), cost)))
}

// elect makes the caller the one who refreshes the entry, unless somebody
// does already or failures hold it back. The election is lost by itself when
// until has passed.
func (e *entry[V]) elect(now, until int64) bool {
	r := e.more()
	resume := r.resume.Load()
	if now < resume || !r.resume.CompareAndSwap(resume, until) {
		return false
	}
	if r.habits != nil {
		r.habits.hush(now)
	}
	return true
}

// holdOff keeps refreshes away until then.
func (e *entry[V]) holdOff(until int64) { e.more().resume.Store(until) }

// spare lets the next reader who draws well try again.
func (e *entry[V]) spare() { e.more().resume.Store(0) }

// isSpared reports whether nobody refreshes the entry at now, nor is to wait
// before he does.
func (e *entry[V]) isSpared(now int64) bool {
	r := e.rare.Load()
	return r == nil || now >= r.resume.Load()
}

// backOff keeps refreshes away after one failed: for the load's usual cost or
// a tenth of a second at first, then longer each time up to an eighth of the
// entry's life.
func (e *entry[V]) backOff(now int64, u float64) {
	base := max(time.Duration(e.delta.Load()), leastBackoff)
	most := max(base, min(time.Duration(e.expiry-e.written)/8, mostBackoff))
	r := e.more()
	r.resume.Store(satAdd(now, int64(backOff(base, most, int(r.failed.Add(1)), u))))
}

// isBackingOff reports whether a load of the key failed lately.
func (e *entry[V]) isBackingOff(now int64) bool {
	r := e.rare.Load()
	return r != nil && r.failed.Load() > 0 && now < r.resume.Load()
}
