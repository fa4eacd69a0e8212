package store

import "context"

// Bus is what a Store may be besides: one that carries small facts to all who
// share the tier, such as the ids of what has just been created, which no
// cache's guard may go on refusing.
//
// # What is promised
//
// A message can not be forced upon somebody who is cut off, or whose process
// stands still. So the promise has two sides: whoever has not heard knows it by
// himself, and whoever tells waits until he must. Together:
//
//	If Hears returns true, then of every fact whose Tell had returned nil
//	before Hears was called, heard has been called with it and has returned,
//	or gap has been called since and has returned.
//
// Nothing is promised of a fact whose Tell has failed or has not returned: it may
// be heard by all, by some or by nobody.
//
// A guard that learns by a Bus therefore asks it first, and looks at what it knows
// after: it refuses an id only if Hears has returned true, no gap is open and the
// id is still unknown after that. It need not ask for what it does not refuse.
//
// gap says that facts may have been missed, of whatever age. The guard opens, and
// what closes it again must have been begun after the gap: a scan of the origin,
// or a snapshot with a [Bus.Place] from which listening goes on. A scan does not
// find what is not committed yet. So who creates tells before he commits, for the
// reader who is quick, and again after.
//
// # What it rests on
//
// Hears holds for a lease, of about a second, from when the tier was last asked
// whether there is more; no messages, no lease. Tell waits for the word of all
// who listen or, for those who give none, until any lease that they may have has
// ended. Only lengths of time are measured, each with one clock: the promise holds
// while clocks run at speeds that differ by less than a tenth, and while the clock
// of a process that stands still, or of its machine, goes on or is set right when
// it continues. An implementation says what becomes of it when the tier fails
// over to a server that was told less.
type Bus interface {
	// Listen begins to listen; it is called at most once. heard is called with
	// one fact after the other, in the order in which all hear them, on one
	// goroutine, on which gap is called too. A fact may be heard twice. heard and
	// gap must be quick: until they return nothing else is heard, and who tells
	// waits.
	//
	// from is a Place that this or another Store had: what was told since is
	// heard first. If the tier does not remember that any more, or from is "",
	// gap is called before anything is heard.
	//
	// When Close has returned neither is called or still runs.
	Listen(from string, heard func(Fact), gap func())

	// Hears reports whether everything has been heard: see above. It is false
	// before Listen and after Close. It is quick, and asks nobody.
	Hears() bool

	// Place says how far this Store has listened: everything told before that has
	// been heard, or a gap was called since. It is to be taken before a snapshot
	// of what was learnt is made. "" before the tier was reached.
	Place() string

	// Tell tells f to all who listen, this Store included if it does. It returns
	// nil when the promise above holds for f. It goes on trying until ctx ends;
	// the error is then that of ctx, and of the tier if that was why. It is a
	// *ValueError, at once, if a key or the Kind is longer than MaxFactPart.
	//
	// As a rule it takes two round trips and what the slowest listener needs. It
	// takes a lease, and an eighth, if somebody who listened stands still or has
	// gone without Close; those who come later do not wait for him again. So it
	// does in the first moments of the tier, and of this Store.
	//
	// A fact with many keys may be heard as several with some of them each.
	Tell(ctx context.Context, f Fact) error

	// Listeners returns about how many Stores listen, this one included, as of some
	// seconds ago; those that have gone without Close may count for that long. 0 is
	// not known. It is quick, and asks nobody.
	Listeners() int
}

// Fact is what a Bus carries. It means what those who use the Bus agree on.
type Fact struct {
	Kind string
	Keys []string
}

// MaxFactPart is how long a Kind, and each key, of a Fact can be, in bytes.
const MaxFactPart = 4 << 10
