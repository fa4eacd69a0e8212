package store

import "context"

// Watcher is what a Store may be besides: one that tells when what it gave out
// has changed. It is for caches that keep copies of records near, and want those
// of hot keys to go at once when anybody changes the key, and not when their
// short near life ends.
//
// Whoever changes a key does not know, and need not, whether somebody watches
// it: the tier remembers who has read what.
//
// # Watches
//
// A watch is of one key, and begins with a [Watcher.Watch] that says watched. If
// after the moment at which the tier read that record anything happens to it, be
// it replaced, invalidated, alone or with all others, or evicted, and by whom it
// may, this Store included, then changed is called with the key, or lost is
// called. That uses the watch up: a second change is told to those who have
// watched again. What is told is that there was a change, not what is there now.
//
// changed may be called for nothing now and then, and for keys that are no
// longer watched. lost is called when changes may have been missed and nobody
// can say of which keys: the connection is lost or has been silent for too long,
// the server was emptied, slots have moved. It ends all watches; a new one can be
// had as soon as the tier answers.
//
// A watch that nothing ends that way ends without a word when the record's Life
// and Grace are over, since a copy is of no use then, with [Watcher.Unwatch], and
// when the Store is closed. That the record ends by itself is not told.
//
// # Told before the answer
//
// A change can follow so soon that changed is called before Watch returns.
// Watched is false then if the Store has noticed, but the call may also come
// between the return and the moment at which the copy is put where lookups find
// it, and there it would stay. So whoever keeps copies has a counter for each
// key, or for each of some thousand sets of keys, that changed raises, and one
// that lost raises. He notes both before he calls Watch, and keeps the copy only
// if they stand where they stood; he asks that inside the critical section that
// puts the copy in, and changed raises the counter before it enters that section
// to take the copy out.
//
// # How soon
//
// An implementation says how soon it tells. What it must promise is a bound:
// after a change is confirmed to whoever made it, each Store that watches the
// key and can be reached tells within some ten milliseconds or, when it has
// noticed that it may be cut off, calls lost; and it notices within a time that
// it states, about a second, whatever the network does. Only for that long, or
// for as long as the whole process stood still, may a watched copy be out of
// date.
type Watcher[V any] interface {
	// Notify registers the callbacks. It is called once, before the first Watch;
	// where it was not, nothing is watched. Callbacks come on goroutines that
	// read what the server sends, several at once perhaps and in no order
	// between keys. They must be quick, about as long as a map's access takes,
	// must not block, and must not call the Store. When Close has returned none
	// is called or still runs.
	Notify(changed func(key string), lost func())

	// Watch is Get, and begins to watch key. It is a plain Get, and watched is
	// false, if the record is Missing; if the tier does not tell changes, which
	// may be so for a while only; if as many keys are watched as the Store has
	// room for; and if changed or lost was called meanwhile.
	Watch(ctx context.Context, key string) (r Record[V], watched bool, err error)

	// Unwatch ends the watch of key, if there is one, and makes room for
	// another. It asks nobody and is quick. A call of changed for the key that
	// has begun may come later.
	Unwatch(key string)
}
