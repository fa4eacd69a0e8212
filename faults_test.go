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
		`		if planted("tell the guard of whole keys") {
			c.opts.Guard.Add(key)
		} else if !planted("do not tell the guard of what is created") {
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
		`past < c.opts.StaleWhileRevalidate && !planted("have readers wait for what is stale") || planted("serve stale values without a bound") && c.opts.StaleWhileRevalidate > 0 ||`,
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

	{
		"call.go", `		case ok:
			f.brought.value = v
`,
		`		case ok && !(err != nil && planted("drop the values that come with an error")):
			f.brought.value = v
`,
	}, {
		"call.go", `case each == nil && err != nil:`,
		`case each == nil && err != nil && !planted("take for absent what an error leaves out"):`,
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
		"change.go", `	v = c.out(v)
`,
		`	if !planted("keep the copy that Set was given") {
		v = c.out(v)
	}
`,
	}, {
		"call.go", `l.cache.out(old.value))
`,
		`map[bool]V{false: l.cache.out(old.value), true: old.value}[planted("give Revalidate the value itself")])
`,
	}, {
		"call.go", `old != nil && opts.Revalidate != nil {`,
		`old != nil && opts.Revalidate != nil && !(planted("revalidate only what is fresh") && l.since >= old.expiry) {`,
	}, {
		"cache.go", `	return Result[V]{Value: c.out(s.value), State: state, Age: s.age}, nil
`,
		`	if planted("share values among those who waited") {
		return Result[V]{Value: s.value, State: state, Age: s.age}, nil
	}
	return Result[V]{Value: c.out(s.value), State: state, Age: s.age}, nil
`,
	}, {
		"cache.go", `c.fresh(c.canon(key), now)`,
		`c.fresh(map[bool]string{false: c.canon(key), true: key}[planted("peek at the spelling that is given")], now)`,
	}, {
		"publish.go", `		c.dropValue(f.key, f.pass.holds)
`,
		`		if !planted("leave the old value when the new one is not to be stored") {
			c.dropValue(f.key, f.pass.holds)
		}
`,
	}, {
		"negative.go", `	c.dropValue(key, pass.holds)
`,
		`	if !planted("leave the value of what is gone") {
		c.dropValue(key, pass.holds)
	}
`,
	}, {
		"publish.go", `o.err != ErrClosed {
		f.value`,
		`o.err != ErrClosed &&
		!(planted("spare nothing when a load times out") && o.err == ErrLoadTimeout) && !planted("spare nothing") {
		f.value`,
	}, {
		"change.go", `		if again := c.Created(ctx, keys...); err == nil {
`,
		`		if planted("do not call Created after the commit") {
			return
		}
		if again := c.Created(ctx, keys...); err == nil {
`,
	}, {
		"change.go", `	defer c.life.end()
	c.opts.Guard.Add(c.guardPart(key))
`,
		`	defer c.life.end()
	if !planted("do not tell the guard of what is set") {
		c.opts.Guard.Add(c.guardPart(key))
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
	}, {
		"warm.go", `l.warm, l.ticket.priority = true, warming
`,
		`l.warm, l.ticket.priority = true, warming
	if planted("put a warm-up first in line") {
		l.ticket.priority = urgent
	}
`,
	}, {
		"warm.go", `	if err := g.Wait(); err != nil {
`,
		`	if err := g.Wait(); err != nil {
		if planted("count keys as seen that were not loaded") {
			w.done.Seen += len(chunk)
		}
`,
	}, {
		"warm.go", `cmp.Or(s.err, s.cause)`,
		`cmp.Or(s.err, map[bool]error{false: s.cause}[planted("hide from a warm-up what was made up for")])`,
	}, {
		"warm.go", `append(chunk, c.canon(key))`,
		`append(chunk, map[bool]string{false: c.canon(key), true: key}[planted("warm the spelling that is given")])`,
	},

	// The gate's order and pace.
	{
		"gate.go", `	share := max(1, limit*shares[p]/10)
`,
		`	if planted("give a warm-up every slot") {
		shares[warming] = 10
	}
	if planted("give refreshes every slot") {
		shares[background] = 10
	}
	share := max(1, limit*shares[p]/10)
`,
	}, {
		"gate.go", `	for q := range p + 1 {
`,
		`	for q := range p + 1 {
		if q < p && planted("let a refresh overtake those who wait") {
			continue
		}
`,
	}, {
		"gate.go", `case g.waiting >= 8*g.limit && !g.pace.ramping(now):`,
		`case g.waiting >= 8*g.limit && (!g.pace.ramping(now) || planted("shed while the ramp lasts")):`,
	}, {
		"gate.go", `	if d := g.pace.next(now); d > 0 {
`,
		`	if d := g.pace.next(now); d > 0 && !planted("do not wake for the rate") {
`,
	}, {
		"change.go", `	c.gate.ramp()
`,
		`	if !planted("do not ramp after InvalidateAll") {
		c.gate.ramp()
	}
`,
	}, {
		"pace.go", `return p.limiter == nil ||`,
		`return p.limiter == nil || planted("load at any rate") ||`,
	},

	// Loads inside loads.
	{
		"flight.go", `		if s.load.awaits(by) {
`,
		`		if s.load.awaits(by) && !planted("let loads wait for one another in a circle") {
`,
	}, {
		"many.go", `			l := c.newLoad(ctx, errandOf(ctx))
`,
		`			l := c.newLoad(ctx, errandOf(ctx))
			if planted("forget whose loader asks for a batch") {
				l.parent = nil
			}
`,
	}, {
		"call.go", `errors.As(err, &each) && each.nested {`,
		`errors.As(err, &each) && each.nested && !planted("take another batch's keys for the batch's own") {`,
	},

	// Room.
	{
		"cache.go", `		e.retire()
		c.table.drop(e)
`,
		`		if planted("serve from the table what was evicted") {
			return
		}
		e.retire()
		c.table.drop(e)
`,
	}, {
		"cache.go", `memstore.NewNotifying(c.opts.MaxEntries, bury)`,
		`memstore.NewNotifying(c.opts.MaxEntries*map[bool]int{false: 1, true: 2}[planted("hold twice MaxEntries")], bury)`,
	}, {
		"call.go", `		t.weight = uint32(min(max(c.opts.Weigh(key, v), 1), 1<<30))
`,
		`		t.weight = uint32(min(max(c.opts.Weigh(key, v), 1), 1<<30))
		if planted("cut weights down to what fits") {
			t.weight = min(t.weight, uint32(max(c.opts.MaxBytes, 0)))
		}
		if planted("weigh all values the same") {
			t.weight = 1
		}
`,
	},

	// How an answer was come by.
	{
		"cache.go", `	case s.led && !s.found:
`,
		`	case s.led && !s.found || planted("say of every wait that it led"):
`,
	}, {
		"publish.go", `nil, time.Duration(now-e.written)
`,
		`nil, time.Duration(now-e.written)
		if planted("forget the age of what stands in") {
			f.age = 0
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
