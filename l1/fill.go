package l1

// Fill is the leave to put what is read from a store after [Tier.Begin]. The zero
// Fill keeps nothing.
type Fill[V any] struct {
	tier  *Tier[V]
	key   string
	since mark
}

// Begin begins a fill of key: call it before the store is asked, and Put when it
// has answered. If key was deleted in between, or everything was made void, what
// the store has said may be out of date, and Put drops it. The key need not have
// been held, then or ever. A Fill that is not used needs no end. Begin does not
// allocate.
func (t *Tier[V]) Begin(key string) Fill[V] {
	if t == nil {
		return Fill[V]{}
	}
	return Fill[V]{tier: t, key: key, since: t.fence.now(t.hash(key))}
}

// Put is [Tier.Put] of what the store has said, unless that may be out of date.
func (f Fill[V]) Put(v V, version uint64, expiry int64) bool {
	if f.tier == nil {
		return false
	}
	return f.tier.put(f.key, &cell[V]{value: v, version: version, expiry: expiry}, &f.since, nil)
}
