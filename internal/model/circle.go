package model

import "github.com/earlybird-cache/earlybird"

// circles: loads never wait for one another in a circle until time is up. The
// one that would close it is told so.
func (c *court) circles() error {
	for _, r := range c.Reads {
		if r.Parent != 0 && c.outwaits(r) && c.closes(r, r.Parent, make(map[*Read]bool)) {
			return broken(Answers, "%v waited for what waited for it", r)
		}
	}
	return nil
}

// closes reports whether the call that r certainly waited for, a moment before
// r gave up, waited for the call to, perhaps through others.
func (c *court) closes(r *Read, to int, been map[*Read]bool) bool {
	been[r] = true
	call := c.onlyCall(r)
	if call == 0 || call == to {
		return call == to
	}
	for _, n := range c.Reads {
		if n.Parent == call && !been[n] && n.Start.At < r.End.At && n.End.At >= r.End.At && c.outwaits(n) && c.closes(n, to, been) {
			return true
		}
	}
	return false
}

// outwaits reports whether r waited until somebody's time was up.
func (c *court) outwaits(r *Read) bool {
	return r.Took() > 0 && (classify(r) == left || r.Err == earlybird.ErrLoadTimeout)
}

// onlyCall returns the one call for r's key that ran while r waited, or 0.
func (c *court) onlyCall(r *Read) (call int) {
	for _, l := range c.loadsOf[r.Key] {
		switch {
		case l.End.At < r.Start.At || l.Start.At > r.End.At:
		case call != 0 || l.End.At < r.End.At || l.Start.At == r.End.At:
			return 0
		default:
			call = l.Call
		}
	}
	return call
}
