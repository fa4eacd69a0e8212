package earlybird_test

// edit replaces text in a file. The text must occur there exactly once, so
// that this table fails when the code has moved on without it.
type edit struct{ file, old, new string }

// edits plant faults, each in force when planted is asked for it by name. The
// model test must tell the cache with any one of them from the cache without.
// With dawdle they also hold goroutines up in windows that are otherwise a few
// nanoseconds wide; the faultless cache is dawdling too.
var edits = []edit{
	// What is served.
	{
		"cache.go", `ok && now < e.expiry && e.alive(`,
		`ok && (planted("serve what has expired") || now < e.expiry) && e.alive(`,
	}, {
		"cache.go", `ok && now < a.expiry && a.alive(`,
		`ok && (planted("remember absences for ever") || now < a.expiry) && a.alive(`,
	}, {
		"cache.go", `if e := c.fresh(key, now); e != nil {
		return c.serve(`,
		`if e := c.fresh(key, now); e != nil && !(planted("refuse a hit to a context that has ended") && ctx.Err() != nil) {
		return c.serve(`,
	}, {
		"cache.go", `case !c.opts.Shapes.`,
		`case !planted("let any shape through") && !c.opts.Shapes.`,
	}, {
		"cache.go", `c.tally.count(early)`,
		`c.tally.count(early)
	if planted("count an early refresh as a hit too") {
		c.tally.count(hit)
	}`,
	}, {
		"cache.go", `case c.life.isOver():`,
		`case !planted("ask the guard and the negatives after Close") && c.life.isOver():`,
	},

	// Early refresh.
	{
		"xfetch/draw.go", `return min(-math.Log(u), MaxDraw)`,
		`if planted("reverse the sign of the logarithm") {
		return math.Log(u)
	}
	return min(-math.Log(u), MaxDraw)`,
	}, {
		"cache.go", `now < e.resume.Load() ||
		!xfetch.Due(left, scale, c.opts.Rand()) || !e.elect(now, satAdd(now, c.leaseLife())) {`,
		`!xfetch.Due(left, scale, c.opts.Rand()) ||
		!planted("elect whoever draws well") && !e.elect(now, satAdd(now, c.leaseLife())) {`,
	}, {
		"load.go", `	if seat.led {
		c.launch(l)
	}
}`,
		`	if seat.led {
		c.launch(l)
	}
	if planted("wait for one's own refresh") {
		<-seat.landed
	}
}`,
	}, {
		"publish.go", `e.backOff(c.clock.now(), c.opts.Rand())`,
		`if planted("drop the value whose refresh failed") {
		c.dropValue(f.key, always)
	}
	if planted("do not back off") {
		e.spare()
		return
	}
	e.backOff(c.clock.now(), c.opts.Rand())`,
	},

	// The fence.
	{
		"change.go", `		c.invalidate(key)
`,
		`		c.invalidate(key)
		if planted("invalidate the first of several keys") {
			break
		}
`,
	}, {
		"change.go", `	c.fence.raise(key)
	c.dropValue(key, always)
	c.dropAbsence(key, always)
	c.fence.raise(key)
`,
		`	if !planted("raise the fence once, after the change") {
		c.fence.raise(key)
	}
	dawdle()
	c.dropValue(key, always)
	c.dropAbsence(key, always)
	dawdle()
	if !planted("raise the fence once, before the change") {
		c.fence.raise(key)
	}
`,
	}, {
		"change.go", `	c.fence.raise(key)
	defer c.fence.raise(key)
`,
		`	if !planted("Set without the fence") {
		c.fence.raise(key)
		defer c.fence.raise(key)
	}
`,
	}, {
		"change.go", `	c.fence.raiseAll()
	c.clear()
`,
		`	if !planted("InvalidateAll without the fence") {
		c.fence.raiseAll()
	}
	c.clear()
`,
	}, {
		"change.go", `		c.opts.Guard.Add(c.guardPart(key))
		c.fence.raise(key)
		c.dropAbsence(key, always)
`,
		`		if !planted("do not tell the guard of what is created") {
			c.opts.Guard.Add(c.guardPart(key))
		}
		c.fence.raise(key)
		if !planted("let absences survive Created") {
			c.dropAbsence(key, always)
		}
`,
	}, {
		"publish.go", `	c.dropAbsence(key, pass.holds)
	c.values.Update(key, func(old *entry[V], ok bool) (*entry[V], memstore.Op) {
		if !pass.holds() {
`,
		`	c.dropAbsence(key, pass.holds)
	held := pass.holds()
	dawdle()
	c.values.Update(key, func(old *entry[V], ok bool) (*entry[V], memstore.Op) {
		if planted("ask the fence before the critical section") {
			if !held {
				return nil, memstore.Keep
			}
		} else if !planted("publish a value past the fence") && !pass.holds() {
`,
	}, {
		"publish.go", `		if !pass.holds() {
			return nil, memstore.Keep
		}
		published = true
		return a,`,
		`		if !planted("publish an absence past the fence") && !pass.holds() {
			return nil, memstore.Keep
		}
		published = true
		return a,`,
	}, {
		"flight.go", `	return flightID{key: f.key, epoch: f.pass.epoch, height: f.pass.height}
`,
		`	if planted("join across the fence") {
		return flightID{key: f.key}
	}
	return flightID{key: f.key, epoch: f.pass.epoch, height: f.pass.height}
`,
	},

	// Absences and errors.
	{
		"publish.go", `case absent(o.err):`,
		`case absent(o.err) || planted("take any error for an absence"):`,
	}, {
		"errors.go", `!errors.Is(err, errDependencyNotFound)`,
		`(planted("take a dependency's absence for the key's own") || !errors.Is(err, errDependencyNotFound))`,
	}, {
		"publish.go", `	published = false
`,
		`	if planted("let absences take the room of values") {
		c.values.Update("not "+key, func(*entry[V], bool) (*entry[V], memstore.Op) {
			return new(entry[V]), memstore.Put
		})
	}
	published = false
`,
	}, {
		"load.go", `	returned = true
`,
		`	returned = true
	if planted("swallow the loader's error") {
		o.err = nil
	}
`,
	}, {
		"load.go", `			o.err = &PanicError{Value: recover(), Stack: debug.Stack()}
`,
		`			o.err = &PanicError{Value: recover(), Stack: debug.Stack()}
			if planted("answer a panic with nothing") {
				o.err = nil
			}
`,
	},

	// Loads.
	{
		"publish.go", `	c.flights.land(f)
`,
		`	if o.err == nil || !planted("leave the readers of a failed load waiting") {
		c.flights.land(f)
	}
`,
	}, {
		"load.go", `	case <-ctx.Done():
`,
		`	case <-map[bool]<-chan struct{}{false: ctx.Done()}[planted("stay past the end of one's own context")]:
`,
	}, {
		"flight.go", `	if s.flight == nil {
`,
		`	if s.flight == nil || planted("let every reader lead a load") {
`,
	}, {
		"flight.go", `	patience := l.cache.opts.LoadTimeout
`,
		`	patience := l.cache.opts.LoadTimeout
	if planted("give the loader's context longer than the load") {
		patience *= 2
		defer func() { l.timer.Reset(patience / 2) }()
	}
`,
	}, {
		"flight.go", `context.WithoutCancel(l.asked)`,
		`map[bool]context.Context{false: context.WithoutCancel(l.asked), true: l.asked}[planted("give the load its leader's context")]`,
	}, {
		"load.go", `	l := c.newLoad(ctx, key, parent)
`,
		`	dawdle()
	l := c.newLoad(ctx, key, parent)
`,
	}, {
		"load.go", `	if c.lookAgain(&l.flight) {
`,
		`	again := c.lookAgain(&l.flight)
	dawdle()
	if again && !planted("do not look again") {
`,
	}, {
		"flight.go", `	l.timer = time.AfterFunc(patience, l.expire)
`,
		`	if planted("give the load twice its time") {
		patience *= 2
	}
	l.timer = time.AfterFunc(patience, l.expire)
`,
	}, {
		"load.go", `		l.cache.calls.abandon()
`,
		`		l.cache.calls.abandon()
		if planted("free the slot of an abandoned load") && l.slot {
			l.slot = false
			l.cache.gate.leave(&l.ticket)
		}
`,
	}, {
		"load.go", `	case s.asker != nil:
`,
		`	case s.asker != nil && !planted("have nested loads wait at the gate"):
`,
	}, {
		"load.go", `	l.call(&o)
`,
		`	if planted("leave a goroutine behind") {
		go func() { <-make(chan struct{}) }()
	}
	l.call(&o)
`,
	}, {
		"life.go", `	c.life.drain(c.opts.LoadTimeout)
`,
		`	if !planted("do not wait for loads in Close") {
		c.life.drain(c.opts.LoadTimeout)
	}
`,
	}, {
		"publish.go", `xfetch.Life(c.opts.TTL, c.jitter(), c.opts.Rand())
`,
		`xfetch.Life(c.opts.TTL, c.jitter(), c.opts.Rand())
	if planted("lengthen lives at random") {
		life += time.Duration(c.jitter() * c.opts.Rand() * float64(c.opts.TTL))
	}
`,
	},
}

// planting is what each edited package needs beside.
const planting = `
import (
	"math/rand/v2"
	"os"
	"runtime"
)

var plantedFault = os.Getenv("EARLYBIRD_PLANTED_FAULT")

func planted(fault string) bool { return fault == plantedFault }

func dawdle() {
	for range rand.IntN(20) {
		runtime.Gosched()
	}
}
`
