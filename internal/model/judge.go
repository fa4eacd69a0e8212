package model

import (
	"errors"
	"time"

	"github.com/earlybird-cache/earlybird"
)

// judge finds the first broken promise of a run, and what the run has seen.
func judge(s Script, h *History, stats earlybird.Stats, hung bool) (Coverage, error) {
	j := newJudge(s.Profile, h, stats)
	checks := []func() error{j.hangs, j.reads, j.loads, j.overlaps, j.atOnce, j.writes, j.closed, j.counts}
	if hung {
		checks = checks[:1]
	}
	for _, check := range checks {
		if err := check(); err != nil {
			var b *Broken
			if errors.As(err, &b) {
				b.Script, b.History = s, h
			}
			return nil, err
		}
	}
	return j.saw, nil
}

// court knows the history by key and by ID. It compares stamps: their order,
// where one call ended before another began, and otherwise their time, since
// in a bubble no time passes between a loader's return and what the cache does
// next.
type court struct {
	Profile
	*History
	stats earlybird.Stats
	saw   Coverage

	readByID map[int]*Read
	loadByID map[int]*Load
	setByID  map[int]*Write
	readsOf  map[string][]*Read
	loadsOf  map[string][]*Load
	writesOf map[string][]*Write // those that touch the key, Close not among them
	changes  []*Write            // all but Close
	closing  *Write              // the first Close
	longest  time.Duration       // of the loads, as XFetch counts them
}

func newJudge(p Profile, h *History, stats earlybird.Stats) *court {
	j := &court{
		Profile: p, History: h, stats: stats, saw: make(Coverage),
		readByID: make(map[int]*Read),
		loadByID: make(map[int]*Load),
		setByID:  make(map[int]*Write),
		readsOf:  make(map[string][]*Read),
		loadsOf:  make(map[string][]*Load),
		writesOf: make(map[string][]*Write),
	}
	for _, r := range h.Reads {
		j.readByID[r.ID] = r
		j.readsOf[r.Key] = append(j.readsOf[r.Key], r)
	}
	for _, l := range h.Loads {
		j.loadByID[l.ID] = l
		j.loadsOf[l.Key] = append(j.loadsOf[l.Key], l)
		j.longest = max(j.longest, min(l.Took(), p.LoadTimeout))
	}
	for _, w := range h.Writes {
		j.file(w)
	}
	return j
}

func (j *court) file(w *Write) {
	switch w.Verb {
	case Close:
		if j.closing == nil {
			j.closing = w
		}
		return
	case Set:
		j.setByID[w.ID] = w
	}
	j.changes = append(j.changes, w)
	for key := range j.readsOf {
		if w.touches(key) {
			j.writesOf[key] = append(j.writesOf[key], w)
		}
	}
}

// hangs tells of calls that never returned.
func (j *court) hangs() error {
	for _, r := range j.Reads {
		if !r.Ended() {
			return broken(Answers, "%v never returned", r)
		}
	}
	for _, w := range j.Writes {
		if !w.Ended() {
			return broken(Answers, "%v never returned", w)
		}
	}
	for _, l := range j.Loads {
		if !l.Ended() {
			return broken(Answers, "%v never ended, though nothing held it", l)
		}
	}
	return nil
}

// superseded returns a change that came between what began and r: it began
// after began, and had returned when r began. A value that was done when
// Created began is not superseded by it: Created is about absences.
func (j *court) superseded(began, done Stamp, value bool, r *Read) *Write {
	for _, w := range j.writesOf[r.Key] {
		if w.Err != nil || !began.Before(w.Start) || !w.End.Before(r.Start) {
			continue
		}
		if w.Verb == Created && value && done.Before(w.Start) {
			continue
		}
		return w
	}
	return nil
}

// waitedFor reports whether r can have waited for l: they overlap. A load that
// ended at the instant at which r began may not have answered yet.
func waitedFor(r *Read, l *Load) bool {
	return l.Key == r.Key && l.Start.Before(r.End) && l.End.At >= r.Start.At
}

// least is the least that jitter leaves of a life, and a little less.
func (j *court) least(life time.Duration) time.Duration {
	return time.Duration(float64(life)*(1-max(j.Jitter, 0))) - time.Microsecond
}

// isClosing reports whether Close had been called by s.
func (j *court) isClosing(s Stamp) bool { return j.closing != nil && j.closing.Start.Before(s) }
