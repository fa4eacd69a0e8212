package hotkeys

import (
	"hash/maphash"
	"math/bits"
	"math/rand/v2"
	"time"
)

// Tracker counts reads of keys and knows the most read. Make one with [New].
// Its methods may be called from any goroutine, and the nil Tracker is one that
// is off: it counts nothing and lists nothing.
type Tracker struct {
	opts    Options // filled
	seed    maphash.Seed
	start   time.Time
	every   uint64
	luck    uint64 // Touch samples if 32 random bits are less
	stripes []stripe
}

// New makes a tracker. The error, if any, is an *[OptionError].
func New(opts Options) (*Tracker, error) {
	opts, err := opts.filled()
	if err != nil {
		return nil, err
	}
	every := uint64(min(readsPerSample(memory*opts.Window.Seconds()*opts.Threshold), 1<<32))
	t := &Tracker{
		opts:    opts,
		seed:    maphash.MakeSeed(),
		every:   every,
		luck:    1 << 32 / every,
		stripes: make([]stripe, ceilPow2((opts.Counters+ways-1)/ways)),
	}
	if opts.Now == nil {
		t.start = time.Now()
	} else {
		t.start = opts.Now()
	}
	return t, nil
}

func ceilPow2(n int) int { return 1 << bits.Len(uint(n-1)) }

// Touch counts a read of key: one time in [Tracker.Every] it is sampled,
// otherwise this costs next to nothing.
func (t *Tracker) Touch(key string) {
	if t == nil || uint64(rand.Uint32()) >= t.luck {
		return
	}
	t.Sample(key, t.every)
}

// Every is the number of reads that a sample of [Tracker.Touch] stands for, at
// least 1; 0 if the tracker is off.
func (t *Tracker) Every() uint64 {
	if t == nil {
		return 0
	}
	return t.every
}

// Threshold is [Options.Threshold], 0 if the tracker is off.
func (t *Tracker) Threshold() float64 {
	if t == nil {
		return 0
	}
	return t.opts.Threshold
}

// Sample counts weight reads of key. It is for callers that pick their samples
// themselves, such as every 64th read, each with a weight of 64, and so save
// the draw of Touch. They should pick about one in [Tracker.Every] or more, and
// not by key.
//
// It never waits: a sample that finds its stripe busy is dropped and counted.
// It does not allocate, but for the first keys of a counter.
func (t *Tracker) Sample(key string, weight uint64) {
	if t == nil || weight == 0 {
		return
	}
	h := t.hash(key)
	now := t.elapsed()
	s := t.stripe(h)
	if !s.mu.TryLock() {
		s.drop(weight)
		return
	}
	s.catchUpLocked(t.windowOf(now))
	s.addLocked(h, key, t.opts.MaxKeyLen, float64(weight), now)
	s.mu.Unlock()
}

// hash is never 0, which stands for no key.
func (t *Tracker) hash(key string) uint64 {
	return maphash.String(t.seed, key) | 1
}

func (t *Tracker) stripe(h uint64) *stripe {
	return &t.stripes[h>>32&uint64(len(t.stripes)-1)]
}

// elapsed is the time since New. time.Since reads one clock where time.Now
// reads two.
func (t *Tracker) elapsed() time.Duration {
	if t.opts.Now == nil {
		return time.Since(t.start)
	}
	return t.opts.Now().Sub(t.start)
}

func (t *Tracker) windowOf(elapsed time.Duration) int64 {
	return int64(elapsed / t.opts.Window)
}

// Stats is what a tracker has counted since it was made.
type Stats struct {
	Every   uint64 // reads that a sample of Touch stands for
	Samples uint64 // counted
	Dropped uint64 // samples that found their stripe busy

	// Floor is the resolution now, in reads a second: a key that is read more
	// often has a counter. It rises with the number of keys and falls with
	// Options.Counters. Near the threshold there are too few counters.
	Floor float64
}

// Stats returns the present figures; those of a nil tracker are zero.
func (t *Tracker) Stats() Stats {
	if t == nil {
		return Stats{}
	}
	out := Stats{Every: t.every}
	t.each(func(s *stripe, span float64) {
		out.Samples += s.samples
		out.Dropped += s.drops.Load()
		out.Floor = max(out.Floor, (s.atMost[s.smallest()]+s.missed)/span)
	})
	return out
}

// each visits every stripe, locked and up to date. Dividing a count by span,
// in seconds, gives a rate; see the package comment.
func (t *Tracker) each(visit func(s *stripe, span float64)) {
	now := t.elapsed()
	window := t.windowOf(now)
	for i := range t.stripes {
		s := &t.stripes[i]
		s.mu.Lock()
		s.catchUpLocked(window)
		// Another clock reading may have been later than this one.
		begun := time.Duration(s.window) * t.opts.Window
		visit(s, (t.opts.Window + max(now-begun, 0)).Seconds())
		s.mu.Unlock()
	}
}
