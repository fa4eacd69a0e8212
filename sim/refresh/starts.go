package refresh

// Start is when an entry's replacement began.
type Start struct {
	At    float64 // seconds after the entry was written
	Loads int     // it took
}

// Starts plays the first generation of as many keys as the setup has expiries,
// with the thinned engine.
func Starts(s Setup) []Start {
	c := newClocks(s)
	key := newThinned(&s, &c, source(s.Seed, streamThinned))
	starts := make([]Start, s.Expiries)
	for i := range starts {
		e := key.next()
		starts[i] = Start{e.life + key.replace - e.left, e.loads()}
	}
	return starts
}
