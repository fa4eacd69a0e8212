package redisstore

import (
	"strconv"
	"strings"
)

// A user's key K becomes three keys of Redis, in the slot that K itself would
// be in:
//
//	ns:v:{tag}K  what is stored: a frame or a tombstone
//	ns:l:{tag}K  the lease
//	ns:e:{tag}   the slot's epoch
//
// Of hot keys there are more, see copies.go:
//
//	ns:s:{tag}          what is split in the slot
//	ns:r<i>/<n>:{tag}K  copy i of n, its tag that of another slot
//
// The tag stands before anything the user chose, and no namespace has braces,
// so nothing in K can move a key elsewhere or make two keys one.
type keys struct {
	value, lease, epoch string
	splits              string // "" for scripts that need not know
	slot                uint16
	slots               []string // of the script about many slots, instead of all these
}

// names returns the keys that there are, in the order that scripts know.
func (k keys) names() []string {
	if k.slots != nil {
		return k.slots
	}
	names := [...]string{k.value, k.lease, k.epoch, k.splits}
	n := 0
	for n < len(names) && names[n] != "" {
		n++
	}
	return names[:n]
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

// changeKeysOf returns the keys for a change of the user's key, which must know of
// its copies.
func (n namespace) changeKeysOf(key string) keys {
	k := n.keysOf(key)
	k.splits = n.splitsOf(k.slot)
	return k
}

// readKeysOf returns the keys that a hit needs, all but the lease.
func (n namespace) readKeysOf(key string) keys {
	slot := slotOf(key)
	tag := n.tags[slot]
	b := make([]byte, 0, len(n.value)+len(n.epoch)+2*(len(tag)+1)+len(key))
	b = append(append(append(append(b, n.value...), tag...), '}'), key...)
	value := len(b)
	all := stringOf(append(append(append(b, n.epoch...), tag...), '}')) // one string, and slices of it
	return keys{value: all[:value], epoch: all[value:], slot: slot}
}

// epochOf returns the key of a slot's epoch.
func (n namespace) epochOf(slot uint16) string {
	return n.epoch + n.tags[slot] + "}"
}

// splitsOf returns the key of what is split in a slot.
func (n namespace) splitsOf(slot uint16) string {
	return n.splits + n.tags[slot] + "}"
}

// slotKeysOf returns the keys of the slots from one up to another themselves.
func (n namespace) slotKeysOf(from, to int) keys {
	k := keys{slot: uint16(from)}
	for slot := from; slot < to; slot++ {
		k.slots = append(k.slots, n.epochOf(uint16(slot)), n.splitsOf(uint16(slot)))
	}
	return k
}

// copyOf returns the one key of copy i of n of the user's key, i > 0.
func (n namespace) copyOf(key string, i, of int) keys {
	slot := slotOfCopy(slotOf(key), i, of)
	return keys{value: n.copies + strconv.Itoa(i) + "/" + strconv.Itoa(of) + ":{" + n.tags[slot] + "}" + key, slot: slot}
}

// userKeyOf returns the user's key of a value key.
func (n namespace) userKeyOf(value string) (key string, ok bool) {
	rest, ok := strings.CutPrefix(value, n.value)
	if !ok {
		return "", false
	}
	_, key, ok = strings.Cut(rest, "}")
	return key, ok
}

// namespace is what the keys of one set of caches have in common.
type namespace struct {
	value, lease, epoch, splits, copies string // what each key begins with
	tags                                *[slots]string
}

func newNamespace(name string) namespace {
	return namespace{
		value:  name + ":v:{",
		lease:  name + ":l:{",
		epoch:  name + ":e:{",
		splits: name + ":s:{",
		copies: name + ":r",
		tags:   tags(),
	}
}
