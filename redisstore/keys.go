package redisstore

// A user's key K becomes three keys of Redis, in the slot that K itself would
// be in:
//
//	ns:v:{tag}K  what is stored: a frame or a tombstone
//	ns:l:{tag}K  the lease
//	ns:e:{tag}   the slot's epoch
//
// The tag stands before anything the user chose, and no namespace has braces,
// so nothing in K can move a key elsewhere or make two keys one.
type keys struct {
	value, lease, epoch string
	slot                uint16
}

// keysOf returns the keys for the user's key.
func (n namespace) keysOf(key string) keys {
	slot := slotOf(key)
	tag := n.tags[slot]
	all := n.value + tag + "}" + key + n.lease + tag + "}" + key + n.epoch + tag + "}"
	value := len(n.value) + len(tag) + 1 + len(key)
	lease := value + len(n.lease) + len(tag) + 1 + len(key)
	return keys{value: all[:value], lease: all[value:lease], epoch: all[lease:], slot: slot}
}

// readKeysOf returns the keys that a hit needs, all but the lease.
func (n namespace) readKeysOf(key string) keys {
	slot := slotOf(key)
	tag := n.tags[slot]
	all := n.value + tag + "}" + key + n.epoch + tag + "}" // one string, and slices of it
	value := len(n.value) + len(tag) + 1 + len(key)
	return keys{value: all[:value], epoch: all[value:], slot: slot}
}

// epochOf returns the key of a slot's epoch.
func (n namespace) epochOf(slot uint16) string {
	return n.epoch + n.tags[slot] + "}"
}

// namespace is what the keys of one set of caches have in common.
type namespace struct {
	value, lease, epoch string // what each key begins with
	tags                *[slots]string
}

func newNamespace(name string) namespace {
	return namespace{
		value: name + ":v:{",
		lease: name + ":l:{",
		epoch: name + ":e:{",
		tags:  tags(),
	}
}
