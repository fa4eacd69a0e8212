package model

import (
	"errors"
	"time"

	"github.com/earlybird-cache/earlybird"
)

// judge finds the first broken promise of a run, and what the run has seen.
func judge(s Script, h *History, stats []earlybird.Stats, hung bool) (Coverage, error) {
	c := newCourt(s.Profile, h, stats[0])
	checks := []func() error{
		c.hangs, c.reads, c.loads, c.overlaps, c.circles, c.atOnce, c.paced, c.ranked, c.rooms, c.warmed, c.writes, c.closed, c.counts,
	}
	if s.Profile.isFleet() {
		checks = append([]func() error{c.hangs}, newFleetCourt(c, stats).checks()...)
	}
	if hung {
		checks = []func() error{c.hangs, func() error { return broken(Answers, "the clients came to no end") }}
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
	return c.saw, nil
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
	partsOf  map[int][]*Load   // of a call, by its ID
	renewals map[Value][]*Load // by which Revalidate let a value live on
	readsOf  map[string][]*Read
	loadsOf  map[string][]*Load
	writesOf map[string][]*Write // those that touch the key, Close not among them
	changes  []*Write            // all but Close
	closing  *Write              // the first Close
	longest  time.Duration       // of the loads, as XFetch counts them
}

func newCourt(p Profile, h *History, stats earlybird.Stats) *court {
	c := &court{
		Profile: p, History: h, stats: stats, saw: make(Coverage),
		readByID: make(map[int]*Read),
		loadByID: make(map[int]*Load),
		setByID:  make(map[int]*Write),
		partsOf:  make(map[int][]*Load),
		renewals: make(map[Value][]*Load),
		readsOf:  make(map[string][]*Read),
		loadsOf:  make(map[string][]*Load),
		writesOf: make(map[string][]*Write),
	}
	for _, r := range h.Reads {
		c.readByID[r.ID] = r
		c.readsOf[r.Key] = append(c.readsOf[r.Key], r)
	}
	for _, l := range h.Loads {
		c.loadByID[l.ID] = l
		c.loadsOf[l.Key] = append(c.loadsOf[l.Key], l)
		c.partsOf[l.Call] = append(c.partsOf[l.Call], l)
		if l.Outcome == Unmodified {
			c.renewals[l.Value] = append(c.renewals[l.Value], l)
		}
		c.longest = max(c.longest, min(l.Took(), p.LoadTimeout))
	}
	for _, w := range h.Writes {
		c.file(w)
	}
	return c
}

func (c *court) file(w *Write) {
	switch w.Verb {
	case Close:
		if c.closing == nil {
			c.closing = w
		}
		return
	case Set:
		c.setByID[w.ID] = w
	}
	c.changes = append(c.changes, w)
	for key := range c.readsOf {
		if w.touches(key) {
			c.writesOf[key] = append(c.writesOf[key], w)
		}
	}
}

// hangs tells of calls that never returned.
func (c *court) hangs() error {
	for _, r := range c.Reads {
		if !r.Ended() {
			return broken(Answers, "%v never returned", r)
		}
	}
	for _, w := range c.Writes {
		if !w.Ended() {
			return broken(Answers, "%v never returned", w)
		}
	}
	for _, l := range c.Loads {
		if !l.Ended() {
			return broken(Answers, "%v never ended, though nothing held it", l)
		}
	}
	return nil
}

// superseded returns a change that came between what began and r: it began
// after began, and had returned when r began. A value that may have been stored
// before the instant of a Created stays: Created is about absences.
func (c *court) superseded(began, done Stamp, value bool, r *Read) *Write {
	for _, w := range c.writesOf[r.Key] {
		if w.Err != nil || !began.Before(w.Start) || !w.End.Before(r.Start) {
			continue
		}
		if w.Verb == Created && value && done.Before(w.End) {
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
func (c *court) least(life time.Duration) time.Duration {
	return time.Duration(float64(life)*(1-max(c.Jitter, 0))) - time.Microsecond
}

// isClosing reports whether Close had been called by s.
func (c *court) isClosing(s Stamp) bool { return c.closing != nil && c.closing.Start.Before(s) }
