package l1

// Stats is what a tier has counted since it was made. Every Put that found the
// tier open is one of the first three.
type Stats struct {
	Kept      uint64 // Puts that were stored
	Refused   uint64 // Puts of new keys that found no room: many of them ask for more MaxKeys
	Overtaken uint64 // Puts that came too late: a higher version, a condition, a deletion

	Len int // see Tier.Len
}

// Stats returns the present figures; those of a nil tier are zero.
func (t *Tier[V]) Stats() Stats {
	if t == nil {
		return Stats{}
	}
	return Stats{
		Kept:      t.kept.Load(),
		Refused:   t.refused.Load(),
		Overtaken: t.overtaken.Load(),
		Len:       t.Len(),
	}
}
