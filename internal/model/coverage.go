package model

import (
	"fmt"
	"slices"
	"strings"
)

// Situation is one that a test of the cache must have been in.
type Situation string

const (
	SawHit            Situation = "a hit"
	SawDoneHit        Situation = "a hit with a context that had ended"
	SawDoneMiss       Situation = "a miss with a context that had ended"
	SawSet            Situation = "a value from Set"
	SawLoaded         Situation = "a read that loaded"
	SawJoined         Situation = "a read that joined a load"
	SawPeek           Situation = "a value from Peek"
	SawExpired        Situation = "a load because a value had expired"
	SawEarly          Situation = "an early refresh"
	SawEarlyFailed    Situation = "an early refresh that failed and left the value"
	SawEarlyDue       Situation = "an early refresh that had to be"
	SawLeft           Situation = "a reader who left, of a load that was stored"
	SawAbsent         Situation = "an absence from a load"
	SawNegative       Situation = "a remembered absence"
	SawForgotten      Situation = "a remembered absence cleared by Created"
	SawRefused        Situation = "a refusal by the guard"
	SawAdmitted       Situation = "a row that Creating told the guard of"
	SawMalformed      Situation = "a malformed key"
	SawFailed         Situation = "an error of the origin"
	SawOwnCtxError    Situation = "a context error of the origin's own"
	SawPanic          Situation = "a panic"
	SawGoexit         Situation = "a Goexit"
	SawTimeout        Situation = "a load that timed out"
	SawOverlapTimeout Situation = "overlapping loads because of a timeout"
	SawOverlapFence   Situation = "overlapping loads because of a change"
	SawFenced         Situation = "a load overtaken by a change"
	SawNested         Situation = "a nested load"
	SawLacked         Situation = "a load that lacked an absent dependency"
	SawRecursive      Situation = "a cycle of loads"
	SawFull           Situation = "MaxLoads calls at once"
	SawOver           Situation = "a nested load beyond MaxLoads"
	SawOverloaded     Situation = "a read shed by the gate"
	SawMustHit        Situation = "a read that had to be a hit"
	SawMustMiss       Situation = "a read that had to be a remembered absence"
	SawReleased       Situation = "a waiting read released by Close"
	SawStuck          Situation = "a load that outlasted Close"

	SawMany         Situation = "a value from GetMany"
	SawBatch        Situation = "a load of several keys"
	SawPartial      Situation = "a load of several keys that failed for some"
	SawLeftOut      Situation = "a key that LoadMany left out"
	SawStale        Situation = "a value past its life"
	SawSpare        Situation = "a value in place of a failed load"
	SawUnstored     Situation = "a value that was not to be stored"
	SawInvalid      Situation = "an invalid value"
	SawInvalidAgain Situation = "a value remembered to be invalid"
	SawUnmodified   Situation = "a value that was not modified"
	SawRenewed      Situation = "a value that lived on"
	SawPrivate      Situation = "a copy of a value"
	SawSpelled      Situation = "another spelling of a key"
	SawWarmed       Situation = "a warm-up that loaded something"
	SawRamped       Situation = "as many calls as the ramp allows"

	SawBatchHalf      Situation = "a load of several keys that failed, but for some"
	SawBatchBroken    Situation = "a load of several keys that panicked"
	SawBatchExited    Situation = "a Goexit of a load of several keys"
	SawBatchLate      Situation = "a load of several keys that timed out"
	SawBatchNested    Situation = "a nested load of several keys"
	SawBatchLacked    Situation = "a load of several keys that lacked one that it had asked for"
	SawManyNested     Situation = "a nested GetMany that got a value"
	SawRecursiveBatch Situation = "a cycle of loads through a load of several keys"
	SawOutwaited      Situation = "a read shed because MaxLoadRate was used up"
	SawPaced          Situation = "as many calls as MaxLoadRate allows"
	SawBackground     Situation = "a refresh that may have only some of MaxLoads"
	SawWarming        Situation = "a warm-up that may have only some of MaxLoads"
	SawPartlyWarmed   Situation = "a warm-up that ended early and was gone on with"
	SawAudit          Situation = "a count of what is held where not all has room"
	SawHeavy          Situation = "a value heavier than all the room"
	SawEvicted        Situation = "a load because a value had been evicted"
	SawReplaced       Situation = "a value that a load found to be no more"
	SawRevalidated    Situation = "a value that Revalidate was given"

	SawShared          Situation = "another cache's value from the tier"
	SawCopy            Situation = "a copy in memory of another cache's value"
	SawWaitedFor       Situation = "a value that another cache's load brought while it was waited for"
	SawWaitedOut       Situation = "overlapping loads because MaxWait was over"
	SawOverlapOutage   Situation = "overlapping loads because the tier was not reached"
	SawFailedElsewhere Situation = "an error of another cache's load"
	SawAlone           Situation = "a load without the tier"
	SawCutOff          Situation = "a value that another cache had changed, and that the tier could not be asked about"
	SawUnreached       Situation = "an error of the tier"
	SawPending         Situation = "a change that the tier did not confirm"
)

// Situations are all of them.
var Situations = []Situation{
	SawHit, SawDoneHit, SawDoneMiss, SawSet, SawLoaded, SawJoined, SawPeek,
	SawExpired, SawEarly, SawEarlyFailed, SawEarlyDue, SawLeft,
	SawAbsent, SawNegative, SawForgotten, SawRefused, SawAdmitted, SawMalformed,
	SawFailed, SawOwnCtxError, SawPanic, SawGoexit, SawTimeout,
	SawOverlapTimeout, SawOverlapFence, SawFenced,
	SawNested, SawLacked, SawRecursive, SawFull, SawOver, SawOverloaded,
	SawMustHit, SawMustMiss, SawReleased, SawStuck,
	SawMany, SawBatch, SawPartial, SawLeftOut, SawStale, SawSpare, SawUnstored, SawInvalid,
	SawInvalidAgain, SawUnmodified, SawRenewed, SawPrivate, SawSpelled, SawWarmed, SawRamped,
	SawBatchHalf, SawBatchBroken, SawBatchExited, SawBatchLate, SawBatchNested, SawBatchLacked,
	SawManyNested, SawRecursiveBatch, SawOutwaited, SawPaced, SawBackground, SawWarming, SawPartlyWarmed,
	SawAudit, SawHeavy, SawEvicted, SawReplaced, SawRevalidated,
	SawShared, SawCopy, SawWaitedFor, SawWaitedOut, SawOverlapOutage, SawFailedElsewhere,
	SawAlone, SawCutOff, SawUnreached, SawPending,
}

// Coverage counts how often each situation occurred.
type Coverage map[Situation]int

// Add adds what another run saw.
func (c Coverage) Add(other Coverage) {
	for s, n := range other {
		c[s] += n
	}
}

// Missing returns the situations that never occurred.
func (c Coverage) Missing() []Situation {
	return slices.DeleteFunc(slices.Clone(Situations), func(s Situation) bool { return c[s] > 0 })
}

func (c Coverage) String() string {
	var b strings.Builder
	for _, s := range Situations {
		fmt.Fprintf(&b, "%9d  %s\n", c[s], s)
	}
	return b.String()
}
