package earlybird

import (
	"sync"

	"golang.org/x/sync/singleflight"
)

// flights let concurrent reads of one key share one load. A flight is named by
// its key and the fence's state (see [pass.flightID]) and belongs to none of
// its readers: each leaves on its own context, and the flight goes on.
//
// x/sync/singleflight shares the result. What it does not know is kept beside
// it, by the flight's id: who waits. The flight could not keep that itself,
// for it is led for a moment before any code of it runs.
type flights struct {
	group singleflight.Group
	gate  *gate

	mu      sync.Mutex
	parties map[string]*party
	readers int // in all parties
}

// party is everybody concerned with the flight of one id.
type party struct {
	id     string
	refs   int            // readers, and the flight while it runs
	nested int            // those of the readers that are loaders of other flights
	ticket *ticket        // the flight's
	wants  map[string]int // the flights that this one's loader waits for
}

// seat is one reader's place in a party.
type seat struct {
	party *party
	asker *party // of the flight whose loader reads; nil for anyone else
}

func newFlights(g *gate) *flights {
	return &flights{gate: g, parties: make(map[string]*party)}
}

// join seats a reader of flight id, who must leave. by is the flight whose
// loader reads, or nil; it is refused if flight id waits for it.
func (fs *flights) join(id string, by *flight) (s seat, first bool, err error) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if by != nil {
		s.asker = fs.parties[by.id] // nil if by has timed out
	}
	if s.asker != nil && fs.reachesLocked(id, by.id) {
		return seat{}, false, ErrRecursiveLoad
	}
	p := fs.partyLocked(id)
	s.party = p
	fs.readers++
	p.refs++
	if s.asker == nil {
		fs.gate.hurry(p.ticket)
	} else {
		p.nested++
		s.asker.want(id, +1)
		fs.gate.lift(p.ticket)
	}
	return s, p.refs == 1, nil
}

// leave gives up a seat.
func (fs *flights) leave(s seat) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.readers--
	if s.asker != nil {
		s.party.nested--
		s.asker.want(s.party.id, -1)
	}
	fs.releaseLocked(s.party)
}

// board is the flight's own joining, as it begins to run. It is of priority
// pr unless somebody already waits for it.
func (fs *flights) board(id string, pr priority) *party {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	p := fs.partyLocked(id)
	if p.refs == 0 {
		p.ticket.priority = pr
	}
	p.refs++
	return p
}

// land undoes board as the flight ends. Readers that stay behind are about to
// lead the next flight of this id.
func (fs *flights) land(p *party) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	p.ticket = &ticket{over: p.nested > 0}
	fs.releaseLocked(p)
}

// waiting returns how many reads wait for a flight.
func (fs *flights) waiting() int {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	return fs.readers
}

func (fs *flights) partyLocked(id string) *party {
	p := fs.parties[id]
	if p == nil {
		p = &party{id: id, ticket: &ticket{}}
		fs.parties[id] = p
	}
	return p
}

func (fs *flights) releaseLocked(p *party) {
	if p.refs--; p.refs == 0 {
		delete(fs.parties, p.id)
	}
}

// reachesLocked reports whether flight from is flight to, or waits for it,
// perhaps through others. The waits form no cycle, for join refuses to close
// one.
func (fs *flights) reachesLocked(from, to string) bool {
	if from == to {
		return true
	}
	p := fs.parties[from]
	if p == nil {
		return false
	}
	for next := range p.wants {
		if fs.reachesLocked(next, to) {
			return true
		}
	}
	return false
}

func (p *party) want(id string, n int) {
	if p.wants == nil {
		p.wants = make(map[string]int)
	}
	if p.wants[id] += n; p.wants[id] == 0 {
		delete(p.wants, id)
	}
}
