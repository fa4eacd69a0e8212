package refresh

import (
	"math/rand/v2"
	"time"

	"github.com/earlybird-cache/earlybird/xfetch"
)

// events plays a key event by event: every read of every instance, and the end
// of every load. Times are nanoseconds of the key's life.
type events struct {
	setup *Setup
	rng   *rand.Rand
	gap   float64 // mean time between the reads of an instance
	ahead []int64 // by instance: its clock; nil if all are right
	step  int64   // in which clocks move

	queue   heap
	running []running
	free    []int32 // indices of running that are unused
	loading []int32 // by instance: loads that run
	played  int     // reads

	entry   entry
	expiry  expiry
	done    bool  // this generation has been replaced
	claimed int64 // when the others see the claim on this generation; 0: nobody has one
}

// entry is the value that all instances read.
type entry struct {
	generation int
	born       int64 // when the load ended that brought it
	expiry     int64 // by the store's clock
	life       time.Duration
	aim        xfetch.Aim
	cost       xfetch.Cost
}

type running struct {
	instance   int32
	generation int // that it is to replace
	ends       int64
	took       float64 // seconds
}

// newEvents starts with a fresh entry.
func newEvents(s *Setup, c *clocks, rng *rand.Rand) *events {
	k := &events{
		setup: s, rng: rng,
		gap:     float64(s.Instances) / s.Rate * float64(time.Second),
		step:    int64(s.Step),
		loading: make([]int32, s.Instances),
	}
	for _, a := range c.ahead {
		k.ahead = append(k.ahead, int64(a*float64(time.Second)))
	}
	for i := range s.Instances {
		k.queue.push(event{k.after(0), int32(i)})
	}
	k.entry.cost = xfetch.Cost{Mean: s.stored()}
	k.write(0)
	return k
}

// next plays until the entry has been replaced.
func (k *events) next() expiry {
	born := k.entry.born
	k.expiry, k.done = expiry{}, false
	for !k.done {
		k.happen()
	}
	k.expiry.life = float64(k.entry.born-born) / 1e9
	return k.expiry
}

// happen lets the next event happen.
func (k *events) happen() {
	now, what := k.queue[0].at, k.queue[0].what
	if what < 0 {
		k.queue.pop()
		k.land(-1 - what)
		return
	}
	k.queue.replaceTop(event{k.after(now), what})
	k.played++
	k.read(now, what)
}

// after is when an instance that has read now reads next.
func (k *events) after(now int64) int64 {
	return now + int64(k.rng.ExpFloat64()*k.gap+0.5)
}

func (k *events) read(now int64, instance int32) {
	if now >= k.entry.expiry {
		k.expiry.waits++
	}
	left := time.Duration(k.entry.expiry - k.clock(now, instance))
	if !k.entry.aim.Due(left, k.rng.Float64()) || k.taken(now, instance) {
		return
	}
	early := now < k.entry.expiry
	if k.expiry.loads() == 0 {
		k.expiry.left = float64(k.entry.expiry-now) / 1e9
		k.claimed = now + int64(k.setup.RoundTrip)
	}
	k.expiry.count(early)
	if early && k.setup.Inline {
		k.expiry.waits++
	}
	k.start(now, instance)
}

// clock is what an instance's clock shows.
func (k *events) clock(now int64, instance int32) int64 {
	if k.ahead != nil {
		now += k.ahead[instance]
	}
	return k.ticked(now)
}

// ticked cuts a time to whole steps.
func (k *events) ticked(now int64) int64 {
	if k.step == 0 {
		return now
	}
	if past := now % k.step; past < 0 {
		return now - past - k.step
	} else {
		return now - past
	}
}

// taken tells whether an elected reader leaves the load to somebody else.
func (k *events) taken(now int64, instance int32) bool {
	switch k.setup.Coordination {
	case Singleflight:
		return k.loading[instance] > 0
	case Lease:
		return k.claimed > 0 && now >= k.claimed
	}
	return false
}

func (k *events) start(now int64, instance int32) {
	took := k.setup.Delta.Seconds() * k.setup.Cost.Draw(k.rng)
	ends := now + int64(k.setup.claim()) + int64(took*1e9+0.5)
	load := running{instance, k.entry.generation, ends, took}
	i := int32(len(k.running))
	if n := len(k.free); n > 0 {
		i, k.free = k.free[n-1], k.free[:n-1]
		k.running[i] = load
	} else {
		k.running = append(k.running, load)
	}
	k.loading[instance]++
	k.queue.push(event{ends + int64(k.setup.Lag), -1 - i})
}

// land ends a load, once everybody can see what it brought. What it cost is
// learnt in any case.
func (k *events) land(i int32) {
	load := k.running[i]
	k.free = append(k.free, i)
	k.loading[load.instance]--
	if k.setup.learns() {
		k.entry.cost = k.setup.remember(k.entry.cost, load.took)
		k.entry.aim = k.setup.aim(k.entry.cost, k.entry.life)
	}
	if load.generation != k.entry.generation {
		return // another load was first
	}
	k.expiry.late = load.ends+int64(k.setup.Lag) >= k.entry.expiry
	k.write(load.ends)
	k.done = true
}

// write puts a new entry, made at the time given.
func (k *events) write(born int64) {
	e := &k.entry
	e.life = xfetch.Life(k.setup.TTL, k.setup.Jitter, k.rng.Float64())
	e.generation++
	e.born = born
	e.expiry = k.ticked(born) + int64(e.life)
	e.aim = k.setup.aim(e.cost, e.life)
	k.claimed = 0
}
