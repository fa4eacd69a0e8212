package hotkeys

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// HotKey is a key and how often it is read. Rates are reads a second, means in
// which recent reads weigh most; the package comment says which.
type HotKey struct {
	// Key is the key, or what Options.Redact made of it.
	Key string

	// Truncated says that Key is only the beginning of a key longer than
	// Options.MaxKeyLen.
	Truncated bool

	// Lower is what was counted under this key's own name. Upper adds what it
	// may have been read before it had a counter, and every sample dropped.
	Lower, Upper float64

	// Rate is the best guess, the middle of what the counters leave open.
	Rate float64

	// Since is when the key got its counter. It keeps it as long as it is
	// among the most read.
	Since time.Time
}

// Top lists the k keys with the highest lower bounds, highest first. Keys that
// have faded to less than one read are left out. Keys are redacted if
// [Options.Redact] is set.
//
// It looks at every counter: right for a page or a scrape, wrong for a request.
func (t *Tracker) Top(k int) []HotKey {
	if t == nil || k <= 0 {
		return nil
	}
	keys := t.list(0, k)
	if t.opts.Redact != nil {
		for i := range keys {
			keys[i].Key = t.opts.Redact(keys[i].Key)
		}
	}
	return keys
}

// Shown returns what may be shown of key: what [Options.Redact] makes of it.
func (t *Tracker) Shown(key string) string {
	if t == nil || t.opts.Redact == nil {
		return key
	}
	return t.opts.Redact(key)
}

// Above lists the keys whose lower bound is at least rate, highest first: for
// code that decides something about them, not for showing. It lists keys as
// they are, unredacted, and leaves out those that it knows only by their
// beginning. It costs what [Tracker.Top] does.
func (t *Tracker) Above(rate float64) []HotKey {
	if t == nil {
		return nil
	}
	keys := t.list(rate, math.MaxInt)
	return slices.DeleteFunc(keys, func(k HotKey) bool { return k.Truncated })
}

// list returns the k hottest of the keys whose lower bound is at least rate.
// It raises rate on the way, so that few keys are copied that do not stay.
func (t *Tracker) list(rate float64, k int) (keys []HotKey) {
	t.each(func(s *stripe, span float64) {
		for i := range s.rest {
			if s.atMost[i] >= 1 && s.rest[i].atLeast >= rate*span {
				keys = append(keys, t.describe(s, i, span))
			}
		}
		if len(keys)-k >= k {
			keys = hottest(keys, k)
			rate = keys[k-1].Lower
		}
	})
	return hottest(keys, k)
}

func (t *Tracker) describe(s *stripe, i int, span float64) HotKey {
	c := &s.rest[i]
	return HotKey{
		Key:       string(c.key),
		Truncated: c.cut,
		Lower:     c.atLeast / span,
		Upper:     (s.atMost[i] + s.missed) / span,
		Rate:      (c.atLeast + s.atMost[i]) / 2 / span,
		Since:     t.start.Add(c.since),
	}
}

// hottest sorts keys and cuts them to k. The higher lower bound goes first;
// among equals the names decide, so that a listing does not shuffle.
func hottest(keys []HotKey, k int) []HotKey {
	slices.SortFunc(keys, byRate)
	return keys[:min(k, len(keys))]
}

func byRate(a, b HotKey) int {
	return cmp.Or(cmp.Compare(b.Lower, a.Lower), cmp.Compare(b.Rate, a.Rate), cmp.Compare(a.Key, b.Key))
}
