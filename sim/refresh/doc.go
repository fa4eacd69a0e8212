// Package refresh is the engine behind "go run ./sim refresh". It plays the
// early refresh of a key read by a fleet, with two engines, and sets what they
// observed beside the closed forms of package xfetch:
//
//   - how likely one read is to be elected, by the time left before expiry;
//   - how many loads an expiry costs, how early the first of them starts, how
//     often it comes too late and how many reads have to wait.
//
// Reads are a Poisson stream, spread evenly over the instances. The entry lives
// in a shared tier where a new value is seen by everybody at once, or after a
// lag. The first load of a stampede to end replaces the entry; what the others
// bring is dropped, but what they cost is learnt.
//
// # Two engines
//
// The event engine plays every read of every instance as an event and asks
// xfetch.Aim.Due about it: the rule is not written a second time here.
//
// The thinned engine plays no read at all. Elections are a Poisson stream
// whose density is that of the reads times xfetch.Aim.Probability; cut from the
// mean number of elections, it is a stream of rate 1, and inverting that mean
// gives the instants of the elections themselves (hazard.go). The outcome is
// distributed as if every read had been played, at a cost that does not depend
// on their rate: some 150 ns for an expiry that stands for millions of reads.
// One thing is simplified: an instance is never still busy with a load of the
// generation before. Where a life is not much longer than a load that matters,
// and the event engine shows how much.
//
// # Repeatable
//
// Expiries are cut into blocks, each a key of its own with a random stream of
// its own. The same setup and seed give the same figures on any number of
// workers.
package refresh
