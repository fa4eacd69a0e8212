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
		"cache.go", `return past < 0 ||`,
		`return past < 0 || planted("serve what has expired") ||`,
	}, {
		"negative.go", `ok && now < n.expiry && n.alive(`,
		`ok && (planted("remember absences for ever") || now < n.expiry) && n.alive(`,
	}, {
		"cache.go", `e != nil && c.servable(e, now) {`,
		`e != nil && c.servable(e, now) && !(planted("refuse a hit to a context that has ended") && ctx.Err() != nil) {`,
	}, {
		"cache.go", `case !c.opts.Shapes.`,
		`case !planted("let any shape through") && !c.opts.Shapes.`,
	}, {
		"cache.go", `			a.State, how = Early, earlyHit
`,
		`			a.State, how = Early, earlyHit
			if planted("count an early refresh as a hit too") {
				c.tally.count(hit)
			}
`,
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
		"cache.go", `if c.draw(e, now) && e.elect(now, satAdd(now, c.leaseLife())) {`,
		`if c.draw(e, now) && e.elect(now, satAdd(now, c.leaseLife())) || planted("elect whoever draws well") &&
		xfetch.Due(time.Duration(e.expiry-now), e.scale(c.opts.Beta), c.opts.Rand()) {`,
	}, {
		"load.go", `	if len(l.flights) > 0 {
		c.launch(l)
	}
`,
		`	if len(l.flights) > 0 {
		c.launch(l)
	}
	if planted("wait for one's own refresh") {
		for _, f := range l.flights {
			<-f.landed
		}
	}
`,
	}, {
		"publish.go", `e.backOff(now, c.opts.Rand())`,
		`if planted("drop the value whose refresh failed") {
		c.dropValue(f.key, always)
	}
	if planted("do not back off") {
		e.spare()
		return
	}
	e.backOff(now, c.opts.Rand())`,
	},

	// The fence.
	{
		"change.go", `		c.invalidate(c.canon(key))
`,
		`		if planted("invalidate the spelling that is given") {
			c.invalidate(key)
			continue
		}
		c.invalidate(c.canon(key))
		if planted("invalidate the first of several keys") {
			break
		}
`,
	}, {
		"change.go", `	c.fence.raise(key)
	c.dropValue(key, always)
	c.dropNegative(key, always)
	c.fence.raise(key)
`,
		`	if !planted("raise the fence once, after the change") {
		c.fence.raise(key)
	}
	dawdle()
	c.dropValue(key, always)
	c.dropNegative(key, always)
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
`,
		`	if !planted("InvalidateAll without the fence") {
		c.fence.raiseAll()
	}
`,
	}, {
		"change.go", `		c.opts.Guard.Add(c.guardPart(key))
		c.fence.raise(key)
		c.dropNegative(key, always)
`,
		`		if !planted("do not tell the guard of what is created") {
			c.opts.Guard.Add(c.guardPart(key))
		}
		c.fence.raise(key)
		if !planted("let absences survive Created") {
			c.dropNegative(key, always)
		}
`,
	}, {
		"publish.go", `	c.dropNegative(f.key, f.pass.holds)
	c.values.Update(own(f.key), func(old *entry[V], ok bool) (*entry[V], memstore.Op) {
		if !f.pass.holds() {
`,
		`	c.dropNegative(f.key, f.pass.holds)
	held := f.pass.holds()
	dawdle()
	c.values.Update(own(f.key), func(old *entry[V], ok bool) (*entry[V], memstore.Op) {
		if planted("ask the fence before the critical section") {
			if !held {
				return nil, memstore.Keep
			}
		} else if !planted("publish a value past the fence") &&
			!(planted("renew a value past the fence") && f.unchanged) && !f.pass.holds() {
`,
	}, {
		"negative.go", `		if !pass.holds() {
`,
		`		if !planted("publish an absence past the fence") && !pass.holds() {
`,
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
		"negative.go", `	published = pass.holds()
`,
		`	if planted("let absences take the room of values") {
		c.values.Update("not "+key, func(*entry[V], bool) (*entry[V], memstore.Op) {
			return new(entry[V]), memstore.Put
		})
	}
	published = pass.holds()
`,
	}, {
		"call.go", `	o := f.brought
`,
		`	o := f.brought
	if planted("swallow the loader's error") {
		o.err, o.examined = nil, true
	}
`,
	}, {
		"call.go", `		o = outcome[V]{err: l.broken}
`,
		`		o = outcome[V]{err: l.broken}
		if planted("answer a panic with nothing") {
			o.err = nil
		}
`,
	},

	// Loads.
	{
		"call.go", `	c.flights.land(l.flights...)
`,
		`	if answered || !planted("leave the readers of a failed load waiting") {
		c.flights.land(l.flights...)
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
		"load.go", `	l := c.newLoad(ctx, errandOf(ctx))
`,
		`	dawdle()
	l := c.newLoad(ctx, errandOf(ctx))
`,
	}, {
		"load.go", `	if c.lookAgain(l) {
`,
		`	again := !planted("do not look again") && c.lookAgain(l)
	dawdle()
	if again {
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
		"call.go", `		c.settle(f, o)
`,
		`		c.settle(f, o)
		dawdle()
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
		"gate.go", `	if t.slot.users--; t.slot.users == 0 {
`,
		`	if t.slot.users--; t.slot.users == 0 || planted("free the slot that a nested load still runs in") && t.slot == &t.own {
		t.slot.users = 0
`,
	}, {
		"load.go", `	case s.asker != nil:
`,
		`	case s.asker != nil && !planted("have nested loads wait at the gate"):
`,
	}, {
		"call.go", `	guarded(&l.broken, l.ask)
`,
		`	if planted("leave a goroutine behind") {
		go func() { <-make(chan struct{}) }()
	}
	guarded(&l.broken, l.ask)
`,
	}, {
		"life.go", `	c.life.drain(c.opts.LoadTimeout)
`,
		`	if !planted("do not wait for loads in Close") {
		c.life.drain(c.opts.LoadTimeout)
	}
`,
	}, {
		"publish.go", `xfetch.Life(t.life, jitter, c.opts.Rand())
`,
		`xfetch.Life(t.life, jitter, c.opts.Rand())
	if planted("lengthen lives at random") {
		life += time.Duration(jitter * c.opts.Rand() * float64(t.life))
	}
`,
	},

	// What outlives its life.
	{
		"cache.go", `past < c.opts.StaleWhileRevalidate ||`,
		`past < c.opts.StaleWhileRevalidate || planted("serve stale values without a bound") && c.opts.StaleWhileRevalidate > 0 ||`,
	}, {
		"cache.go", `past < c.opts.StaleIfError && e.isBackingOff(now)`,
		`past < c.opts.StaleIfError && (planted("spare values though no load failed") || e.isBackingOff(now))`,
	}, {
		"publish.go", `		old.retire()
		return nil, memstore.Drop
`,
		`		if planted("make stale what is invalidated") {
			old.expiry = min(old.expiry, c.clock.now())
			old.quiet.Store(old.expiry)
			return nil, memstore.Keep
		}
		old.retire()
		return nil, memstore.Drop
`,
	},

	// Batches.
	{
		"call.go", `		case each != nil && each.Errors[f.key] != nil:
`,
		`		case each != nil && planted("fail a batch for one key's sake"):
			f.brought.err = err
		case each != nil && each.Errors[f.key] != nil:
`,
	}, {
		"call.go", `			f.brought.err = ErrNotFound
`,
		`			f.brought.err = ErrNotFound
			if planted("fail for a key that is left out") {
				f.brought.err = errors.New("no " + f.key)
			}
`,
	}, {
		"many.go", `			b.found[given] = c.out(e.value)
`,
		`			b.found[given] = c.out(e.value)
			if planted("share values through GetMany") {
				b.found[given] = e.value
			}
`,
	},

	// What the user says.
	{
		"call.go", `			t.life = min(life, c.opts.TTL)
`,
		`			t.life = min(life, c.opts.TTL)
			if planted("store what is not to be stored") && life < 0 {
				t.life = c.opts.TTL
			}
			if planted("let TTLFor exceed TTL") {
				t.life = life
			}
`,
	}, {
		"call.go", `			o.err = &InvalidError{Err: err}
`,
		`			if !planted("store invalid values") {
				o.err = &InvalidError{Err: err}
			}
`,
	}, {
		"negative.go", `		n.expiry = satAdd(now, int64(wait))
`,
		`		n.expiry = satAdd(now, int64(wait))
		if planted("remember for ever that a value was invalid") {
			n.expiry = satAdd(now, int64(time.Hour))
		}
`,
	}, {
		"call.go", `		o.value = l.cache.out(o.value)
`,
		`		if !planted("store the loader's own copy") {
			o.value = l.cache.out(o.value)
		}
`,
	}, {
		"pace.go", `	if !p.ramping(now) {
		return limit
	}
	done`,
		`	if !p.ramping(now) || planted("ignore the ramp") {
		return limit
	}
	done`,
	}, {
		"warm.go", `			if s.err == ErrOverloaded {
`,
		`			if s.err == ErrOverloaded && planted("pass over keys that the gate refused") {
			} else if s.err == ErrOverloaded {
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
