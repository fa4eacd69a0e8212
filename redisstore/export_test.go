package redisstore

// SlotOf and SlotOfCopy are for tests of where things lie.
func SlotOf(key string) uint16 { return slotOf(key) }

func SlotOfCopy(key string, i, n int) uint16 { return slotOfCopy(slotOf(key), i, n) }

// BusTag is the tag of the bus of namespace eb.
var BusTag = tags()[slotOf("eb")]
