package model

import "github.com/earlybird-cache/earlybird"

// rooms: whenever nothing was being stored, no more was held than there is room
// for.
func (c *court) rooms() error {
	for _, a := range c.Audits {
		if c.isClosing(a.Stamp) || c.storing(a.Stamp) {
			continue
		}
		if err := c.fits(a); err != nil {
			return err
		}
	}
	return nil
}

func (c *court) fits(a Audited) error {
	weight := int64(0)
	for _, v := range a.Values {
		weight += int64(c.weight(v))
	}
	switch {
	case c.MaxBytes > 0 && weight > c.MaxBytes:
		return broken(Room, "at %v %v were held, which weigh %d", a.At, a.Values, weight)
	case c.MaxBytes == 0 && max(len(a.Values), a.Stats.Values) > c.MaxEntries:
		return broken(Room, "at %v %v were held; Stats knows of %d", a.At, a.Values, a.Stats.Values)
	case a.Stats.Negatives > c.MaxNegatives:
		return broken(Room, "at %v %d absences were held", a.At, a.Stats.Negatives)
	}
	if len(a.Values) > 0 && c.evicts() {
		c.saw[SawAudit]++
	}
	return nil
}

// storing reports whether something may have been stored at the instant of s.
func (c *court) storing(s Stamp) bool {
	for _, l := range c.Loads {
		if l.End.At == s.At {
			return true
		}
	}
	for _, w := range c.changes {
		if w.Start.At == s.At || w.End.At == s.At {
			return true
		}
	}
	return false
}

// roomy: a value for which there is no room at all goes to those who waited for
// it, and to nobody who comes later.
func (c *court) roomy(r *Read, s source) error {
	if c.MaxBytes == 0 || int64(c.weight(s.value)) <= c.MaxBytes {
		return nil
	}
	if r.Start.At > s.done.At && (s.load == nil || !waitedFor(r, s.load)) {
		return broken(Room, "%v got %v, which weighs %d", r, s.value, c.weight(s.value))
	}
	if r.Result.State == earlybird.Loaded {
		c.saw[SawHeavy]++
	}
	return nil
}
