// Command bench measures earlybird beside other caches of its kind and beside
// the floors that no cache can get under.
//
//	go run .                          # every row, at 1 and 2 processors, some half an hour
//	go run . -rows '^hit$' -procs 2   # one table
//	go run . -rows '^hit$' -keys 10000,1000000 -zipf uniform,0.9 -value 16,4096
//	go run . -rows ratio -trace some.gz -trace other.txt
//	go run . -count 3 -benchtime 100ms
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
// A subject of which more than 1 % of the operations did something else than its
// row is about has no figures; the table says so.
//
// # hit
//
// A read that finds its value, through the interface that would load it if it
// were missing, with an expiry and an early refresh configured (an hour and
// three quarters of one, so that neither comes up while we measure). 100,000
// keys of 24 bytes, Zipf 1.01, values of 16 bytes unless flags say otherwise, as
// many readers as processors.
//
//   - The cache is full: its capacity is the number of keys. It is warmed in
//     passes over all keys until a pass loads nothing.
//   - Everyone gets the same keys in the same order. They are cut out of one
//     long string, one after another, as a server cuts them out of its
//     requests: bytes warm in the processor's cache, and never the very string
//     that the cache holds, which would be equal at first glance.
//   - Each trial makes its cache anew, so that hash seeds and the layout of
//     memory are drawn anew too, and no other cache's goroutines are about.
//   - All pay one indirect call and the cutting of the key, less than 3 ns.
//
// earlybird counts its hits and so do theine and sturdyc to some extent; otter
// and ristretto are left as they come, which is without. earlybird-all has
// shapes, a guard and hot keys besides. ristretto has no loader, thus no
// refresh: its row is Get alone. map is a plain Go map that nobody writes to,
// without a lock: the limit.
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
// a context with a timeout. Of the peers, theine, sturdyc and hot call the
// loader on the caller's goroutine, which cannot leave.
//
// # many
//
// A call for 100 different keys, all of them in the cache (-100), half (-50) or
// none (-0), beside the same reads of keys in the cache one by one. The known half
// goes round a hundredth of the products, which stay though all else passes.
// calls is how often the origin was called for one batch.
//
// # set, set-new
//
// A new value for a popular key of a full cache; a value for a key never seen
// before in one. ristretto's Set puts a value in line, and may drop it.
//
// # invalidate
//
// Reads as in hit while a goroutine invalidates ten keys every millisecond
// (-keys) or everything every tenth of a second (-all), beside the same reads
// left in peace. What was invalidated the readers load.
//
// # memory, gc
//
// Both in a fresh process for each measurement. memory is the live heap that a
// cache of a million entries keeps, for each entry held, besides the bytes of keys
// and values; the headers of the strings are the cache's. held tells how many
// of the entries it kept.
//
// gc is the share of processor time that the collector takes, at GOGC 100, while
// all processors read and one read in twenty loads. It is put together from
// what is allocated meanwhile and what one collection costs. -entries sets the
// size of both; 10000000 needs some 6 GB.
//
// # ratio, ratio-loop
//
// Hit ratios, in percent, of caches with room for a share of the distinct keys,
// and the points they are above otter's: for each -trace (text, one key a line,
// gzip'd or not, "-" for standard input) and for synthetic streams of -requests.
// optimum is Belady's, which knows the future and may decline to store.
//
// One goroutine reads through the loading interface, and after each miss waits
// until eviction has caught up: otter does its work on the reader's goroutine,
// theine and ristretto are asked to finish what was stored, earlybird, which has
// nothing to ask, is waited for until it holds no more than it may. Reads that
// theine and ristretto have not yet counted, and a few that ristretto drops,
// cannot be waited for.
//
// # storm
//
// Latencies of hits, in ns with one look at the clock included, while it is calm
// and while one product in ten lives for a second and is then loaded from an origin
// that takes 5 ms. 64 readers a processor, since many wait for loads; a read
// counts as a hit if its value was loaded before it began. The base of the ratio
// is the same cache when calm.
//
// # shared, shared-bytes
//
// Hits of a tier on a redis-server that is started for each measurement and
// listens on the loopback: 10,000 keys and values of 200 bytes, 64 readers a
// processor, since they wait for the network. In shared a value is a struct and
// everybody decodes it, in shared-bytes nobody has to.
//
//   - earlybird is package redisstore as it comes, but for a longer timeout, which
//     a busy machine keeps to.
//   - rueidis is the client library that it uses, with the settings that it uses,
//     and the two commands without which nobody knows how long a value will live,
//     PTTL and GET: no deadline, no breaker, nothing verified. It decodes with the
//     same codec. rueidis-default has the library's own settings.
//   - go-redis/cache has no local cache here. It does not ask for the life.
//
// Ratios are of the wall clock, all wanting the same processors, the server's
// included. server cpu is the server's own count.
package main
