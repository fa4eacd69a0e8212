package bloom

import "time"

// An expiry holds the instants at which a generation changes by itself. The
// zero Time is never. No timer waits for them: as long as nobody is refused it
// does not matter that they have passed, so the clock is read by refusals, and
// only while there is something to wait for.
type expiry struct {
	graceEnds time.Time // the predecessor goes
	outdated  time.Time // the guard fails open
}

// passed reports whether something has changed by now.
func (e *expiry) passed() bool {
	return *e != expiry{} && (over(e.graceEnds) || over(e.outdated))
}

// over reports whether either clock has reached at: the monotonic one, which
// stands still while the machine sleeps, or the wall's, which may step back.
func over(at time.Time) bool {
	if at.IsZero() {
		return false
	}
	now := time.Now()
	return !now.Before(at) || !now.Round(0).Before(at.Round(0))
}

// succeed puts the generation into force after old, which may be nil.
func (g *generation) succeed(old *generation, opts *Options) {
	if opts.MaxAge > 0 {
		g.outdated = g.born.Add(opts.MaxAge)
	}
	if old == nil || opts.Grace == 0 {
		return
	}
	alone := *old
	alone.old = nil
	g.old, g.graceEnds = &alone, time.Now().Add(opts.Grace)
}

// withoutGrace returns g without its predecessor.
func (g *generation) withoutGrace() *generation {
	next := *g
	next.old, next.graceEnds = nil, time.Time{}
	return &next
}
