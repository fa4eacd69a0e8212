// Package l1 is the tier in front of a shared store for the few keys that are
// hot: copies that live for seconds, so that a crowd's reads stay in process.
//
//	tier, err := l1.New[*User](l1.Options{})
//	...
//	if u, ok := tier.Get(key, now); ok { return u }
//	...
//	tier.PutIf(key, u, version, now+life, holds)
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
// before, nor after [Tier.Clear]. Both take effect at once for readers who hold
// on to a place they looked up earlier, because the value is taken out of the
// place.
//
// Delete and the Puts of one key exclude each other, and the condition given to
// [Tier.PutIf] is asked inside that section. So whoever fills from a store
// raises a fence, deletes, and makes the fence the condition of each fill that
// began before: none of them can bring back what was deleted.
//
// # What it does not
//
// It need not keep what it is given. When it is full, a new key displaces one
// that is asked for less or, if it finds none, is refused: Put reports false,
// [Stats] counts it, and the next read asks the shared store as it would for a
// key that is not hot. A Get counts as asking even if it finds nothing, so a key
// that is worth a place gets one. And any key may be displaced later.
//
// With its place a key loses its version: the tier remembers nothing about what
// it does not hold, not even a deletion. Hence PutIf.
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
