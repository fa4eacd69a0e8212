package earlybird_test

// What reads are answered with, and from where.
var readEdits = []edit{
	// What is served.
	{
		"cache.go", `return e.isFresh(now) ||`,
		`return e.isFresh(now) || planted("serve what has expired", "late") ||`,
	}, {
		"negative.go", `ok && now < n.expiry && n.alive(`,
		`ok && (planted("remember absences for ever", "late") || now < n.expiry) && n.alive(`,
	}, {
		"cache.go", `e != nil && c.servable(e, now) {`,
		`e != nil && c.servable(e, now) && !(planted("refuse a hit to a context that has ended", "late") && ctx.Err() != nil) {`,
	}, {
		"cache.go", `case !c.opts.Shapes.`,
		`case !planted("let any shape through", "late") && !c.opts.Shapes.`,
	}, {
		"cache.go", `			a.State, how = Early, earlyHit
`,
		`			a.State, how = Early, earlyHit
			if planted("count an early refresh as a hit too", "eager") {
				c.tally.count(hit)
			}
`,
	}, {
		"cache.go", `case c.life.isOver():`,
		`case !planted("ask the guard and the negatives after Close", "closing") && c.life.isOver():`,
	},

	// Early refresh.
	{
		"xfetch/draw.go", `return min(-math.Log(u), MaxDraw)`,
		`if planted("reverse the sign of the logarithm", "eager") {
		return math.Log(u)
	}
	return min(-math.Log(u), MaxDraw)`,
	}, {
		"cache.go", `if (due || e.isToRenew(now)) && e.elect(now, satAdd(now, c.leaseLife())) {`,
		`if due && e.elect(now, satAdd(now, c.leaseLife())) || planted("elect whoever draws well", "calm") &&
		e.aim(c.opts.Beta).Due(time.Duration(e.expiry-now), c.opts.Rand()) {`,
	}, {
		"load.go", `	if len(l.flights) > 0 {
		c.launch(l)
	}
`,
		`	if len(l.flights) > 0 {
		c.launch(l)
	}
	if planted("wait for one's own refresh", "eager") {
		for _, f := range l.flights {
			<-f.landed
		}
	}
`,
	}, {
		"publish.go", `e.backOff(o.at, c.opts.Rand())`,
		`if planted("drop the value whose refresh failed", "single") {
		c.dropValue(f.key, always)
	}
	if planted("do not back off", "spare") {
		e.spare()
		return
	}
	e.backOff(o.at, c.opts.Rand())`,
	},

	// What outlives its life.
	{
		"cache.go", `past < c.opts.StaleWhileRevalidate ||`,
		`past < c.opts.StaleWhileRevalidate && !planted("have readers wait for what is stale", "varied") || planted("serve stale values without a bound", "varied") && c.opts.StaleWhileRevalidate > 0 ||`,
	}, {
		"cache.go", `past < c.opts.StaleIfError && e.isBackingOff(now)`,
		`past < c.opts.StaleIfError && (planted("spare values though no load failed", "spare") || e.isBackingOff(now))`,
	}, {
		"publish.go", `		old.retire()
		return nil, memstore.Drop
`,
		`		if planted("make stale what is invalidated", "varied") {
			old.expiry = min(old.expiry, c.clock.now())
			old.quiet.Store(old.expiry)
			return nil, memstore.Keep
		}
		old.retire()
		return nil, memstore.Drop
`,
	},

	// Room.
	{
		"cache.go", `		e.retire()
		c.table.drop(key, e)
`,
		`		if planted("serve from the table what was evicted", "lasting") {
			return
		}
		e.retire()
		c.table.drop(key, e)
`,
	}, {
		"cache.go", `memstore.NewNotifying(c.opts.MaxEntries, bury)`,
		`memstore.NewNotifying(c.opts.MaxEntries*map[bool]int{false: 1, true: 2}[planted("hold twice MaxEntries", "tight")], bury)`,
	}, {
		"call.go", `	return uint32(min(max(c.opts.Weigh(key, v), 1), 1<<30))
`,
		`	w := uint32(min(max(c.opts.Weigh(key, v), 1), 1<<30))
	if planted("cut weights down to what fits", "weighed") {
		w = min(w, uint32(max(c.opts.MaxBytes, 0)))
	}
	if planted("weigh all values the same", "weighed") {
		w = 1
	}
	return w
`,
	},

	// How an answer was come by.
	{
		"answer.go", `	case s.led && !s.found:
`,
		`	case s.led && !s.found || planted("say of every wait that it led", "closing"):
`,
	}, {
		"publish.go", `nil, time.Duration(o.at-e.written)
`,
		`nil, time.Duration(o.at-e.written)
		if planted("forget the age of what stands in", "spare") {
			f.age = 0
		}
`,
	},
}
