package earlybird

import (
	"sync/atomic"
	"time"

	"github.com/earlybird-cache/earlybird/xfetch"
)

// habits is what an entry knows of its key's loads and readers, under a rule of
// early refresh that asks for it. Earlier generations' is never written after
// publication; this one's reads are counted from listens on, until there are
// enough, or one of them starts a refresh. Until then, and from then until the
// window opens, a hit counts nothing.
type habits struct {
	aim     xfetch.Aim
	cost    xfetch.Cost
	reads   xfetch.Reads // of earlier generations
	listens int64

	seen  atomic.Uint32
	heard atomic.Int64 // how long it has listened; 0: it still does, or does not yet
}

// aim says where e's draws for an early refresh aim.
func (e *entry[V]) aim(beta float64) xfetch.Aim {
	if r := e.rare.Load(); r != nil && r.habits != nil {
		return r.habits.aim
	}
	return xfetch.Aim{Scale: e.scale(beta)}
}

// inherit gives e, which is about to be published at now, the habits of old, which
// may be nil, and of the load that brought e, which took cost; 0 if that teaches
// nothing.
func (e *entry[V]) inherit(rule xfetch.Rule, beta float64, old *entry[V], cost time.Duration, now int64) {
	h := &habits{}
	if before := old.habits(); before != nil {
		h.cost, h.reads = before.cost, before.after(now, old.expiry)
		// A load that timed out has taught the old entry that loads are dearer.
		h.cost.Mean = max(h.cost.Mean, time.Duration(old.delta.Load()))
	}
	switch {
	case cost > 0:
		h.cost = h.cost.After(cost)
	case h.cost.Mean == 0:
		h.cost = h.cost.After(time.Duration(e.delta.Load()))
	}
	life := time.Duration(e.expiry - e.written)
	h.aim = rule.Aim(xfetch.Known{Cost: h.cost, Rate: h.reads.Reliable()}, max(beta, 0), life)
	h.listens = satSub(e.expiry, int64(max(rule.Listening(h.aim, life), h.aim.Window())))
	e.more().habits = h
}

func (e *entry[V]) habits() *habits {
	if e == nil {
		return nil
	}
	if r := e.rare.Load(); r != nil {
		return r.habits
	}
	return nil
}

// after is what is known of the readers when an entry that would have expired at
// expiry is replaced at now.
func (h *habits) after(now, expiry int64) xfetch.Reads {
	span := h.heard.Load()
	switch end := min(now, expiry); {
	case span > 0:
	case end <= h.listens:
		return h.reads
	default:
		span = end - h.listens
	}
	return h.reads.After(int(min(h.seen.Load(), xfetch.Enough)), time.Duration(span))
}

// hear counts a read of e at now, if e listens. The last one that is needed
// makes e quiet again.
func (e *entry[V]) hear(now int64) {
	h := e.habits()
	if h == nil || now < h.listens || h.heard.Load() != 0 || h.seen.Add(1) != xfetch.Enough {
		return
	}
	h.hush(now)
	quiet := e.quiet.Load()
	if until := e.beforeWindow(h.aim); doubted < quiet && quiet < until {
		e.quiet.CompareAndSwap(quiet, until)
	}
}

// hush ends the counting.
func (h *habits) hush(now int64) { h.heard.CompareAndSwap(0, max(1, now-h.listens)) }
