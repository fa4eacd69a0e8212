package bus

import (
	"math/rand/v2"
	"sync/atomic"
	"time"
)

// A census is how many members there are. It is the listener's, but for count.
type census struct {
	count atomic.Int64
	said  map[string]Member // at the last one
	taken time.Time
	next  time.Duration // after that
}

const (
	// firstCensus is how soon a second census follows the first; the later ones
	// follow at twice that, and so on up to lastCensus. It is more than a lease, so
	// that who has said nothing new since the last one is gone.
	firstCensus = 2 * Lease
	lastCensus  = 16 * Lease

	// eachMember spreads the censuses of large fleets: each costs the tier as much as
	// there are members, and each member takes one.
	eachMember = 100 * time.Millisecond
)

// Listeners is that of store.Bus.
func (b *Bus) Listeners() int { return int(b.census.count.Load()) }

// count takes a census if it is time to, and drops members that do not move.
func (b *Bus) count() {
	c := &b.census
	if c.said != nil && time.Since(c.taken) < c.next {
		return
	}
	_, members, err := b.server.Members(b.ctx)
	if err != nil {
		return
	}
	said := make(map[string]Member, len(members))
	var still []Member
	for _, m := range members {
		if c.said[m.Name] == m {
			still = append(still, m)
		}
		said[m.Name] = m
	}
	if len(still) > 0 {
		_ = b.server.Drop(b.ctx, still) // or at the next one
	}
	c.count.Store(int64(len(members) - len(still)))
	c.next = max(min(2*c.next, lastCensus), firstCensus, time.Duration(len(members))*eachMember)
	c.next += rand.N(c.next / 4)
	c.said, c.taken = said, time.Now()
}
