package model

import "fmt"

// Promise is one that the cache makes to those who use it.
type Promise string

const (
	Answers  Promise = "every call returns, no later than its own bounds say"
	Truth    Promise = "a value read was the origin's, or Set, and is within its life"
	Absence  Promise = "a key said to be absent was so within NegativeTTL, or its id was never added"
	Fence    Promise = "once a change has returned nobody who asks is given what was before it"
	Errors   Promise = "an error is of a load that this read waited for, of its own context, or true of the cache"
	OneLoad  Promise = "loads of one key overlap only when a change or a timeout came in between"
	Guarded  Promise = "the guard never hides an added id"
	Shaped   Promise = "malformed keys, and no others, are refused as such"
	Near     Promise = "what is held is served at once, from memory, whatever the context says"
	Early    Promise = "a refresh starts when a draw says so, neither before nor after"
	Gate     Promise = "at most MaxLoads calls run, but for those that others wait for"
	Rate     Promise = "loads start as MaxLoadRate allows, no more and no fewer"
	Rank     Promise = "loads that nobody waits for come last, and leave room for the others"
	Room     Promise = "no more is held than there is room for"
	Detached Promise = "a load belongs to no reader: it has LoadTimeout, and starts for readers who wait"
	Closed   Promise = "after Close nothing runs and nothing is answered"
	Changes  Promise = "a change takes effect at once and does not fail"
	Private  Promise = "a copy of a value that is handed out is nobody else's"
	Warms    Promise = "Warm deals with each of its keys, and says how"
	NearLife Promise = "what one cache has changed no other serves for longer than NearTTL, but one that the tier does not answer"
	Outages  Promise = "without the tier what lives is served, the rest is as Outage says, and what is kept is asked about once there is an answer"
	Order    Promise = "what is of an older generation does not replace what is of a newer"
	Cooling  Promise = "what could not be loaded is left alone for a moment, by the whole fleet"
	Leases   Promise = "leave to load is used up or given back"
	Counted  Promise = "Stats has every read in one class, and every load"
)

// Broken is the error of a run in which a promise was broken.
type Broken struct {
	Promise Promise
	Detail  string
	Script  Script
	History *History // nil in a storm
}

// Error says what was broken, and then how to break it again: [Parse] reads it.
func (b *Broken) Error() string {
	what := fmt.Sprintf("broken promise: %s\n# %s\n", b.Promise, b.Detail)
	if b.History == nil {
		return what
	}
	return fmt.Sprintf("%s\n%s\n# What happened:\n%s%s\n", what, b.Script, b.History, theEnd)
}

// theEnd is the last line of a history in an error.
const theEnd = "# The end."

// broken makes the error of a check; judge completes it.
func broken(p Promise, format string, args ...any) error {
	return &Broken{Promise: p, Detail: fmt.Sprintf(format, args...)}
}
