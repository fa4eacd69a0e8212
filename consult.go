package earlybird

import (
	"context"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/earlybird-cache/earlybird/store"
)

// What a load does at the shared tier, before the gate and the origin.

// consult takes l to the shared tier, and on to the gate if that leaves something
// to be loaded. It has a goroutine of its own, so that a reader whose context
// ends leaves when he likes.
func (l *load[V]) consult() {
	if l.isForOrigin() {
		l.countUnleased()
		l.approach()
		return
	}
	l.cache.life.end()
}

// isForOrigin asks the tier what it holds, then for its leave to load what it
// does not hold. It reports whether anything is left to load, and nobody else
// does.
func (l *load[V]) isForOrigin() bool {
	refreshes := l.flights[0].held != nil && !l.renews
	if !refreshes && !l.told && l.read() {
		return false
	}
	if l.renews || l.many && l.cache.opts.LoadMany == nil {
		l.part(func(int) verdict[V] { return verdict[V]{again: true} }) // its readers will see to it
		return false
	}
	if refreshes || l.many || l.warm {
		over, _ := l.acquire(false)
		return !over
	}
	return l.acquireInTime()
}

// verdict is what the tier has said of a flight. The zero value leaves it open.
type verdict[V any] struct {
	lands bool
	again bool // it lands with nothing
	value V
	err   error
	age   time.Duration
	stale bool
	lease *store.Lease
	entry *entry[V] // it is served while this is refreshed
}

// part gives l's flights their answers, by their places, unless l has ended, and
// reports whether none is left.
func (l *load[V]) part(answers func(i int) verdict[V]) (over bool) {
	i := -1
	return l.cache.flights.part(l, func(f *flight[V]) bool {
		i++
		a := answers(i)
		f.lease = a.lease
		if a.again {
			f.again = true
			return true
		}
		if a.lands {
			f.value, f.err, f.age, f.stale = a.value, a.err, a.age, a.stale
			f.found, f.shared = true, true
			l.cache.episodes.end(f.key)
			if f.held != nil {
				f.held.spare()
			}
		}
		return a.lands
	})
}

// read asks what the tier holds of l's keys, lands those flights for which that
// will do, and reports whether those were all.
func (l *load[V]) read() (over bool) {
	c := l.cache
	asked := c.clock.now()
	replies := l.replies(context.WithoutCancel(l.asked))
	c.hot.mind(asked)
	answers := make([]verdict[V], len(replies))
	var elected []election[V]
	for i, f := range l.flights {
		a := c.learn(f, replies[i], asked)
		if a.entry != nil && a.entry.elect(asked, satAdd(asked, c.leaseLife())) {
			elected = append(elected, election[V]{f.key, a.entry})
		}
		answers[i] = a
	}
	over = l.part(func(i int) verdict[V] { return answers[i] })
	c.refreshMany(l.asked, false, elected)
	return over
}

// replies are what the tier says of l's keys.
func (l *load[V]) replies(ctx context.Context) []store.Reply[V] {
	c := l.cache
	if len(l.flights) == 1 {
		if r, isHot := c.hot.ask(ctx, l.flights[0]); isHot {
			return []store.Reply[V]{r}
		}
	}
	return c.tier.get(ctx, l.keys)
}

// acquireInTime asks for the tier's leave to load l's only key for a reader who
// waits. While another cache is at it, it waits too, for MaxWait at most; after
// that the load goes on without leave.
func (l *load[V]) acquireInTime() (isForOrigin bool) {
	t := l.cache.tier
	ctx, cancel := context.WithTimeout(t.open, max(t.wait, 0))
	defer cancel()
	for coolings, waited := 0, false; ; {
		over, busy := l.acquire(true)
		if over || busy == nil {
			return !over
		}
		if busy.Cooling {
			coolings++
		}
		switch {
		case coolings > mostCoolings:
			l.cache.fail(l, ErrLoadFailed, 0)
			return false
		case ctx.Err() != nil:
			return true
		}
		if !waited {
			waited = true
			t.waited.Add(1)
		}
		t.await(ctx, l.flights[0], *busy)
	}
}

// mostCoolings is how often a reader waits until a key that could not be loaded may
// be loaded again. One more and he shares in the failure, as he would have had the
// load been this cache's own.
const mostCoolings = 1

