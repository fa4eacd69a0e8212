package earlybird

import (
	"sync/atomic"
	"time"

	"github.com/earlybird-cache/earlybird/memstore"
	"github.com/earlybird-cache/earlybird/xfetch"
)

// negative is a remembered lack of a value: an absence, or for a short while
// that the origin's value does not pass Options.Validate.
type negative struct {
	epoch   uint32
	expiry  int64
	err     error
	invalid int    // how often in a row the value was invalid
	outage  uint64 // of the shared tier: it is remembered for as long as that lasts
	retired atomic.Bool
}

func (n *negative) alive(epoch uint32) bool {
	return n.epoch == epoch && !n.retired.Load()
}

// negative returns what is remembered of key's lack of a value, or nil.
func (c *Cache[V]) negative(key string, now int64) *negative {
	if n, ok := c.negatives.Get(key); ok && now < n.expiry && n.alive(c.fence.epoch.Load()) &&
		(n.outage == 0 || c.tier.isIn(n.outage)) {
		return n
	}
	return nil
}

// publishAbsence stores an absence unless a change came after its load began.
// The value goes first, so that nobody finds a value that is known to be gone
// once the absence is there.
func (c *Cache[V]) publishAbsence(f *flight[V], now int64) (published bool) {
	life := xfetch.Life(max(c.opts.NegativeTTL, 0), c.jitter(), c.opts.Rand())
	until := satAdd(now, int64(life))
	if c.tier != nil {
		if until, published = c.offerAbsence(f, now, life); !published {
			return false
		}
	}
	published = f.pass.holds()
	c.dropValue(f.key, f.pass.holds)
	if c.opts.NegativeTTL < 0 || c.negatives == nil {
		return published
	}
	return c.rememberAbsence(f, until)
}

// rememberAbsence stores an absence near until then; if the shared tier could not be
// asked, until it can.
func (c *Cache[V]) rememberAbsence(f *flight[V], until int64) bool {
	n := &negative{err: ErrNotFound, expiry: until}
	if f.isDown {
		n.outage = c.tier.outages.Load()
	}
	return c.publishNegative(f.key, f.pass, func(*negative) *negative { return n })
}

// publishInvalid keeps readers from asking at once again for a value that is
// invalid at the origin: each time for twice as long.
func (c *Cache[V]) publishInvalid(key string, pass pass, err error, now int64) {
	u := c.opts.Rand()
	c.publishNegative(key, pass, func(old *negative) *negative {
		n := &negative{err: err, invalid: 1}
		if old != nil && old.alive(pass.epoch) {
			n.invalid = old.invalid + 1
		}
		wait := backOff(leastBackoff, min(mostBackoff, c.opts.TTL), n.invalid, u)
		n.expiry = satAdd(now, int64(wait))
		return n
	})
}

func (c *Cache[V]) publishNegative(key string, pass pass, heir func(old *negative) *negative) (published bool) {
	c.negatives.Update(own(key), func(old *negative, ok bool) (*negative, memstore.Op) {
		if !pass.holds() {
			return nil, memstore.Keep
		}
		n := heir(old)
		n.epoch = pass.epoch
		published = true
		return n, memstore.Put
	})
	return published
}

// dropNegative forgets key's negative if the condition holds inside its
// critical section.
func (c *Cache[V]) dropNegative(key string, ok func() bool) {
	c.negatives.Update(key, func(old *negative, found bool) (*negative, memstore.Op) {
		if !found || !ok() {
			return nil, memstore.Keep
		}
		old.retired.Store(true)
		return nil, memstore.Drop
	})
}

const (
	leastBackoff = 100 * time.Millisecond
	mostBackoff  = 30 * time.Second
)

// backOff is how long to wait after the nth failure in a row: base at first,
// then twice as long each time up to most, of which u, in [0, 1), takes away up
// to half.
func backOff(base, most time.Duration, n int, u float64) time.Duration {
	wait := max(base, 1)
	for ; n > 1 && wait < most; n-- {
		wait *= 2
	}
	return xfetch.Life(min(wait, most), 0.5, u)
}
