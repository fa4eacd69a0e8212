package bloom

// ReportAbsent tells the guard that id passed and the origin then did not have
// it. If the filter knows the id, that was a false positive (or the id has
// been deleted); if not, an audit or shadow found the denial right.
func (g *Guard) ReportAbsent(id string) {
	if g == nil {
		return
	}
	gen := g.serving.Load()
	switch {
	case gen == nil: // open: nothing was judged
	case gen.knows(id):
		g.tally.passed.Add(1)
	case gen.old != nil && gen.old.knows(id): // deleted between two builds
	default:
		g.tally.confirmed.Add(1)
	}
}

// ReportFound tells the guard that the origin has id. If the filter denies it,
// as an audit, shadow or the grace after a build can bring to light, then the
// filter does not know all that exists: the id is added, and the guard counts
// as Damaged until the next build. Call it for every read that the origin
// answered; it costs as much as MayContain.
func (g *Guard) ReportFound(id string) {
	if g == nil {
		return
	}
	if gen := g.serving.Load(); gen == nil || gen.knows(id) {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.serving.Load() == nil || g.current.knows(id) {
		return // it was added or the guard opened meanwhile
	}
	g.tally.refuted.Add(1)
	g.addLocked(id)
	g.damaged = true
	g.settleLocked()
}