// await waits until it is worth asking again for leave to load what another cache
// is at. If the tier does not tell, that is soon: it may do no more, or be coming
// back from an outage.
func (t *tier[V]) await(ctx context.Context, f *flight[V], busy store.Claim[V]) {
	ctx, cancel := context.WithTimeout(ctx, max(busy.Left, 0)+tierTick)
	defer cancel()
	if !busy.Cooling {
		var err error
		guarded(&err, func() { err = t.store.Wait(ctx, f.key, f.known()) })
		if err == nil || ctx.Err() != nil {
			return
		}
		t.note(f.key, err)
		ctx, cancel = context.WithTimeout(ctx, untold)
		defer cancel()
	}
	<-ctx.Done()
}

// tierTick is how exactly a tier tells what is left of something: who comes a
// little too early finds it still there.
const tierTick = 2 * time.Millisecond

// untold is the pause between two questions of a reader whom the tier does not tell
// what he waits for.
const untold = 20 * time.Millisecond

// acquire asks for leave to load l's keys. It lands those flights for which
// something newer was found, and those that another cache is at, unless there is
// only one and its reader waits. It reports whether none is left.
func (l *load[V]) acquire(waits bool) (over bool, busy *store.Claim[V]) {
	c := l.cache
	for range mostFinds {
		var again bool
		asked := c.clock.now()
		claims := l.claims()
		answers := make([]verdict[V], len(claims))
		for i, f := range l.flights {
			a := &answers[i]
			switch claim := claims[i]; {
			case claim.err != nil:
				*a = c.withoutTier(f, claim.err)
			case claim.Outcome == store.Granted:
				a.lease = &claim.Lease
			case claim.Outcome == store.Found:
				*a = c.learn(f, store.Reply[V]{Record: claim.Record}, asked)
				again = again || !a.lands
			case waits:
				busy = &claim.Claim
			default:
				c.deny(f, claim.Left)
				a.again = true
			}
		}
		over = l.part(func(i int) verdict[V] { return answers[i] })
		if over {
			l.giveBack(answers)
			return true, nil
		}
		if !again {
			return false, busy
		}
	}
	return false, nil
}

// mostFinds is how often in a row something is found that is newer than what is
// known but already out of date.
const mostFinds = 4

// claimed is what the tier has said of a claim.
type claimed[V any] struct {
	store.Claim[V]
	err error
}

// claims asks for leave to load each of l's keys that has none yet.
func (l *load[V]) claims() []claimed[V] {
	claims := make([]claimed[V], len(l.flights))
	claim := func(i int) {
		f := l.flights[i]
		switch {
		case f.lease != nil:
			claims[i].Outcome, claims[i].Lease = store.Granted, *f.lease
		case f.isDown:
			claims[i].err = store.ErrUnavailable
		default:
			claims[i].Claim, claims[i].err = l.cache.tier.acquire(context.WithoutCancel(l.asked), f.key, f.known())
		}
	}
	if len(claims) == 1 {
		claim(0)
		return claims
	}
	var g errgroup.Group
	g.SetLimit(atOnce)
	for i := range claims {
		g.Go(func() error { claim(i); return nil })
	}
	_ = g.Wait()
	return claims
}

// countUnleased counts the loads that go on without the tier's leave.
func (l *load[V]) countUnleased() {
	for _, f := range l.flights {
		if f.lease == nil {
			l.cache.tier.unleased.Add(1)
		}
	}
}

// known is the generation that the tier is to know more than.
func (f *flight[V]) known() store.Generation {
	if g := f.held.generation(); g != pending {
		return max(f.have, g)
	}
	return f.have
}

// atOnce is how many of a batch's keys are told to the tier at one time; a client
// puts them on the wire together.
const atOnce = 64

// deny leaves a refresh to the cache that is at it. In a while the next reader
// who draws well finds what it brought.
func (c *Cache[V]) deny(f *flight[V], left time.Duration) {
	if f.held == nil {
		return
	}
	c.tier.denied.Add(1)
	pause := max(time.Duration(f.held.delta.Load())/2, 10*time.Millisecond)
	f.held.holdOff(satAdd(c.clock.now(), int64(min(pause, max(left, time.Millisecond)))))
}

// giveBack gives back the leases of flights that have ended meanwhile.
func (l *load[V]) giveBack(answers []verdict[V]) {
	for _, a := range answers {
		if a.lease != nil {
			l.cache.tier.fail(*a.lease, 0)
		}
	}
}
