package hotkeys

import "time"

// Hysteresis decides when a key becomes hot and when it ceases to be. The gap
// between the two, and the time either must last, keep a key whose rate swings
// from flapping. It is pure: the state goes in and comes out, time is an
// argument.
//
//	standing = rule.Next(standing, key.Lower, now)
//
// The zero value is usable: 0 is the documented default, negative is off.
type Hysteresis struct {
	// Threshold is T, in reads a second. A key becomes hot when the lower bound
	// of its rate is [Margin] times T or more, which finds a key read T times a
	// second and spares one read half as often, and may cool when it is less
	// than a third of T. Default 5,000. When off, or not a number, no key ever
	// becomes hot.
	Threshold float64

	// Cool is how long a key must have been below a third of the threshold
	// before it ceases to be hot. Default 3s, three windows of a default
	// Tracker. When off, once is enough.
	Cool time.Duration

	// Dwell is how long a key stays hot at the least. There is no such wait for
	// becoming hot again: a key that came back is as dangerous as a new one.
	// Default 30s.
	Dwell time.Duration
}

const (
	defaultCool  = 3 * time.Second
	defaultDwell = 30 * time.Second
)

// Standing is what is remembered of one key. The zero value is a key that is
// not hot.
type Standing struct {
	Hot bool

	since     time.Duration // when it became hot
	cooling   bool          // below the lower limit, at every look since coolSince
	coolSince time.Duration
}

// Next returns the standing that follows s when the lower bound of the key's
// rate is lower: [HotKey.Lower], or 0 for a key that is not listed. now is the
// reading of any clock that does not go back. Call it about once a window; more
// often changes no decision, only its delay.
func (h Hysteresis) Next(s Standing, lower float64, now time.Duration) Standing {
	threshold := orDefault(h.Threshold, defaultThreshold)
	switch {
	case threshold < 0:
		return Standing{}
	case !s.Hot && lower >= Margin*threshold:
		return Standing{Hot: true, since: now}
	case !s.Hot:
		return Standing{}
	case lower >= threshold/3:
		s.cooling = false
		return s
	case !s.cooling:
		s.cooling, s.coolSince = true, now
	}
	if now-s.coolSince >= orDefault(h.Cool, defaultCool) && now-s.since >= orDefault(h.Dwell, defaultDwell) {
		return Standing{}
	}
	return s
}
