package earlybird

import (
	"runtime"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/earlybird-cache/earlybird/bloom"
	"github.com/earlybird-cache/earlybird/hotkeys"
	"github.com/earlybird-cache/earlybird/store"
)

// Stats is what a cache has counted since it was made. Counters only grow;
// they are read one by one, so that sums taken under load may be off by the
// reads that ended meanwhile.
type Stats struct {
	Name string // Options.Name

	// Every read ends in exactly one of these.
	Hits         uint64 // served from memory
	Early        uint64 // served from memory, and elected to refresh the value behind it
	Stale        uint64 // served from memory past its expiry
	NegativeHits uint64 // a remembered absence
	Malformed    uint64 // refused for the key's length or shape
	Refused      uint64 // refused by the guard
	Shared       uint64 // served by the shared tier, which this read asked
	Loaded       uint64 // served by a load that this read started
	Joined       uint64 // served by a load, or its result, that another read started
	Absent       uint64 // the load, or the shared tier, found the key absent
	Failed       uint64 // the load failed, panicked, timed out or was recursive
	Shed         uint64 // refused by the gate: ErrOverloaded
	Left         uint64 // the caller's context ended first
	Closed       uint64 // ErrClosed

	// The origin's side.
	Loads           uint64        // loader calls started
	LoadsNow        int           // running now, the abandoned included
	LoadsMost       int           // most that ever ran at once
	LoadsMostOneKey int           // the same for one key: above 1 after a change or a timeout
	Abandoned       uint64        // calls that outlasted LoadTimeout
	LoadTime        time.Duration // sum over the calls that returned
	LoadTimeMost    time.Duration // the longest of them
	LoadTimeMean    time.Duration // smoothed: what XFetch assumes of a key it knows nothing of
	Refreshes       uint64        // early refreshes that ended
	RefreshFailures uint64        // those that failed; the value was kept
	Fenced          uint64        // results not stored because a change came in between
	Waiting         int           // reads waiting for a load now
	GateQueue       int           // loads waiting for the gate now
	GateWaits       uint64        // loads that ever had to
	GateSheds       uint64        // loads that the gate refused
	Episodes        uint64        // miss episodes begun, see Amplification
	EpisodeLoads    uint64        // loads started in them

	// The shared tier, as this cache sees it.
	Adopted    uint64      // records of others taken into memory
	Renewed    uint64      // copies in memory that the tier confirmed before NearTTL was over
	Denied     uint64      // early refreshes left to another cache that was at it
	Waited     uint64      // loads that waited for another cache's
	Unleased   uint64      // loads without the tier's leave, not stored there: MaxWait was over, or the tier not to be asked
	Lost       uint64      // loaded values that the tier refused: a change had come in between
	TierErrors uint64      // questions that it did not answer
	TierDown   bool        // some were not answered, and since then it was not well for a second
	Deaf       bool        // other caches may have created ids that Guard was not told of: it refuses nothing
	Store      store.Stats // of Options.Store, which others may use too; zero without one

	// What is held.
	Values    int           // values in memory, expired ones included
	Negatives int           // absences in memory, likewise
	AgeServed time.Duration // mean age of a value served from memory, sampled

	Guard      bloom.Stats // of Options.Guard; zero without one
	GuardLoads uint64      // snapshots of other caches' guards that Guard began with: 0 or 1
	GuardSaves uint64      // snapshots of Guard left in the tier for others

	Hot []hotkeys.HotKey // the ten hottest, by Options.HotKeys
}

// Requests returns the number of reads that have ended: Get and Lookup, not
// Peek.
func (s Stats) Requests() uint64 {
	return s.Hits + s.Early + s.Stale + s.NegativeHits + s.Malformed + s.Refused + s.Shared + s.Loaded +
		s.Joined + s.Absent + s.Failed + s.Shed + s.Left + s.Closed
}

// HitRatio returns the share of reads answered from memory, absences included;
// 0 before the first read.
func (s Stats) HitRatio() float64 {
	return ratio(s.Hits+s.Early+s.Stale+s.NegativeHits, s.Requests())
}

