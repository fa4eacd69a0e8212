package store

import "time"

// Outcome is the answer to an Acquire.
type Outcome uint8

const (
	Busy    Outcome = iota // somebody else is at it
	Granted                // the caller may load
	Found                  // there is something newer than the caller has
)

func (o Outcome) String() string {
	switch o {
	case Busy:
		return "busy"
	case Granted:
		return "granted"
	case Found:
		return "found"
	}
	return "unknown outcome"
}

// Claim is what comes of an Acquire.
type Claim[V any] struct {
	Outcome Outcome
	Record  Record[V]     // if Found
	Lease   Lease         // if Granted
	Left    time.Duration // if Busy: how long at most, from now
	Cooling bool          // if Busy: nobody is loading, a load has failed
}

// Lease is the leave to load one key and to publish what comes of it, once.
// Only the store that granted it can tell what Token is.
type Lease struct {
	Key        string
	Generation Generation // that the published record will have
	Token      string
}
