package earlybird_test

// What caches that share a tier tell it, and believe of it.
var tierEdits = []edit{
	// What is taken into memory.
	{
		"adopt.go", `		if !f.pass.holds() {
			return nil, memstore.Keep
		}
		if old.generation() > r.Generation && old.alive(f.pass.epoch) {
`,
		`		if !f.pass.holds() && !planted("adopt past the fence", "brisk") {
			return nil, memstore.Keep
		}
		if old.generation() > r.Generation && old.alive(f.pass.epoch) && !planted("adopt an older generation", "failover") {
`,
	}, {
		"adopt.go", `	e.written = satAdd(now, -int64(max(r.Life-r.Left, 0)))
	e.expiry = min(satAdd(now, int64(r.Left)), satAdd(e.written, int64(c.opts.TTL)))
`,
		`	e.written = satAdd(now, -int64(max(r.Life-r.Left, 0)))
	if planted("take what is adopted for new", "fleet") {
		e.written = now
	}
	e.expiry = min(satAdd(now, int64(r.Left)), satAdd(e.written, int64(c.opts.TTL)))
	if planted("give what is adopted a whole life", "fleet") {
		e.expiry = satAdd(now, int64(c.opts.TTL))
	}
`,
	}, {
		"adopt.go", `	if c.dropOlder(f, r.Generation) {
`,
		`	if !planted("renew copies that are void", "fleet") && c.dropOlder(f, r.Generation) {
`,
	}, {
		"sharing.go", `	return s == nil || now < s.due.Load()
`,
		`	return s == nil || planted("believe the tier for ever", "fleet") || now < s.due.Load()
`,
	}, {
		"cache.go", `e.isBelieved(now) && c.outlives(e, now)`,
		`(e.isBelieved(now) || planted("serve what has expired without asking", "outlived")) && c.outlives(e, now)`,
	}, {
		"adopt.go", `	if e.isBelieved(c.clock.now()) {
`,
		`	if planted("let stand in what is out of date", "standing") || e.isBelieved(c.clock.now()) {
`,
	}, {
		"flight.go", `	return s.behind &&`,
		`	return !planted("answer late joiners", "brisk") && s.behind &&`,
	},

	// What is published.
	{
		"offer.go", `	if f.lease == nil {
		c.shareUnleased(f, e)
		return true, true
	}
	sent`,
		`	if f.lease == nil && planted("publish at one's own leave", "fleet") {
		_, _ = c.tier.store.Set(context.Background(), f.key, store.Record[V]{Kind: store.Value, Value: e.value, Life: c.opts.TTL})
	}
	if f.lease == nil {
		c.shareUnleased(f, e)
		return true, true
	}
	sent`,
	}, {
		"offer.go", `		e.share(0, f.load.since, c.nearLife(false))
`,
		`		e.share(0, f.load.since, c.nearLife(false))
		if planted("believe what nobody gave leave for from its load's end", "cooling") {
			e.share(0, e.written, c.nearLife(false))
		}
`,
	}, {
		"offer.go", `	case err == store.ErrLost:
		return false, false
`,
		`	case err == store.ErrLost && planted("keep what the tier has refused", "fleet"):
		e.share(g, sent, c.nearLife(false))
		return true, true
	case err == store.ErrLost:
		return false, false
`,
	}, {
		"offer.go", `		Delta: c.costAfter(c.alive(f.key), cost),
`,
		`		Delta: map[bool]time.Duration{false: c.costAfter(c.alive(f.key), cost)}[planted("do not tell what a load costs", "due")],
`,
	}, {
		"offer.go", `		if err == store.ErrLost {
			return at, false
`,
		`		if err == store.ErrLost && !planted("remember an absence that the tier has refused", "fleet") {
			return at, false
`,
	}, {
		"offer.go", `		f.behind, since = true, f.load.since // as in shareUnleased
`,
		`		f.behind, since = true, f.load.since // as in shareUnleased
		if planted("believe an absence that nobody gave leave for from its load's end", "brisk") {
			since = at
		}
`,
	}, {
		"offer.go", `	e.sharing().generation.Store(uint64(g))
	if err`,
		`	if !planted("do not note the generation of what is set", "fleet") {
		e.sharing().generation.Store(uint64(g))
	}
	if err`,
	}, {
		"offer.go", `		f.lease, f.behind, err = nil, true, store.ErrLost
		c.tier.lost.Add(1)
`,
		`		f.lease, f.behind, err = nil, true, store.ErrLost
		if !planted("do not count what is lost", "fleet") {
			c.tier.lost.Add(1)
		}
`,
	},

	// Leave to load.
	{
		"publish.go", `	if f.lease != nil {
		c.tier.fail(`,
		`	if f.lease != nil && !planted("keep the leave to load what has failed", "fleet") {
		c.tier.fail(`,
	}, {
		"offer.go", `	if o.err == nil || o.err == ErrClosed`,
		`	if planted("let everybody try at once what has failed", "cooling") || o.err == nil || o.err == ErrClosed`,
	}, {
		"consult.go", `	return l.acquireInTime()
`,
		`	if planted("load without leave", "fleet") {
		return true
	}
	return l.acquireInTime()
`,
	}, {
		"consult.go", `		over, _ := l.acquire(false)
		return !over
`,
		`		if planted("refresh without leave", "due") {
			return true
		}
		over, _ := l.acquire(false)
		return !over
`,
	}, {
		"consult.go", `context.WithTimeout(t.open, max(t.wait, 0))`,
		`context.WithTimeout(t.open, max(t.wait, map[bool]time.Duration{true: time.Hour}[planted("wait for another cache without a bound", "lossy")]))`,
	}, {
		"consult.go", `		case coolings > mostCoolings:
`,
		`		case coolings > mostCoolings, planted("take a load under way for one that has failed", "fleet"):
`,
	}, {
		"consult.go", `	pause := max(time.Duration(f.held.delta.Load())/2, 10*time.Millisecond)
`,
		`	pause := max(time.Duration(f.held.delta.Load())/2, 10*time.Millisecond)
	if planted("hold a refresh off for ever that another cache is at", "due") {
		f.held.holdOff(1<<63 - 1)
		return
	}
`,
	},

	// Changes.
	{
		"change.go", `		if c.tier != nil {
			c.drop(key)
		}
`,
		`		if c.tier != nil && !planted("forget once, before the tier does", "fleet") {
			c.drop(key)
		}
`,
	}, {
		"offer.go", `	if t == nil || len(keys) == 0 {
`,
		`	if t == nil || len(keys) == 0 || planted("keep a change from the tier", "fleet") {
`,
	},

	// Outages.
	{
		"negative.go", `		(n.outage == 0 || c.tier.isIn(n.outage)) {
`,
		`		(n.outage == 0 || planted("trust absences that an outage left behind", "asking") || c.tier.isIn(n.outage)) {
`,
	}, {
		"offer.go", `	e.expiry = min(e.expiry, satAdd(e.written, int64(outageLife)))
`,
		`	if !planted("keep what was loaded without the tier for its whole life", "outage") {
		e.expiry = min(e.expiry, satAdd(e.written, int64(outageLife)))
	}
`,
	}, {
		"adopt.go", `a.lands || c.opts.Outage == Origin {
`,
		`a.lands && !planted("forget what lives when the tier is down", "failing") || c.opts.Outage == Origin || planted("ask the origin whatever is to be done without the tier", "failing") {
`,
	}, {
		"adopt.go", `c.opts.Outage == StaleOnly && e != nil`,
		`c.opts.Outage == StaleOnly && !planted("serve nothing stale without the tier", "staleonly") && e != nil`,
	},
}
