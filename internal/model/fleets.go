package model

import (
	"time"

	"github.com/earlybird-cache/earlybird"
)

// fleet is the profile that the others of several caches differ from.
func fleet(name string) Profile {
	p := usual(name)
	p.TTL, p.NegativeTTL = 1500*time.Millisecond, time.Second
	p.Rows, p.Clients, p.Reading = 3, 6, 0.85
	p.Tier = Tier{
		Caches: 2, NearTTL: 150 * time.Millisecond, MaxWait: 250 * time.Millisecond,
		Latency: 500 * time.Microsecond, Jitter: 5 * time.Millisecond, Budget: 25 * time.Millisecond,
	}
	return p
}

// fleets are profiles of several caches that share a tier.
func fleets() []Profile {
	calm := fleet("fleet")

	// Three caches of an origin that fails.
	cooling := fleet("cooling")
	cooling.Tier.Caches, cooling.Failing, cooling.Reading, cooling.Rows = 3, 0.6, 0.95, 2

	lossy := fleet("lossy")
	lossy.Tier.Losing, lossy.Tier.Delaying = 0.04, 0.04
	lossy.Tier.Trouble, lossy.Tier.Troubles = 0.06, []Verb{Cut, Evict, EvictLease, Lose}
	lossy.Tier.Cuts = time.Second

	// Cut off for longer than anything may live that was loaded meanwhile.
	outage := fleet("outage")
	outage.TTL, outage.NegativeTTL, outage.Rows, outage.OpsEach = 3*time.Minute, 2*time.Minute, 4, 100
	outage.Tier.NearTTL, outage.Failing = 4*time.Second, 0.05
	outage.Tier.Trouble, outage.Tier.Troubles, outage.Tier.Cuts = 0.03, []Verb{Cut, Evict}, time.Minute
	outage.Slow = 40

	// The tier goes back to what it was.
	failover := fleet("failover")
	failover.Tier.Trouble, failover.Tier.Troubles = 0.08, []Verb{Save, FailOver, FailOver}
	failover.Rows = 2

	// Every draw is the same, so it is known when a refresh must be due.
	eager := fleet("due")
	eager.Jitter, eager.Draw, eager.Tame, eager.Reading = earlybird.Off, 1e-3, true, 0.95
	eager.Rows, eager.Ghosts = 2, 1

	stale := fleet("outlived")
	stale.StaleWhileRevalidate, stale.TTL, stale.Reading = 300*time.Millisecond, 400*time.Millisecond, 0.92

	spare := fleet("standing")
	spare.StaleIfError, spare.TTL, spare.Reading, spare.Failing = time.Second, 300*time.Millisecond, 0.9, 0.5
	spare.Tier.Losing = 0.02

	sparing := spare
	sparing.Name, sparing.Tier.Outage, sparing.Failing = "staleonly", earlybird.StaleOnly, 0.2
	sparing.Tier.Trouble, sparing.Tier.Troubles, sparing.Tier.Cuts = 0.05, []Verb{Cut}, time.Second

	failing := lossy
	failing.Name, failing.Tier.Outage = "failing", earlybird.Fail

	// The tier is asked at each read.
	asking := fleet("asking")
	asking.Tier.NearTTL, asking.Beta = earlybird.Off, 2
	asking.Tier.Trouble, asking.Tier.Troubles, asking.Tier.Cuts = 0.02, []Verb{Cut}, time.Second

	batched := fleet("batched")
	batched.Batches, batched.Rows, batched.Crowds = true, 5, 4
	batched.Tier.Losing = 0.02

	// Loads outlast the time that others wait for them, and the time near.
	brisk := fleet("brisk")
	brisk.Tier.NearTTL, brisk.Tier.MaxWait = 50*time.Millisecond, 60*time.Millisecond
	brisk.Rows, brisk.Reading, brisk.Clients = 1, 0.7, 10

	return []Profile{calm, brisk, cooling, lossy, outage, failover, eager, stale, spare, sparing, failing, asking, batched}
}

// trouble is something that befalls the tier, and what ends it.
func (g *generator) trouble() []Op {
	o := Op{Verb: pick(g, g.p.Tier.Troubles)}
	switch o.Verb {
	case Cut:
		o.N = g.r.IntN(g.p.Tier.Caches)
		return []Op{o, {Verb: Heal, Wait: g.upTo(g.p.Tier.Cuts)}}
	case Evict, EvictLease:
		o.Keys = []string{g.anyKey()}
	}
	return []Op{o}
}
