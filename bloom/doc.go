// Package bloom holds the penetration guard: a Bloom filter of the ids that
// exist, asked before a read goes on to the shared store or the origin. An id
// it has never been told of stops here, at the price of two hashes.
//
// # One question
//
// [Guard.MayContain] answers "certainly not" or "perhaps". A wrong "perhaps"
// costs the origin one read and happens at the rate the guard was designed
// for. A wrong "certainly not" would hide a record from its owner, so the
// guard never risks one: whenever it cannot vouch for its answer (never built,
// filled far past its design, too old, caught denying an id that exists) it
// answers "perhaps" to everything and says so in [Stats]. That is failing
// open.
//
// # Inside
//
// The bits are a github.com/bits-and-blooms/bloom/v3 filter, frozen: nothing
// writes to it once readers can see it. Ids added later go to a small exact
// table of atomic words beside it, and when that table is full the two become
// a new frozen filter. A reader loads one pointer, takes no lock and allocates
// nothing. Writers share a mutex.
//
// That library places an id by an unkeyed murmur3, whose steps can be run
// backwards: one known id is enough to manufacture any number of strangers
// with the same bits, and no false-positive rate helps. The library therefore
// never sees an id. Each goes through SipHash-2-4-128 under a secret drawn
// anew for every build, and only the digest is placed.
//
// # Life
//
// [New] allocates next to nothing and the guard starts out Unbuilt.
// [Guard.Build] reads every id from the origin, sizes a filter for half as
// many again, tries it on ids it must know and swaps it in; for a grace its
// predecessor's ids pass too. [Guard.Missed] opens it until the next build. Ids given to [Guard.Add] before, during or after
// are carried into it. A Bloom filter cannot forget one id: deletions are
// reclaimed by the next build. At 1.25 times its design count the guard asks
// for one, at 1.5 times it fails open, because the false-positive rate climbs
// steeply past the design: built for 1 %, twice the ids give 16 % and three
// times 44 %. A [Keeper] builds when that is due, from a [Source] that resumes
// where it broke off.
//
// # Restarts
//
// A guard lives in memory. [Guard.SaveFile] and [Guard.LoadFile] spare a
// restart the scan of the origin, but not the ids created since: Load asks
// for those before it believes a snapshot. Without one, the guard is open
// until its first build. Counters begin at zero again. Of guards that are all
// told what is created, as those are whose caches share a tier, a new one begins
// with the snapshot of another: see [Member].
//
// # Evidence
//
// Tell the guard what the origin said of ids that passed. [Guard.ReportAbsent]
// measures the false positives; [Guard.ReportFound] exposes a denial that was
// wrong, as Options.Audit, Options.Shadow and the grace let happen without
// harm.
package bloom
