package model

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/earlybird-cache/earlybird"
)

// Value is what the origin holds, and who brought it: the load or the Set that
// made this very copy. Values are thus never equal by accident.
type Value struct {
	Key     string
	Version int // of the row
	By      int // ID of the Load or Write
	box     *box
}

func (v Value) String() string { return fmt.Sprintf("%s@%d by %d", v.Key, v.Version, v.By) }

// Stamp is an instant of a run. Seq orders the stamps and is never 0 for an
// instant that has come.
type Stamp struct {
	Seq int
	At  time.Duration // since the run began
}

// Before reports whether s has come, and did so before t.
func (s Stamp) Before(t Stamp) bool { return s.Seq != 0 && (t.Seq == 0 || s.Seq < t.Seq) }

// Span is a call, as seen from outside.
type Span struct{ Start, End Stamp }

// Ended reports whether the call returned.
func (s Span) Ended() bool { return s.End.Seq != 0 }

// Took is how long the call ran, if it ended.
func (s Span) Took() time.Duration { return s.End.At - s.Start.At }

// Read is one call of Get, Lookup or Peek, by a client or by a loader, or one
// key's part of GetMany or Warm. Of the latter it only has the beginning and
// the end.
type Read struct {
	Span
	ID     int
	Client int
	Cache  int // that was asked
	Parent int // the call whose loader reads, as [Load.Call]; 0 for a client
	Verb   Verb
	Key    string // in its one spelling
	Given  string
	Ctx    Ctx

	DoneBefore bool  // its context had ended when it began
	CtxErr     error // of its context, when it ended

	Result earlybird.Result[Value] // without State if the verb is Get or GetMany
	Shared bool                    // somebody else had spoilt the value
	Found  bool                    // by Peek
	Err    error
}

// stated reports whether the read says where its value came from.
func (r *Read) stated() bool { return r.Verb == Lookup || r.Verb == Peek }

// Load is one call of the loader or of Revalidate, or one key's part of a call
// of LoadMany.
type Load struct {
	Span
	ID       int
	Call     int // ID of the call's first part
	Cache    int // whose load it is
	Key      string
	Leader   int           // the Read whose context it was given; 0 if that does not show
	Deadline time.Duration // of its context, since the run began; 0 for none
	Outcome  Outcome
	Value    Value
	Fault    error // what it returned, or panicked with
	Cut      bool  // its context ended before the deadline
	Old      Value // what Revalidate was given
	Shared   bool  // somebody else had spoilt that
	LeftOut  bool  // LoadMany said nothing of the key
	Half     bool  // LoadMany failed as a whole, but for some
}

// Outcome is how a load ended.
type Outcome string

const (
	Running    Outcome = "running"
	Brought    Outcome = "value"
	Unmodified Outcome = "not modified" // Value is the one that Revalidate was given
	Absent     Outcome = "absent"       // also by the word of Validate
	Failed     Outcome = "failed"
	Invalid    Outcome = "invalid"             // a value that Validate refuses
	Lacked     Outcome = "lacked a dependency" // failed because its nested Get did
	Panicked   Outcome = "panicked"
	Exited     Outcome = "goexited"
)

// failed reports whether the load told neither of a value nor of an absence.
func (l *Load) failed() bool { return !l.gave() && l.Outcome != Absent }

// gave reports whether the load gave the cache a value to keep.
func (l *Load) gave() bool { return l.Outcome == Brought || l.Outcome == Unmodified }

// isCall reports whether l stands for its whole call.
func (l *Load) isCall() bool { return l.Call == l.ID }

// Warming is one call of Warm.
type Warming struct {
	Span
	Client int
	Keys   []string // in their one spelling
	Done   earlybird.Warmed
	Err    error
}

// Audited is what the cache held at one instant.
type Audited struct {
	Stamp
	Values []Value // that Peek found
	Stats  earlybird.Stats
}

// Write is one call that changes what the cache holds. Creating counts as two:
// Created before the commit, and Created after it.
type Write struct {
	Span
	ID     int
	Client int
	Cache  int // that was told
	Verb   Verb
	Keys   []string // nil for InvalidateAll and Close: all
	Value  Value    // of Set
	Err    error
}

// touches reports whether the write is about key.
func (w *Write) touches(key string) bool {
	return w.Verb == InvalidateAll || slices.Contains(w.Keys, key)
}

// Row is a change at the origin.
type Row struct {
	Stamp
	Client  int
	Key     string
	Version int // 0: it was deleted
}

// History is what happened in a run. Its records are complete, and may be
// read, once the run is over.
type History struct {
	mu    sync.Mutex
	began time.Time
	seq   int
	ids   int
	times []time.Duration // of the stamps

	Reads    []*Read
	Loads    []*Load
	Writes   []*Write
	Warmings []*Warming
	Audits   []Audited
	Origin   []Row

	// Of several caches:
	Questions []*Question
	Troubles  []Trouble
}

func newHistory() *History { return &History{began: time.Now()} }

func (h *History) stampLocked() Stamp {
	h.seq++
	h.times = append(h.times, time.Since(h.began))
	return Stamp{Seq: h.seq, At: h.times[h.seq-1]}
}

func (h *History) beginRead(r *Read) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ids++
	r.ID = h.ids
	h.Reads = append(h.Reads, r)
	r.Start = h.stampLocked()
}

func (h *History) beginLoad(l *Load) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ids++
	l.ID, l.Outcome = h.ids, Running
	if l.Call == 0 {
		l.Call = l.ID
	}
	h.Loads = append(h.Loads, l)
	l.Start = h.stampLocked()
}

// beginWrite also completes the value of a Set, which names its maker.
func (h *History) beginWrite(w *Write) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ids++
	w.ID = h.ids
	if w.Verb == Set {
		w.Value.By = w.ID
	}
	h.Writes = append(h.Writes, w)
	w.Start = h.stampLocked()
}

func (h *History) beginWarm(w *Warming) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.Warmings = append(h.Warmings, w)
	w.Start = h.stampLocked()
}

func (h *History) audit(values []Value, stats earlybird.Stats) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.Audits = append(h.Audits, Audited{h.stampLocked(), values, stats})
}

// end stamps the end of a call, after fill has written down how it went.
func (h *History) end(s *Span, fill func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	fill()
	s.End = h.stampLocked()
}

func (h *History) row(client int, key string, version int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.Origin = append(h.Origin, Row{h.stampLocked(), client, key, version})
}
