package earlybird_test

// Loads, and who may start one when.
var loadEdits = []edit{
	// Loads.
	{
		"call.go", `	c.flights.land(l)
`,
		`	if answered || !planted("leave the readers of a failed load waiting", "closing") {
		c.flights.land(l)
	}
`,
	}, {
		"load.go", `	case <-ctx.Done():
`,
		`	case <-map[bool]<-chan struct{}{false: ctx.Done()}[planted("stay past the end of one's own context", "closing")]:
`,
	}, {
		"flight.go", `	if s.flight == nil {
`,
		`	if s.flight == nil || planted("let every reader lead a load", "closing") {
`,
	}, {
		"flight.go", `	l.ctx.deadline = at
`,
		`	l.ctx.deadline = at
	if planted("give the loader's context longer than the load", "closing") {
		l.ctx.deadline = at.Add(l.cache.opts.LoadTimeout)
	}
`,
	}, {
		"flight.go", `	l.started = true
`,
		`	l.started = true
	if planted("give the load its leader's context", "closing") {
		context.AfterFunc(l.asked, func() { l.ctx.end(context.Canceled) })
	}
`,
	}, {
		"load.go", `	l := c.newLoad(ctx, errandOf(ctx))
`,
		`	dawdle()
	l := c.newLoad(ctx, errandOf(ctx))
`,
	}, {
		"load.go", `	if c.lookAgain(l) {
`,
		`	again := !planted("do not look again", "widening") && c.lookAgain(l)
	dawdle()
	if again {
`,
	}, {
		"flight.go", `	fs.timeouts.add(l, at, fs.expire)
`,
		`	if planted("give the load twice its time", "spare") {
		at = at.Add(l.cache.opts.LoadTimeout)
	}
	fs.timeouts.add(l, at, fs.expire)
`,
	}, {
		"call.go", `		settle(f, o)
`,
		`		settle(f, o)
		dawdle()
`,
	}, {
		"load.go", `	l.cache.calls.abandon()
`,
		`	l.cache.calls.abandon()
	if planted("free the slot of an abandoned load", "tangled") && l.slot {
		l.slot = false
		l.cache.gate.leave(&l.ticket)
	}
`,
	}, {
		"gate.go", `	if t.slot.users--; t.slot.users == 0 {
`,
		`	if t.slot.users--; t.slot.users == 0 || planted("free the slot that a nested load still runs in", "nested") && t.slot == &t.own {
		t.slot.users = 0
`,
	}, {
		"load.go", `	case s.asker != nil:
`,
		`	case s.asker != nil && !planted("have nested loads wait at the gate", "nested"):
`,
	}, {
		"call.go", `	guarded(&l.broken, l.ask)
`,
		`	if planted("leave a goroutine behind", "closing") {
		go func() { <-make(chan struct{}) }()
	}
	guarded(&l.broken, l.ask)
`,
	}, {
		"life.go", `	c.life.drain(c.opts.LoadTimeout)
`,
		`	if !planted("do not wait for loads in Close", "closing") {
		c.life.drain(c.opts.LoadTimeout)
	}
`,
	}, {
		"publish.go", `xfetch.Life(t.life, jitter, c.opts.Rand())
`,
		`xfetch.Life(t.life, jitter, c.opts.Rand())
	if planted("lengthen lives at random", "stale") {
		life += time.Duration(jitter * c.opts.Rand() * float64(t.life))
	}
`,
	},

	// Loads inside loads.
	{
		"flight.go", `		if s.load.awaits(by) {
`,
		`		if !planted("let loads wait for one another in a circle", "knotted") && s.load.awaits(by) {
`,
	}, {
		"many.go", `			l := c.newLoad(ctx, errandOf(ctx))
`,
		`			l := c.newLoad(ctx, errandOf(ctx))
			if planted("forget whose loader asks for a batch", "tangled") {
				l.parent = nil
			}
`,
	}, {
		"call.go", `errors.As(err, &each) && each.nested {`,
		`errors.As(err, &each) && each.nested && !planted("take another batch's keys for the batch's own", "tangled") {`,
	},

	// Batches.
	{
		"call.go", `		case each != nil && each.Errors[f.key] != nil:
`,
		`		case each != nil && planted("fail a batch for one key's sake", "batches"):
			f.brought.err = err
		case each != nil && each.Errors[f.key] != nil:
`,
	}, {
		"call.go", `			f.brought.err = ErrNotFound
`,
		`			f.brought.err = ErrNotFound
			if planted("fail for a key that is left out", "batches") {
				f.brought.err = errors.New("no " + f.key)
			}
`,
	}, {
		"many.go", `			b.found[given] = c.out(e.value)
`,
		`			b.found[given] = c.out(e.value)
			if planted("share values through GetMany", "busy") {
				b.found[given] = e.value
			}
`,
	},

	{
		"call.go", `		case ok:
			f.brought.value = v
`,
		`		case ok && !(err != nil && planted("drop the values that come with an error", "batches")):
			f.brought.value = v
`,
	}, {
		"call.go", `case each == nil && err != nil:`,
		`case each == nil && err != nil && !planted("take for absent what an error leaves out", "batches"):`,
	},

	// The gate's order and pace.
	{
		"gate.go", `	share := max(1, limit*shares[p]/10)
`,
		`	if planted("give a warm-up every slot", "widening") {
		shares[warming] = 10
	}
	if planted("give refreshes every slot", "behind") {
		shares[background] = 10
	}
	share := max(1, limit*shares[p]/10)
`,
	}, {
		"gate.go", `	for q := range p + 1 {
`,
		`	for q := range p + 1 {
		if q < p && planted("let a refresh overtake those who wait", "widening") {
			continue
		}
`,
	}, {
		"gate.go", `case g.waiting >= 8*g.limit && !g.pace.ramping(now):`,
		`case g.waiting >= 8*g.limit && (!g.pace.ramping(now) || planted("shed while the ramp lasts", "ramped")):`,
	}, {
		"gate.go", `	if d := g.pace.next(now); d > 0 {
`,
		`	if d := g.pace.next(now); d > 0 && !planted("do not wake for the rate", "paced") {
`,
	}, {
		"change.go", `	c.gate.ramp()
`,
		`	if !planted("do not ramp after InvalidateAll", "ramped") {
		c.gate.ramp()
	}
`,
	}, {
		"pace.go", `return p.limiter == nil ||`,
		`return p.limiter == nil || planted("load at any rate", "paced") ||`,
	}, {
		"pace.go", `	if !p.ramping(now) {
		return limit
	}
	done`,
		`	if !p.ramping(now) || planted("ignore the ramp", "ramped") {
		return limit
	}
	done`,
	},

	// Warm-ups.
	{
		"warm.go", `			if s.err == ErrOverloaded || s.again {
`,
		`			if s.err == ErrOverloaded && planted("pass over keys that the gate refused", "tangled") {
			} else if s.err == ErrOverloaded || s.again {
`,
	}, {
		"warm.go", `l.warm, l.ticket.priority = true, warming
`,
		`l.warm, l.ticket.priority = true, warming
	if planted("put a warm-up first in line", "ramped") {
		l.ticket.priority = urgent
	}
`,
	}, {
		"warm.go", `	if err := g.Wait(); err != nil {
`,
		`	if err := g.Wait(); err != nil {
		if planted("count keys as seen that were not loaded", "nested") {
			w.done.Seen += len(chunk)
		}
`,
	}, {
		"warm.go", `cmp.Or(s.err, s.cause)`,
		`cmp.Or(s.err, map[bool]error{false: s.cause}[planted("hide from a warm-up what was made up for", "spare")])`,
	}, {
		"warm.go", `append(chunk, c.canon(key))`,
		`append(chunk, map[bool]string{false: c.canon(key), true: key}[planted("warm the spelling that is given", "batches")])`,
	},
}
