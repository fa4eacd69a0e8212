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
//  1. A key longer than MaxKeyLen is refused before anything looks at it.
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
//     belongs to none of them. It looks into memory once more, waits for its
//     turn at the origin, calls the loader within LoadTimeout, and stores the
//     result unless a change came in between.
//  8. Each reader waits as long as its own context lasts. The load goes on and
//     is stored for the next.
//
// GetMany does the same for several keys, and loads what is missing in one
// call of LoadMany.
//
// # What can be relied upon
//
// A value is served for at most TTL after its load ended, and an absence for
// NegativeTTL. Past that a value is served only as StaleWhileRevalidate and
// StaleIfError allow. Each life is shortened at random by up to Jitter. Durations
// saturate; none is ever rounded up to "for ever".
//
// Errors are not remembered. Only an error that is ErrNotFound is, and only as
// the loader's word about its own key: an ErrNotFound that a loader got for
// another key, from a Get with the context it was given, does not make its own
// key absent. A refresh that fails leaves the value where it is and is tried
// again after a while, later each time.
//
// Once Invalidate, InvalidateAll, Set or Created has returned, no reader that
// starts is given what was there before: not from memory, not from a load that
// began earlier, not from one it joins.
//
// At most MaxLoads loader calls run at once. One that ignores its context
// and outlasts LoadTimeout still counts until it returns, and its result is
// dropped. A load inside a load runs in its parent's slot, or with MaxLoads 1
// they would wait for each other. Loads that wait for each other in a circle end
// with ErrRecursiveLoad.
//
// A loader that panics costs its readers a *PanicError and nobody else
// anything.
//
// # What it costs
//
// A hit costs one look into a table of entries, one count in a striped counter
// and one comparison with a published clock; "make bench" puts it beside other
// caches. A cache has a fixed 256 KiB for its fence, and some 200 bytes for each
// entry besides the key and the value.
//
// While many read, one goroutine keeps the published clock; it ends when they
// stop. Nothing else runs when nothing is loading.
//
// # Time
//
// Cache time follows the monotonic clock, and the wall clock where that moves
// further ahead: a machine that was suspended finds its entries aged. Setting
// the wall clock back freezes nothing. For some milliseconds after a pause of the
// whole process entries can be judged by the time at which it paused.
//
// # A restart
//
// All state is in memory. A restart starts empty: the first reads of each key
// are loads, at most MaxLoads of them at once, one per key. A Guard starts
// out open and refuses nothing until it has been built.
package earlybird
