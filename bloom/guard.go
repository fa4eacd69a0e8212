package bloom

import (
	"sync"
	"sync/atomic"
)

// Guard tells ids that certainly do not exist from those that may. Use New;
// a nil *Guard is a guard that is off: it passes everything and ignores the
// rest. All methods may be called at any time from any goroutine.
type Guard struct {
	// serving is what readers see, nil whenever the guard fails open.
	serving atomic.Pointer[generation]
	tally   tally
	audit   *audit
	wants   chan struct{} // tells a Keeper that a build is wanted

	opts Options // as completed by New

	mu      sync.Mutex
	current *generation // serving, or what would be; nil until built
	next    *build      // the build under way, if any
	journal journal
	sample  []string // ids of the current build's source, kept as canaries
	damaged bool     // the current generation refused an id it should hold
	missed  uint64   // how often ids may have been
	heard   uint64   // missed, when the current generation began to be built
	builds  uint64
	joining []*Member
}

// New makes a guard that is yet to be built, and fails open until then. It
// allocates no filter. The error, if any, is an *OptionError.
func New(opts Options) (*Guard, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	return &Guard{
		opts:    opts,
		audit:   newAudit(opts),
		wants:   make(chan struct{}, 1),
		journal: newJournal(opts.Remember),
	}, nil
}

// Name returns Options.Name.
func (g *Guard) Name() string {
	if g == nil {
		return ""
	}
	return g.opts.Name
}

// MayContain reports whether id may exist. False means that it was neither
// in the source of the last build nor given to Add; true means that it was,
// or that it collides with ids that were, or that the guard fails open. It
// takes no lock and does not allocate.
func (g *Guard) MayContain(id string) bool {
	if g == nil {
		return true
	}
	gen := g.serving.Load()
	return gen == nil || gen.knows(id) || g.passDenied(gen, id)
}

// passDenied decides about an id that the filter does not know. A denial is
// final but for four: the generation's time is over, its predecessor still
// vouches for the id, an audit picked it, or this is but a rehearsal.
func (g *Guard) passDenied(gen *generation, id string) bool {
	if gen.passed() {
		g.settle()
		return g.MayContain(id)
	}
	if gen.old != nil && gen.old.knows(id) {
		return true
	}
	if g.audit.picks() {
		g.tally.audited.Add(1)
		return true
	}
	g.tally.refused.add()
	return g.opts.Shadow
}

// Add makes ids known. Once it has returned, no call of MayContain that starts
// later refuses one of them, whatever builds, folds, saves and loads go on
// meanwhile.
//
// A build carries over the newest ids it was given before (Options.Remember
// says how many) and all that it is given while it runs; older ones it expects
// the source to list. Add an id before the transaction that creates it
// commits, so that nobody can learn of it and be refused, and once more
// after, for a build that read the source in between.
func (g *Guard) Add(ids ...string) {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, id := range ids {
		g.addLocked(id)
	}
	g.settleLocked()
}

func (g *Guard) addLocked(id string) {
	g.journal.append(id)
	if g.current != nil {
		g.current = g.current.with(g.current.secret.digest(id))
	}
	if g.next != nil {
		g.next.added.append(g.next.secret.digest(id))
	}
}

// Missed tells the guard that ids may have been created of which it was not told.
// It fails open until a build or a load has succeeded that began later.
func (g *Guard) Missed() {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.missed++
	g.settleLocked()
}

func (g *Guard) settle() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.settleLocked()
}

// settleLocked shows readers the current generation, or nothing if it cannot
// be vouched for.
func (g *Guard) settleLocked() {
	if g.current != nil && over(g.current.graceEnds) {
		g.current = g.current.withoutGrace()
	}
	var show *generation
	if g.stateLocked() == Ready {
		show = g.current
	}
	if show != g.serving.Load() { // a store costs every reader its cache line
		g.serving.Store(show)
	}
	if g.wantsBuildLocked() {
		select {
		case g.wants <- struct{}{}:
		default:
		}
		return
	}
	select { // what was wanted has been done
	case <-g.wants:
	default:
	}
}

func (g *Guard) stateLocked() State {
	switch {
	case g.current == nil:
		return Unbuilt
	case g.damaged:
		return Damaged
	case g.heard != g.missed:
		return Incomplete
	case g.current.past(saturateAt):
		return Saturated
	case over(g.current.outdated):
		return Outdated
	}
	return Ready
}

func (g *Guard) wantsBuildLocked() bool {
	return g.stateLocked() != Ready || g.current.past(rebuildAt)
}
