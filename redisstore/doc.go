// Package redisstore is the shared tier of package store on Redis or Valkey, one
// server or a Cluster.
//
//	tier, err := redisstore.New(redisstore.Options[*User]{URL: "redis://cache:6379"})
//	...
//	defer tier.Close()
//	users, err := earlybird.New(loadUser, earlybird.Options[*User]{TTL: time.Minute, Store: tier})
//
// # What is stored
//
// A value is one string with all that is known of it: its generation, its lives,
// what its load cost, its full key, a checksum. What does not verify, whatever
// has damaged it, is a miss, is counted, and is overwritten by the next load. A
// key of the user's is three of the server's, in the slot that it would have
// itself: see keys.go. All of them end by themselves.
//
// No clock but the server's counts. Lives are kept by its expiry, and generations
// are its time in microseconds, or one more than what is there if that is higher:
// so they rise although a clock is set back. After a failover to a server whose
// clock is behind, that holds for every key of which something is left.
//
// # What it costs
//
// A hit is two commands in one write, PTTL and MGET of the value and its slot's
// epoch, and no script. A load is two scripts, to acquire and to publish, Set and
// Invalidate are one each. InvalidateAll is 16,384 short ones, about a quarter of a second of the
// servers' time all together, during which they serve others. Besides the values
// there are up to 16,384 epochs of some 100 bytes.
//
// Copies of a hot key (see [Store.Spread]) lie on other servers of a Cluster: of
// three copies on three servers each gets a third of the reads. Making them is a
// script at the base and one at each copy, every second or so while they are read.
// A change of any key learns from its script, at no cost of its own, whether there
// are copies, and then leaves tombstones in them, one script each. Outside a
// Cluster copies work and are of no use.
//
// There is one connection to each server, on which concurrent calls share
// writes.
//
// Those who wait for another's load are told by the server (client tracking), or
// ask every 15ms or so where it refuses to tell.
//
// # Watching
//
// A Store is a [store.Watcher] where the server tracks what clients read (Redis 6
// and later; the user needs the command client|tracking). Only keys that are
// watched are tracked. A change is told in about the time that a message takes,
// well below a millisecond here; so are evictions, and what the server forgets
// when it tracks too many keys (tracking-table-max-keys). InvalidateAll is told
// of each watched key as its slot's turn comes.
//
// All watches are lost when a connection to any server is lost, a server is
// emptied, or a slot turns out to have moved. A server that has gone silent is
// noticed within 1s, or WriteTimeout and .4s if that is more: an idle connection
// is asked every .2s. One blind spot is left: a server of a Cluster that has lost
// its slots to another, and then loses the other from sight, goes on answering
// and tells nothing, until a command is sent to it in vain. A watched copy should
// have a bound of its own for that.
//
// Servers without tracking tell nobody, and Watch says so. Telling by sharded
// publishing would not do: who changes a key would have to publish it always, as
// he cannot know whether somebody watches it, and evictions would go untold.
//
// # The bus
//
// A Store is a [store.Bus] on one server, that of a slot which the namespace
// chooses: in a Cluster, too, there is one order and one place that can fail, and
// while it does no guard refuses anything. Facts are kept in a stream (MaxFacts),
// and who listens in a hash; both end by themselves after 30 days of silence.
//
// Who listens asks about three times a second, or up to 200 times while there is
// something to hear, each time by a short script and by XREAD on a connection of
// its own. Telling takes a script, and one more every millisecond or so until all
// have heard: some milliseconds here, 1.1s if somebody is cut off or has died,
// once for each, and in the first 1.1s of a Store. A lease is 1s.
//
// A log of which anything is lost begins a new era, and is a gap for everybody: if
// the server was emptied, restarted without its data, if the stream or the hash
// was evicted, and after every failover, since replicas lag. INFO tells that (the
// replication id); where the user may not ask for it, a failover can go unnoticed.
//
// The promise needs one server at a time. If a failover happens while the old
// master is alive, cut off from the others and still reached by some instance,
// that instance hears the old one until the old one stops answering:
// cluster-node-timeout at most, or min-replicas-max-lag where the server has
// min-replicas-to-write.
//
// # Blobs
//
// A Store keeps [store.Blobs] in parts of 128 KiB, which are spread over the
// servers of a Cluster and asked for one by one. They end by themselves, and an
// eviction of a part makes the blob unreadable, which its readers notice.
//
// # When the server is slow or gone
//
// Each call has a budget, and comes back by then also while connecting, and from
// a server that accepts and never answers. After five failures in a row a server
// is left alone: calls fail at once, while the store asks it now and then behind
// their backs, and lets a tenth of them through at first when it answers. In a
// Cluster this is so for each 256 slots by themselves. What the server
// answers is no such failure, even if it is no: LOADING, READONLY, OOM. A wrong
// password is one, because each call would try it again on a connection of its
// own.
//
// An invalidation that fails is tried again, after 1s, 5s and then every minute,
// and as soon as the server is back: of many that wait, whatever the server says,
// one is tried every half second, and when it succeeds all are. Meanwhile this store
// finds nothing under its key. Copies that can not be told of a change are tried again for as long as
// they can live. [Store.Stats] shows how many wait. Lives are the last resort: when the
// process ends first, others find the old value until it expires.
//
// Redis replicates asynchronously. A failover may lose what was stored or
// invalidated last; a lost lease publishes nothing, and a lost invalidation of
// the last moment is like one that was never made. If it loses the note that a key
// has copies, or the server evicts that, a change does not reach them, and they end
// store.CopyLife after they were made. So does a copy whose making took longer
// than Tombstone, or than the minute for which notes are kept.
//
// # Trust
//
// Whoever can write to the server can give the caches any value. What he can not
// do is make them fail: replies are checked before the client library sees them,
// because it trusts its server's lengths, and everything that is stored is
// bounded before it is decoded.
//
// The user in the server's ACL needs get, getrange, mget, pttl, exists, set, del, pexpire,
// time, eval, evalsha, ping, hello, client and cluster, on the keys that begin
// with the namespace. For the bus it needs xadd, xread, xinfo, hget, hset, hdel,
// hgetall and info besides.
package redisstore
