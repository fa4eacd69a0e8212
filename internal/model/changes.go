package model

import (
	"errors"

	"github.com/earlybird-cache/earlybird"
)

// writes: changes wait for nothing, and do not fail but after Close.
func (c *court) writes() error {
	for _, w := range c.changes {
		switch {
		case w.Err == earlybird.ErrClosed && c.isClosing(w.End), w.Err == errCommit:
		case w.Err != nil:
			return broken(Changes, "%v: %v", w, w.Err)
		case w.Took() != 0:
			return broken(Changes, "%v took %v", w, w.Took())
		case c.closing != nil && c.closing.End.Before(w.Start):
			return broken(Closed, "%v went well", w)
		}
	}
	return nil
}

// closed: Close waits for loads at most LoadTimeout and says how many outlasted
// it, to all who call it. After it nothing starts and nothing is served.
func (c *court) closed() error {
	if c.closing == nil {
		return broken(Closed, "the run was not closed")
	}
	first := c.closing
	if first.Took() > c.LoadTimeout {
		return broken(Closed, "%v took %v", first, first.Took())
	}
	for _, w := range c.Writes {
		if w.Verb == Close && w.Err != first.Err {
			return broken(Closed, "%v: %v, but the first said %v", w, w.Err, first.Err)
		}
	}
	if err := c.stuck(); err != nil {
		return err
	}
	for _, l := range c.Loads {
		if first.End.Before(l.Start) {
			return broken(Closed, "%v began after Close", l)
		}
	}
	for _, r := range c.Reads {
		if v := classify(r); first.End.Before(r.Start) && v != over && v != badKey && v != nothing && r.Verb != Warm {
			return broken(Closed, "%v after Close: %s", r, r.outcome())
		}
	}
	return nil
}

// stuck: the error of Close counts the loads that were still running.
func (c *court) stuck() error {
	said := 0
	var err *earlybird.StuckError
	if errors.As(c.closing.Err, &err) {
		said = err.Loads
	}
	at := c.closing.End.At
	least, most := 0, 0
	for _, l := range c.Loads {
		if !l.isCall() {
			continue
		}
		if l.Start.At <= at && l.End.At > at {
			least++
		}
		if l.Start.At <= at && l.End.At >= at {
			most++
		}
	}
	if said < least || said > most {
		return broken(Closed, "Close says %v while %d to %d loads ran", c.closing.Err, least, most)
	}
	if said > 0 && c.closing.Took() < c.LoadTimeout {
		return broken(Closed, "Close says %v after %v", c.closing.Err, c.closing.Took())
	}
	if said > 0 {
		c.saw[SawStuck]++
	}
	return nil
}

// counts: Stats has each read once, in the class that it was in.
func (c *court) counts() error {
	told := make(map[verdict]uint64)
	early, reads := uint64(0), uint64(0)
	for _, r := range c.Reads {
		if r.Verb == Peek || r.Verb == Warm {
			continue
		}
		reads++
		told[classify(r)]++
		if r.Result.State == earlybird.Early {
			early++
		}
	}
	calls := uint64(0)
	for _, l := range c.Loads {
		if l.isCall() {
			calls++
		}
	}
	s := c.stats
	for _, x := range []struct {
		name          string
		counted, told uint64
	}{
		{"requests", s.Requests(), reads},
		{"values", s.Hits + s.Early + s.Stale + s.Loaded + s.Joined, told[value]},
		{"absences", s.NegativeHits + s.Refused + s.Absent, told[notThere]},
		{"malformed keys", s.Malformed, told[badKey]},
		{"failures", s.Failed, told[loadError]},
		{"sheds", s.Shed, told[shed]},
		{"readers who left", s.Left, told[left]},
		{"reads after Close", s.Closed, told[over]},
		{"loads", s.Loads, calls},
		{"loads that run", uint64(s.LoadsNow), 0},
		{"readers that wait", uint64(s.Waiting), 0},
		{"early refreshes", max(s.Early, early), s.Early}, // Get does not say
	} {
		if x.counted != x.told {
			return broken(Counted, "Stats has %d %s, there were %d", x.counted, x.name, x.told)
		}
	}
	return nil
}
