package l1

import (
	"math/rand/v2"
	"runtime"
	"sync/atomic"
)

// door knows who is inside, so that ristretto is closed only after everybody
// has left: its Get, Wait and Del send on channels that its Close closes.
//
// A lock shared by all readers would be what they contend for. They spread
// over lanes instead, and Close, which happens once, looks at all of them.
type door struct {
	shut  atomic.Bool
	lanes [64]lane
}

type lane struct {
	inside atomic.Int64
	_      [56]byte // a cache line each
}

// enter returns the lane to leave by, or nil if the door is shut.
func (d *door) enter() *lane {
	l := &d.lanes[rand.Uint32()%uint32(len(d.lanes))]
	l.inside.Add(1)
	if d.shut.Load() { // after Add: else close might not see us, nor we it
		l.leave()
		return nil
	}
	return l
}

func (l *lane) leave() { l.inside.Add(-1) }

// close shuts the door and waits until nobody is inside. Nobody stays for
// longer than ristretto takes to decide on a key, so it polls.
func (d *door) close() {
	d.shut.Store(true)
	for i := range d.lanes {
		for d.lanes[i].inside.Load() > 0 {
			runtime.Gosched()
		}
	}
}
