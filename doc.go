// Package earlybird stands between many readers and a slow origin, so that the
// origin never feels the crowd: not when a popular key expires, not when
// strangers ask for ids that do not exist, not when everything is flushed.
//
//	users, err := earlybird.New(loadUser, earlybird.Options[*User]{TTL: time.Minute})
//	...
//	user, err := users.Get(ctx, "user:42")
//
// # What one read does
//
//  1. Canonical, if set, spells the key in the one way that all the rest knows.
//     A key longer than MaxKeyLen is refused before anything looks at it.
//  2. A value in memory that is far from expiry is returned: no lock, no
//     allocation, no clock of its own. This is nearly every read.
//  3. Nearer to expiry the read draws lots, and the nearer, the likelier it is
//     elected to refresh the value (package xfetch). It returns what it has all
//     the same; the refresh runs behind it, once per key.
//  4. A key of none of Shapes is refused with ErrMalformedKey (package
//     keyshape).
//  5. A key whose id Guard does not know is refused with ErrNotFound (package
//     bloom).
//  6. A key that was lately found absent is ErrNotFound again, for NegativeTTL.
//  7. Otherwise the key is loaded. All who ask meanwhile share the load, which
//     belongs to none of them. It looks into memory once more, and into the
//     shared tier if there is one (see below), waits for its turn at the origin, calls the loader within LoadTimeout, and stores the
//     result unless a change came in between.
//  8. Each reader waits as long as its own context lasts. The load goes on and
//     is stored for the next.
//
// GetMany does the same for several keys and loads what is missing in one call
// of LoadMany; each key has its own outcome. Lookup is a Get that also says
// where the value came from and how old it is; Peek looks into memory only.
//
// # How long a value lives
//
// At most TTL after its load ended, and less by up to Jitter, drawn for each, so
// that what was written together does not expire together. TTLFor shortens the
// life of a single value, and with Off hands it to those who wait without storing
// it. An absence lives for NegativeTTL, in a room of its own: however many
// strangers ask, no value is evicted for an absence.
//
// Past its expiry a value is served in two cases only. Within
// StaleWhileRevalidate nobody waits: a refresh runs behind. Within StaleIfError
// it stands in for a load that failed, timed out or was refused. Durations
// saturate; none is ever rounded up to "for ever".
//
// Memory is bounded by MaxEntries, a number of values, or by MaxBytes in the
// unit of Weigh. What is likely to be wanted again stays when a scan passes by.
//
// Where an earlier value is in memory, Revalidate, if set, is asked in place of
// the loader, and may answer that it is still right: ErrNotModified gives it
// another life. A batch does not revalidate.
//
// Values are shared by all who read them, unless Clone copies them on every way
// in and out.
//
// # When the origin fails
//
// Errors are not remembered. Only an error that is ErrNotFound is, and only as
// the loader's word about its own key: an ErrNotFound that a loader got for
// another key, from a Get with the context it was given, does not make its own
// key absent. A refresh that fails leaves the value where it is and is tried
// again after a while, twice as long each time, up to an eighth of the value's
// life or half a minute. What the loader returned and Validate has an error for
// is not stored either; its readers get an *InvalidError, which is remembered for
// a tenth of a second at first and longer each time, because asking again at once
// would bring the same value.
//
// At most MaxLoads loader calls run at once, and MaxLoadRate can bound how many
// start in a second. Eight times as many may wait, for LoadTimeout at most; the
// next fails at once with ErrOverloaded. Those whom somebody waits for go before refreshes, and these
// before a warm-up. After New, InvalidateAll and an outage the bound is narrow
// for the length of Ramp, and any number may wait. A call that ignores
// its context and outlasts LoadTimeout still counts until it returns, and its
// result is dropped.
//
// A loader that panics, or exits its goroutine, costs its readers a *PanicError
// and nobody else anything; the same holds for LoadMany, Revalidate, OnError and
// the hooks that look at what was loaded. OnError and Logger hear of every load
// that failed, but for those that Close ends, whether somebody waited or not.
//
// # Changes
//
// Once Invalidate, InvalidateAll, Set or Created has returned, no reader that
// starts is given what was there before: not from memory, not from a load that
// began earlier, not from one it joins. Call Invalidate when the change is
// visible to loaders. Created is for new ids, before the commit and again after
// it; Creating does both.
//
// # Several processes
//
// With Options.Store, caches share a tier (package store; redisstore is one on
// Redis). A load first asks what the tier holds. If that is nothing, it asks for
// leave to load, which one cache at a time gets for a key, and publishes what it
// loaded under that leave. The others wait for it, at most for MaxWait, and then
// ask the origin themselves. An early refresh asks too: if another cache has
// refreshed the value it is taken over, if one is at it nothing happens. What is
// known of a value travels with it, how long its load took and what is left of its
// life, so that all caches draw alike.
//
// A change takes the leave away. A load that began before it is answered to those
// who wait and is stored nowhere, in this process or another, however late it
// ends.
//
// What the tier said is believed for NearTTL. Shortly before that is over a reader
// has the tier asked again behind him. So a cache serves what another has changed
// for NearTTL at most after the change returned; this cache's own changes hold at
// once. A loaded value that the tier gave no leave for is believed for NearTTL from
// when its load began.
//
// A tier that can not be asked costs the waiting time its client allows, and
// nothing once that has given up on it. What is in memory is served for as long as
// it lives. The rest is up to Outage: by default it comes from the origin, each
// process for itself, through the gate, and is kept for 30s at most. Once the tier
// has answered for a second without a failure, it is asked about all that was kept
// meanwhile before that is served again. Leave to load is no lock: a tier that loses
// it costs loads, and never makes a value wrong.
//
// Keys that are read very much are found by themselves, and Cache.Hot lists them.
// If the tier can, it tells this cache when one is changed, so that its copy here
// goes within milliseconds and not after NearTTL; and it keeps several copies of
// those that would be too much for one of its servers. With NearTTL off only they
// have a copy in memory. Options.Hot sets the bounds. GetMany asks for the key itself
// and for no copy, in the one message in which it asks for others of that server.
//
// Created tells all caches, if the tier can: once it has returned, no guard of the
// fleet refuses the ids. A cache that can not be told knows it, by not hearing, and
// its guard is open until it hears again. A guard that may have missed something is
// open until a build that began later; so build it after New, whose cache a build
// waits for until it hears, for 20s at most.
//
// A new cache need not wait for a build. Once a guard is built, its snapshot is left
// in the tier, if that can keep it, about once a minute by one cache of the fleet: less
// often if it is large, and not at all while nothing is created. New caches begin with
// it and listen from where it was made. If the tier does not remember that any more, or
// the snapshot is damaged, too old, or of a guard that spells ids otherwise, it is as if
// there were none, and OnError is told. Whoever can read the tier can read the snapshot,
// and with its secret make ids that pass. Guards that several caches share begin empty.
//
// When a load fails, no cache tries again for a moment. Those of other caches who
// waited for it get ErrLoadFailed, or a stale value if they may.
//
// # Loads inside loads
//
// A loader may read other keys with the context it was given. Such a load runs
// in its parent's slot, or with MaxLoads 1 they would wait for each other. Loads
// of one cache that wait for each other in a circle end with ErrRecursiveLoad,
// whoever asked for them, and so do those that one caller leads through several
// caches.
//
// # What is not promised
//
// One load per key at a time is what the origin sees, except after a change or a
// timeout: then a second may start while the first still runs. That of other
// processes may run too, without a shared tier or when that has lost its leave.
//
// A tier that loses the word of a change, as a server may that is full or fails over,
// finds nothing where there was something: then other caches serve what they have
// near until they have asked and one of them has refreshed it behind a reader, which
// takes the others twice NearTTL at most.
//
// Caches know nothing of each other's readers. A circle of loads that two callers
// close through two caches is ended by LoadTimeout only.
//
// GetMany is no snapshot: its keys may be of different moments. Without LoadMany
// each missing key is a load of its own, and more of them than the gate and its
// queue hold fail with ErrOverloaded.
//
// Any value may be evicted at any time. Without a shared tier changes are seen by
// this process alone; another learns of them when its own values expire.
//
// # Time
//
// Cache time follows the monotonic clock, and the wall clock where that moves
// further ahead: a machine that was suspended finds its entries aged. Setting
// the wall clock back freezes nothing. For some milliseconds after a pause of the
// whole process entries can be judged by the time at which it paused.
//
// # What it costs
//
// A hit costs one look into a table of entries, one count in a striped counter
// and one comparison with a published clock; "make bench" puts it beside other
// caches. A cache has a fixed 256 KiB for its fence, and some 200 bytes for each
// entry besides the key and the value. While many read, one goroutine keeps the
// published clock; it ends when they stop. Nothing else runs when nothing is
// loading, but for one goroutine that tends a Guard where there is a shared tier.
//
// Stats tell what became of every read, what the origin was spared, and, with
// HotKeys, which keys are asked for most.
//
// # A restart
//
// All state but that of a shared tier is in memory, and a restart loses it: values,
// absences, learnt costs, hot keys. The first read of each key is a load, one per key, and Ramp keeps
// them few at first. Warm loads what will be asked for before the traffic comes,
// in a tenth of MaxLoads, and spreads the lives of what it stores. A Guard
// starts out open and refuses nothing until it has been built, or loaded from the
// file that it was saved to or from the tier. Close ends a cache: everybody who waits is released,
// and nothing is stored afterwards.
package earlybird
