package store

// Stats is what one Store has counted. Counters only grow.
type Stats struct {
	Gets, Acquires, Publishes, Sets, Fails, Invalidations, Waits Calls

	Copies, Spreads Calls  // GetCopies of other copies than the base, and Spreads
	CopiesFound     uint64 // GetCopies of those that found a record

	Found   uint64 // keys of Gets and GetManys that had a record
	Missing uint64 // that had none
	Damaged uint64 // that had something unreadable, which counts as missing too
	Foreign uint64 // damaged ones that are another codec's, version's or key's, and intact

	Granted uint64 // Acquires by their outcome
	Busy    uint64
	Newer   uint64 // Found
	Lost    uint64 // Publishes refused with ErrLost

	Watched int    // keys that are watched now
	Changes uint64 // told to watchers
	Losses  uint64 // times that all watches were lost

	Told  uint64 // facts
	Heard uint64
	Gaps  uint64 // in what was heard, the one at the beginning included
	Deaf  bool   // it listens, and does not hear now

	Pending        int    // keys whose invalidation is not confirmed now
	Retried        uint64 // invalidations confirmed after more than one try
	GivenUp        uint64 // invalidations given up for lack of room, or because the Store was closed
	Open           int    // parts of the tier that are left alone now
	Opened         uint64 // times that one began to be left alone
	Parts          int    // that the tier is divided into
	LastError      string // the latest error from the tier, for people; "" if none
	RefusedValues  uint64 // values that could not be encoded or were too large
	RefusedReplies uint64 // replies of the server that broke the protocol, each with its connection
}

// Calls counts one method's calls, by how they ended.
type Calls struct {
	Done     uint64 // without an error of the tier
	Failed   uint64 // with one: it was asked in vain
	Skipped  uint64 // not made, because that part of the tier is left alone now
	TimedOut uint64 // of those that failed: no answer within the budget
}

// Errors returns how many calls the tier did not answer.
func (c Calls) Errors() uint64 { return c.Failed + c.Skipped }
