// Package l1 is the tier in front of a shared store for the few keys that are
// hot: copies that live for seconds, so that a crowd's reads stay in process.
//
//	tier, err := l1.New[*User](l1.Options{})
//	...
//	if u, ok := tier.Get(key, now); ok { return u }
//	...
//	fill := tier.Begin(key)
//	... // read the store
//	fill.Put(u, version, now+life)
//
// # What it promises
//
// A [Tier.Get] returns the value of its own key, put there earlier, neither
// expired at the time it is given nor replaced nor deleted: never another key's,
// whatever the hashes do.
//
// A [Tier.Put] that reports true can be read as soon as it returns. As long as
// the tier holds a key, a Put of an older version does not replace a newer one,
// even an expired one.
//
// After [Tier.Delete] returns, no Get that starts is given what was there
// before, nor after [Tier.Void] or [Tier.Clear]. All take effect at once for
// readers who hold on to a place they looked up earlier, because it is the value
// that is taken away or void.
//
// What is read from a store is put by a [Fill], begun before the store was asked.
// If any of these came in between, it is dropped, also if the key was not held
// then: whether a key is hot here says nothing about whether it has changed.
// Delete and the Puts of one key exclude each other, so nothing slips through.
// Who has a fence of his own can make it the condition of [Tier.PutIf].
//
// Delete and Void wait for nobody and cost the same however much is held, so they
// may be called by whoever reads messages off a connection. When such a connection
// is lost, call Void: changes may have been missed.
//
// # What it does not
//
// It need not keep what it is given. When it is full, a new key displaces one
// that is asked for less or, if it finds none, is refused: Put reports false,
// [Stats] counts it, and the next read asks the shared store as it would for a
// key that is not hot. A Get counts as asking even if it finds nothing, so a key
// that is worth a place gets one. And any key may be displaced later.
//
// With its value a key loses its version: the tier does not know that what a Put
// brings was deleted before. Hence Begin.
//
// It has no clock. Expired values keep their places until others want them.
//
// # Ristretto
//
// Underneath is github.com/dgraph-io/ristretto/v2, which decides what stays
// (TinyLFU). Used by itself it would break the promises above: its Set takes
// effect later, and of two quick Sets of a new key the first one stays; a Del
// can be overtaken by a Set before it; it compares hashes, not keys; its costs
// include overhead that its user does not know; a value's life runs by its own
// clock; and a Get during Close may panic. So ristretto holds places only, one
// for each key, empty when admitted and never replaced, and the tier puts values
// in and takes them out itself. A new key's Put waits until ristretto has
// decided, some microseconds; every later one is a store into its place.
//
// A tier runs two goroutines until [Tier.Close] and takes 300 KiB when empty.
package l1
