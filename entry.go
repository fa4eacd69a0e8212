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
// What a hit looks at comes first and, if V is a string or smaller, fits one
// line of the processor's cache, where the allocator puts an object of this
// size: with the key in a string of its own a hit waits for memory once or twice
// more.
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
	weight  uint32
	retired atomic.Bool

	// resume is the instant before which nobody starts a refresh: in the future
	// while one runs, which makes it a lease that ends by itself, and while
	// failed ones back off.
	resume atomic.Int64
	failed atomic.Int32 // refreshes in a row

	long string // the key, if it does not fit name
}

// name is a short key, held where its entry is.
type name struct {
	len   uint8 // above nameLen: the key is longer
	bytes [nameLen]byte
}

const nameLen = 31

// newEntry returns an entry of key without a value.
func newEntry[V any](key string) *entry[V] {
	e := &entry[V]{name: name{len: uint8(min(len(key), nameLen+1))}}
	if copy(e.name.bytes[:], key) < len(key) {
		e.long = strings.Clone(key)
	}
	return e
}

// isOf reports whether key is the entry's.
func (e *entry[V]) isOf(key string) bool {
	if len(key) > nameLen {
		return e.long == key
	}
	return int(e.name.len) == len(key) && string(e.name.bytes[:len(key)]) == key
}

// retire makes the entry unservable wherever a pointer to it still lies.
func (e *entry[V]) retire() {
	e.retired.Store(true)
	e.quiet.Store(math.MinInt64)
}

// isQuiet reports whether the entry may be served at now, which may lag behind
// the clock, without another thought.
func (e *entry[V]) isQuiet(now int64, epoch uint32) bool {
	return now < e.quiet.Load() && e.epoch == epoch
}

// alive reports whether the entry may be served: it was not retired, and not
// written before the epoch.
func (e *entry[V]) alive(epoch uint32) bool {
	return e.epoch == epoch && !e.retired.Load()
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
	early := max(int64(xfetch.Window(e.scale(beta))), slack(e.expiry-e.written))
	e.quiet.Store(satAdd(e.expiry, -early))
}

// learn makes the entry's recompute dearer than it seemed.
func (e *entry[V]) learn(cost time.Duration) {
	e.delta.Store(int64(xfetch.Smooth(time.Duration(e.delta.Load()), cost)))
}

// elect makes the caller the one who refreshes the entry, unless somebody
// does already or failures hold it back. The election is lost by itself when
// until has passed.
func (e *entry[V]) elect(now, until int64) bool {
	resume := e.resume.Load()
	return now >= resume && e.resume.CompareAndSwap(resume, until)
}

// spare lets the next reader who draws well try again.
func (e *entry[V]) spare() {
	e.resume.Store(0)
}

// backOff keeps refreshes away after one failed: for the load's usual cost or
// a tenth of a second at first, then longer each time up to an eighth of the
// entry's life.
func (e *entry[V]) backOff(now int64, u float64) {
	base := max(time.Duration(e.delta.Load()), leastBackoff)
	most := max(base, min(time.Duration(e.expiry-e.written)/8, mostBackoff))
	e.resume.Store(satAdd(now, int64(backOff(base, most, int(e.failed.Add(1)), u))))
}

// isBackingOff reports whether a load of the key failed lately.
func (e *entry[V]) isBackingOff(now int64) bool {
	return e.failed.Load() > 0 && now < e.resume.Load()
}
