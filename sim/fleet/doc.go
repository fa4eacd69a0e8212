// Package fleet is the engine behind "go run ./sim fleet". It runs a fleet of real
// caches, each with a connection of its own to a real Redis server, in one process
// and in real time, before one slow origin, and tells what the origin, the readers
// and the server saw.
//
// Reads come by a schedule that is fixed beforehand, and how long one took is
// counted from when it was due. What the loaders and the readers themselves saw is
// counted, never what a cache says of itself; and because all of them have one
// clock, a read is known to have waited for the origin if what it got was not
// there yet when it began.
package fleet