// Amplification returns how many loads a miss episode costs. An episode of a
// key begins with the first read that finds nothing to serve and ends when
// something is stored. 1 is perfect; failing loads raise it.
func (s Stats) Amplification() float64 {
	return ratio(s.EpisodeLoads, s.Episodes)
}

func ratio(a, b uint64) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

// Stats returns the present figures. It is safe to call at any time, also
// after Close.
func (c *Cache[V]) Stats() Stats {
	s := Stats{Name: c.opts.Name}
	c.tally.addTo(&s)
	c.calls.addTo(&s)
	c.gate.addTo(&s)
	c.episodes.addTo(&s)
	c.tier.addTo(&s)
	s.Deaf = c.bus != nil && !c.bus.Hears()
	s.LoadTimeMean = c.mean.cost()
	s.Refreshes = c.refreshes.Load()
	s.RefreshFailures = c.refreshFailures.Load()
	s.Fenced = c.fenced.Load()
	s.Waiting = int(c.flights.readers.Load())
	s.Values = c.values.Len()
	s.Negatives = c.negatives.Len()
	s.Guard = c.opts.Guard.Stats()
	s.GuardLoads, s.GuardSaves = c.guardLoads.Load(), c.guardSaves.Load()
	s.Hot = c.opts.HotKeys.Top(10)
	return s
}

// class is how a read ended.
type class uint8

const (
	hit class = iota
	earlyHit
	staleHit
	negativeHit
	malformed
	refusedByGuard
	shared
	loaded
	joined
	originAbsent
	failed
	shed
	left
	closed
	classes
)

// tally counts reads. It is striped, so that readers on several processors
// seldom write to one cache line.
type tally struct {
	stripes []stripe
}

type stripe struct {
	reads [classes]atomic.Uint64
	ages  atomic.Int64 // sum of the sampled ages, ns
	aged  atomic.Uint64
	_     [128 - (classes+2)*8]byte
}

// sampled is of how many hits of a stripe one stops to do what need not be done
// each time.
const sampled = 64

func newTally() *tally {
	n := 1
	for n < 16*runtime.GOMAXPROCS(0) && n < 512 {
		n *= 2
	}
	return &tally{stripes: make([]stripe, n)}
}

// stripe returns the caller's stripe, by where its stack lies: a goroutine
// comes back to the line it wrote last, which a stripe drawn at random would as
// likely find in another processor's cache.
func (t *tally) stripe() *stripe {
	var here byte
	block := uint64(uintptr(unsafe.Pointer(&here)) >> 11)
	return &t.stripes[block*golden>>32&uint64(len(t.stripes)-1)]
}

// golden is 2^64 over the golden ratio: its multiples spread as evenly as can
// be.
const golden = 0x9e3779b97f4a7c15

// isSample picks one count in [sampled], in no rhythm that a reader could be in
// step with.
func isSample(count uint64) bool { return count*golden>>58 == 0 }

func (t *tally) count(c class) { t.add(c, 1) }

func (t *tally) add(c class, n int) { t.stripe().reads[c].Add(uint64(n)) }

// age notes the age of a value served.
func (s *stripe) age(ns int64) {
	s.ages.Add(ns)
	s.aged.Add(1)
}

// hits returns how many hits were counted.
func (t *tally) hits() (n uint64) {
	for i := range t.stripes {
		n += t.stripes[i].reads[hit].Load()
	}
	return n
}

func (t *tally) addTo(s *Stats) {
	var ages int64
	var aged uint64
	var n [classes]uint64
	for i := range t.stripes {
		for c := range n {
			n[c] += t.stripes[i].reads[c].Load()
		}
		ages += t.stripes[i].ages.Load()
		aged += t.stripes[i].aged.Load()
	}
	if aged > 0 {
		s.AgeServed = time.Duration(ages / int64(aged))
	}
	s.Hits, s.Early, s.Stale, s.NegativeHits = n[hit], n[earlyHit], n[staleHit], n[negativeHit]
	s.Malformed, s.Refused = n[malformed], n[refusedByGuard]
	s.Shared, s.Loaded, s.Joined, s.Absent = n[shared], n[loaded], n[joined], n[originAbsent]
	s.Failed, s.Shed, s.Left, s.Closed = n[failed], n[shed], n[left], n[closed]
}
