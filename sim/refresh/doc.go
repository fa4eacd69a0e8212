// Package refresh is the engine behind "go run ./sim refresh". It plays the
// early refresh of one key read by a fleet and sets what it observed beside
// the closed forms of package xfetch:
//
//   - how likely one read is to be elected, by the time left before expiry;
//   - how many loads an expiry costs, how early the first of them starts and
//     how often it comes too late, with readers who share nothing but the
//     entry and with singleflight in every instance.
//
// Reads are a Poisson stream, loads take a fixed time, the entry lives in a
// shared tier where a new value is seen by everybody at once. Every election is
// decided by xfetch.Due with a random number of its own: the rule is not
// written a second time here. What is left out is only what cannot matter, and
// exactly so; key.go tells how.
//
// The same setup and seed give the same report.
package refresh
