package model

import (
	"context"
	"errors"

	"github.com/earlybird-cache/earlybird"
)

// warmed: Warm accounts for all its keys, an origin that is busy only makes it
// wait, and if its context ends it says from where to go on.
func (c *court) warmed() error {
	for _, w := range c.Warmings {
		if !w.Ended() {
			return broken(Answers, "%v never returned", w)
		}
		if err := c.warming(w); err != nil {
			return err
		}
	}
	return nil
}

func (c *court) warming(w *Warming) error {
	d := w.Done
	told := d.Loaded + d.Held + d.Absent + d.Failed
	inTime := w.Err == nil || tellsOfLoad(w.Err) || !errors.Is(w.Err, context.DeadlineExceeded)
	switch {
	case c.isClosing(w.End):
		return nil
	case d.Seen > len(w.Keys) || told < d.Seen || told > len(w.Keys):
		return broken(Warms, "%v: %+v, %v", w, d, w.Err)
	case inTime && (d.Seen < len(w.Keys) || (w.Err == nil) != (d.Failed == 0)):
		return broken(Warms, "%v: %+v, %v", w, d, w.Err)
	case !inTime && d.Seen > 0:
		c.saw[SawPartlyWarmed]++
	case d.Loaded > 0:
		c.saw[SawWarmed]++
	}
	for _, key := range w.Keys[:d.Seen] {
		if !c.dealtWith(key, w) {
			return broken(Warms, "%v says that it has seen %s; nobody has", w, key)
		}
	}
	return nil
}

// dealtWith reports whether there was something to be known of key while w ran,
// or somebody loaded it then.
func (c *court) dealtWith(key string, w *Warming) bool {
	if !wellFormed(key) || !c.added(&Read{Key: key, Span: w.Span}) {
		return true
	}
	for _, l := range c.loadsOf[key] {
		lasts := max(c.NegativeTTL, c.backOff(l))
		if l.gave() {
			lasts = c.TTL
		}
		if l.Start.Before(w.End) && l.End.At+lasts >= w.Start.At {
			return true
		}
	}
	for _, s := range c.writesOf[key] {
		if s.Verb == Set && s.Start.Before(w.End) && s.End.At+c.TTL >= w.Start.At {
			return true
		}
	}
	return false
}

// tellsOfLoad reports whether err comes from the origin.
func tellsOfLoad(err error) bool {
	var fault *Fault
	return errors.As(err, &fault) || errors.Is(err, earlybird.ErrLoadTimeout)
}
