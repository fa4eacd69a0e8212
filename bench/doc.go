// Command bench measures earlybird beside other caches of its kind and beside
// the floors that no cache can get under.
//
//	go run .                          # everything, at 1 and 2 processors, some 20 minutes
//	go run . -rows hit -procs 2       # one table
//	go run . -count 3 -benchtime 300ms
//	go run . -json > figures.json
//	go test -bench Hit/earlybird -cpuprofile cpu.prof
//
// Absolute figures move by a third from one machine, or one minute, to the
// next. So everything in a table is measured in turns within one run, and what
// counts is the ratio: each turn compares with the same turn's base, and the
// table shows the median over the turns with its quartiles.
//
// ns/op is the wall clock's time over the operations of all processors
// together; cpu ns is the processor time of one operation, which other programs
// on the machine disturb far less. Ratios are ratios of the latter, garbage
// collector and the caches' own goroutines included.
//
// # hit
//
// A read that finds its value, through the interface that would load it if it
// were missing, with an expiry and an early refresh configured (an hour and
// three quarters of one, so that neither comes up while we measure). 100,000
// keys of 24 bytes, Zipf 1.01, as many readers as processors.
//
//   - The cache is full: its capacity is the number of keys. It is warmed in
//     passes over all keys until a pass loads nothing. A trial in which less
//     than 99 % are hits counts as failed.
//   - Everyone gets the same keys in the same order. They are cut out of one
//     long string, one after another, as a server cuts them out of its
//     requests: bytes warm in the processor's cache, and never the very string
//     that the cache holds, which would be equal at first glance.
//   - Each trial makes its cache anew, so that hash seeds and the layout of
//     memory are drawn anew too, and no other cache's goroutines are about.
//   - All pay one indirect call and the cutting of the key, less than 3 ns.
//
// earlybird counts its hits and so do theine and sturdyc to some extent; otter
// and ristretto are left as they come, which is without. ristretto has no
// loader, thus no refresh: its row is Get alone. map is a plain Go map that
// nobody writes to, without a lock: the limit.
//
// # reject
//
// The four ways to turn a key down, beside a hit in the same cache: longer
// than allowed; of the wrong shape, in its last byte; unknown to the guard; and
// remembered as absent.
//
// # miss
//
// A read of a key never seen before, whose loader answers at once, in a cache
// that is full, beside the least that any honest miss must do: a goroutine, so
// that the caller can leave before the load ends, a channel to hear from it and
// a context with a timeout.
package main
