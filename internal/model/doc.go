// Package model tests the cache against its laws: it plays random scripts of
// reads, changes and misbehaving loads on a real cache, writes down what
// happened, and judges the record.
//
// The parts are kept apart, so that each can be read, and wrong, alone:
//
//   - a [Script] is what is to happen: for each of several clients a list of
//     operations, for each key the behaviour of its coming loads. It is text
//     and can be parsed back;
//   - [Generate] makes scripts from a [Profile], which names the options of the
//     cache and the kind of traffic, and a seed;
//   - [Run] plays a script on a fresh cache, in virtual time: the caller
//     provides the testing/synctest bubble. Clients overlap, loads take time,
//     refreshes go on in the background;
//   - the [History] of a run holds each read, load and change with the instants
//     at which it began and ended, as seen from outside of the cache;
//   - the judge knows what the laws allow and nothing of how the cache works.
//     It finds the first broken promise in a history, and counts which
//     situations occurred, so that a test can notice that it tests nothing.
//
// The promises are the constants of type [Promise].
//
// Every value carries the load or the Set that made it, so the judge never
// guesses where an answer came from. It does not know at which instant inside
// a call the cache acted, and so it only holds the cache to what follows from
// one call having ended before another began.
//
// A failed run's error holds the script and what happened, the latter as
// comments: the error's text can be saved and parsed as the script. Virtual
// time makes replays nearly exact; what happens within one instant is still up
// to the scheduler.
//
// A [Storm] is the complement for windows too small for virtual time: real time,
// real parallelism, few keys, and only the promise about changes.
package model
