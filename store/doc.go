// Package store is the contract of the tier that several caches share: what a
// cache asks of it, and what an implementation must keep to. Package redisstore
// is one on Redis or Valkey, package storetest has one in memory and the suite
// that every implementation must pass.
//
// # The model
//
// A tier holds at most one [Record] for each key, and at most one lease. Records
// go in and out by copy: nothing that one cache does to a value it has is seen
// by another. No absolute time crosses the contract, only lengths of it: what is
// left of a life, what is left of a lease. Clocks of different machines are
// never compared.
//
// All that happens to one key happens in one order, the same for everybody: the
// steps described at each method are one step, and whoever calls once a step has
// been confirmed finds it done. Nothing is promised about the order between keys.
// (A tier that replicates asynchronously loses what was not replicated when it
// fails over. The rule below is made so that this costs loads, and brings back
// at most what was there before.)
//
// # Generations
//
// Every step that changes a key gives it a [Generation] above all that the key
// had before, chosen by the tier. A generation belongs to the moment at which a
// load was allowed to begin, not to its end: so of two records the one with the
// higher generation is the newer knowledge, however long either took to load.
//
// Emptiness has a generation too. If a Get finds nothing, [Record].Generation
// says below what the tier has forgotten everything on purpose: a copy with a
// lower one that lies elsewhere, in a cache's memory say, is void.
//
// # No lease, no publish
//
// Whoever wants to load a key calls Acquire and gets one of three answers:
// somebody has published something newer, which is returned; go ahead, with a
// [Lease]; or somebody else is at it. [Store.Publish] is refused unless its
// lease is still the one that the tier has for the key.
//
// That one rule is the whole fence. Invalidate, InvalidateAll and Set take the
// lease away, so a load that read the origin before the change can not store
// what it read. A lease that ran out, was evicted, or was lost in a failover is
// not there either. The lease is not mutual exclusion, and nothing may rest on
// its being that: it saves loads, and the rule keeps what is stored right.
//
// A tier may be told to share leases, where loads are cheap: Acquire then never
// answers Busy but hands the same lease to everybody. The rule stays as it is:
// the first of them publishes and uses the lease up.
//
// # Budgets, errors
//
// A tier is an optimisation. Every method but Wait, InvalidateAll and Close
// returns within a budget of some tens of milliseconds that the implementation
// sets for itself, or when ctx ends, if that is earlier and ctx has a deadline
// that says so; a mere cancellation may be noticed as late as the budget. (An
// implementation may need one budget for each some hundred keys.) This holds whatever the network does: also while it dials, and before a server that
// accepts and never answers.
//
// That the tier holds nothing is not an error, and an error never means that it
// holds nothing. Errors are [ErrUnavailable] if the tier could not be asked, did
// not answer in time, answered nonsense or is not being asked at present;
// [ErrLost] for a refused Publish; [*ValueError] for a value that it can not
// take; [*PendingError] for an Invalidate that is yet to be confirmed;
// [ErrClosed]; or that of ctx.
//
// After an error the step may or may not have been done. For each method that is
// harmless: a lease that was granted without the caller's knowing ends by
// itself, a record that was published nevertheless is as good as any, and an
// invalidation is repeated.
//
// # What a Store may be besides
//
// A [Watcher] tells when what it gave out has changed. A [Bus] carries small facts
// to all who share the tier. [Blobs] are a few large things kept there. A
// [Splitter], a tier of several servers, has copies of a hot key on others than the
// key's own; a change of such a key takes one budget more, for the copies.
package store
