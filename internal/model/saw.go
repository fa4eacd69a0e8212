package model

import (
	"context"
	"errors"

	"github.com/earlybird-cache/earlybird"
)

func (j *court) sawValue(r *Read, s source) {
	if s.set != nil {
		j.saw[SawSet]++
	}
	switch {
	case r.Verb == Peek:
		j.saw[SawPeek]++
	case r.Verb == Get:
	case r.Result.State == earlybird.Loaded:
		j.saw[SawLoaded]++
		j.sawExpired(r)
	case r.Result.State == earlybird.Joined:
		j.saw[SawJoined]++
	case r.Result.State == earlybird.Early:
		j.saw[SawEarly]++
		j.sawEarlyEnd(r)
	default:
		j.saw[SawHit]++
	}
	if r.DoneBefore {
		j.saw[SawDoneHit]++
	}
	if j.Draw != 0 && r.Result.State == earlybird.Early {
		j.saw[SawEarlyDue]++
	}
}

// sawExpired looks for a value that was there, and had nothing against it but
// its age.
func (j *court) sawExpired(r *Read) {
	for _, l := range j.loadsOf[r.Key] {
		if l.Outcome == Brought && l.End.At+j.TTL <= r.Start.At && j.wasStored(l) && !j.lost(r.Key, l.End, Absent, r.End) {
			j.saw[SawExpired]++
			return
		}
	}
}

// sawEarlyEnd looks for a refresh that r started and that failed, and for a
// later read that nevertheless got the value.
func (j *court) sawEarlyEnd(r *Read) {
	for _, l := range j.loadsOf[r.Key] {
		if l.Leader != r.ID || l.Outcome == Brought || l.Outcome == Absent {
			continue
		}
		for _, o := range j.readsOf[r.Key] {
			if l.End.Before(o.Start) && o.Result.Value == r.Result.Value {
				j.saw[SawEarlyFailed]++
				return
			}
		}
	}
}

// sawLeft looks for the load that r started, left, and others had the use of.
func (j *court) sawLeft(r *Read) {
	if r.DoneBefore {
		j.saw[SawDoneMiss]++
	}
	for _, l := range j.loadsOf[r.Key] {
		if l.Leader != r.ID || l.Outcome != Brought {
			continue
		}
		for _, o := range j.readsOf[r.Key] {
			if o.Result.Value == l.Value {
				j.saw[SawLeft]++
				return
			}
		}
	}
}

func (j *court) sawAbsence(r *Read, l *Load) {
	if r.Parent != 0 {
		j.saw[SawLacked]++
	}
	if waitedFor(r, l) {
		j.saw[SawAbsent]++
	} else {
		j.saw[SawNegative]++
	}
}

func (j *court) sawFailure(l *Load) {
	switch {
	case l.Outcome == Panicked:
		j.saw[SawPanic]++
	case l.Outcome == Exited:
		j.saw[SawGoexit]++
	case errors.Is(l.Fault, context.Canceled) || errors.Is(l.Fault, context.DeadlineExceeded):
		j.saw[SawOwnCtxError]++
	default:
		j.saw[SawFailed]++
	}
}

func (j *court) sawLoad(l *Load) {
	if j.readByID[l.Leader].Parent != 0 {
		j.saw[SawNested]++
	}
	for _, w := range j.writesOf[l.Key] {
		if l.Start.Before(w.Start) && w.End.Before(l.End) {
			j.saw[SawFenced]++
		}
		if l.Outcome != Brought || w.Verb != Created || !w.End.Before(l.Start) {
			continue
		}
		if j.Guard {
			j.saw[SawAdmitted]++
		}
		j.sawForgotten(w, l)
	}
}

// sawForgotten looks for an absence that was remembered when w began, and for
// which l would have had no reason without w.
func (j *court) sawForgotten(w *Write, l *Load) {
	for _, a := range j.loadsOf[l.Key] {
		if a.Outcome == Absent && a.End.Before(w.Start) && l.Start.At < a.End.At+j.least(j.NegativeTTL) && j.wasStored(a) {
			j.saw[SawForgotten]++
			return
		}
	}
}
