package earlybird_test

// Changes, and what the user says of keys and values.
var changeEdits = []edit{
	// The fence.
	{
		"change.go", `	return c.invalidate(ctx, c.canons(keys)...)
`,
		`	if planted("invalidate the spelling that is given", "batches") {
		return c.invalidate(ctx, keys...)
	}
	if planted("invalidate the first of several keys", "late") {
		return c.invalidate(ctx, c.canons(keys[:min(len(keys), 1)])...)
	}
	return c.invalidate(ctx, c.canons(keys)...)
`,
	}, {
		"change.go", `		c.fence.raise(key)
		c.drop(key)
	}
`,
		`		if !planted("raise the fence once, after the change", "lasting") {
			c.fence.raise(key)
		}
		dawdle()
		c.drop(key)
		dawdle()
	}
`,
	}, {
		"change.go", `	err = c.tier.invalidate(ctx, keys)
	for _, key := range keys {
`,
		`	err = c.tier.invalidate(ctx, keys)
	for _, key := range keys {
		if planted("raise the fence once, before the change", "fleeting") {
			break
		}
`,
	}, {
		"change.go", `	c.fence.raise(key)
	e := c.putSet(key, v, t)
	c.episodes.end(key)
	err := c.tier.set(ctx, key, e, c.spareLife())
	c.fence.raise(key)
`,
		`	fenced := !planted("Set without the fence", "late")
	if fenced {
		c.fence.raise(key)
	}
	e := c.putSet(key, v, t)
	c.episodes.end(key)
	err := c.tier.set(ctx, key, e, c.spareLife())
	if fenced {
		c.fence.raise(key)
	}
`,
	}, {
		"change.go", `	c.fence.raiseAll()
	c.gate.ramp()
`,
		`	if !planted("InvalidateAll without the fence", "batches") {
		c.fence.raiseAll()
	}
	c.gate.ramp()
`,
	}, {
		"change.go", `	c.table.clear()
`,
		`	c.table.clear()
	dawdle()
`,
	}, {
		"change.go", `		c.introduce(key)
		c.dropAbsence(key)
`,
		`		if planted("tell the guard of whole keys", "guarded") {
			c.opts.Guard.Add(key)
		} else if !planted("do not tell the guard of what is created", "guarded") {
			c.introduce(key)
		}
		if planted("let absences survive Created", "single") {
			c.fence.raise(key)
			c.fence.raise(key)
			continue
		}
		c.dropAbsence(key)
`,
	}, {
		"publish.go", `	c.values.Update(own(f.key), func(old *entry[V], ok bool) (*entry[V], memstore.Op) {
		if !f.pass.holds() {
`,
		`	held := f.pass.holds()
	dawdle()
	c.values.Update(own(f.key), func(old *entry[V], ok bool) (*entry[V], memstore.Op) {
		if planted("ask the fence before the critical section", "lasting") {
			if !held {
				return nil, memstore.Keep
			}
		} else if !planted("publish a value past the fence", "closing") &&
			!(planted("renew a value past the fence", "renewing") && f.unchanged) && !f.pass.holds() {
`,
	}, {
		"negative.go", `		if !pass.holds() {
`,
		`		if !planted("publish an absence past the fence", "single") && !pass.holds() {
`,
	}, {
		"flight.go", `	return flightID{key: f.key, epoch: f.pass.epoch, height: f.pass.height, apart: f.apart}
`,
		`	if planted("join across the fence", "plain") {
		return flightID{key: f.key}
	}
	return flightID{key: f.key, epoch: f.pass.epoch, height: f.pass.height, apart: f.apart}
`,
	},

	// Absences and errors.
	{
		"publish.go", `case absent(o.err):`,
		`case absent(o.err) || planted("take any error for an absence", "closing"):`,
	}, {
		"errors.go", `!errors.Is(err, errDependencyNotFound)`,
		`(planted("take a dependency's absence for the key's own", "tangled") || !errors.Is(err, errDependencyNotFound))`,
	}, {
		"negative.go", `	published = f.pass.holds()
`,
		`	if planted("let absences take the room of values", "flood") {
		c.values.Update("not "+f.key, func(*entry[V], bool) (*entry[V], memstore.Op) {
			return new(entry[V]), memstore.Put
		})
	}
	published = f.pass.holds()
`,
	}, {
		"call.go", `	o := f.brought
`,
		`	o := f.brought
	if planted("swallow the loader's error", "closing") {
		o.err, o.examined = nil, true
	}
`,
	}, {
		"call.go", `		o = outcome[V]{err: l.broken}
`,
		`		o = outcome[V]{err: l.broken}
		if planted("answer a panic with nothing", "plain") {
			o.err = nil
		}
`,
	},

	// What the user says.
	{
		"call.go", `			t.life = min(life, c.opts.TTL)
`,
		`			t.life = min(life, c.opts.TTL)
			if planted("store what is not to be stored", "varied") && life < 0 {
				t.life = c.opts.TTL
			}
			if planted("let TTLFor exceed TTL", "varied") {
				t.life = life
			}
`,
	}, {
		"call.go", `			o.err = &InvalidError{Err: err}
`,
		`			if !planted("store invalid values", "varied") {
				o.err = &InvalidError{Err: err}
			}
`,
	}, {
		"negative.go", `		n.expiry = satAdd(now, int64(wait))
`,
		`		n.expiry = satAdd(now, int64(wait))
		if planted("remember for ever that a value was invalid", "varied") {
			n.expiry = satAdd(now, int64(time.Hour))
		}
`,
	}, {
		"call.go", `		o.value = l.cache.out(o.value)
`,
		`		if !planted("store the loader's own copy", "spare") {
			o.value = l.cache.out(o.value)
		}
`,
	}, {
		"change.go", `	v = c.out(v)
`,
		`	if !planted("keep the copy that Set was given", "spare") {
		v = c.out(v)
	}
`,
	}, {
		"call.go", `l.cache.out(old.value))
`,
		`map[bool]V{false: l.cache.out(old.value), true: old.value}[planted("give Revalidate the value itself", "renewing")])
`,
	}, {
		"call.go", `old := l.cache.alive(f.key); old != nil {`,
		`old := l.cache.alive(f.key); old != nil && !(planted("revalidate only what is fresh", "renewing") && l.since >= old.expiry) {`,
	}, {
		"answer.go", `	return Result[V]{Value: c.out(s.value), State: state, Age: s.age}, nil
`,
		`	if planted("share values among those who waited", "spare") {
		return Result[V]{Value: s.value, State: state, Age: s.age}, nil
	}
	return Result[V]{Value: c.out(s.value), State: state, Age: s.age}, nil
`,
	}, {
		"cache.go", `c.fresh(c.canon(key), now)`,
		`c.fresh(map[bool]string{false: c.canon(key), true: key}[planted("peek at the spelling that is given", "tangled")], now)`,
	}, {
		"negative.go", `	c.dropValue(f.key, f.pass.holds)
`,
		`	if !planted("leave the value of what is gone", "stale") {
		c.dropValue(f.key, f.pass.holds)
	}
`,
	}, {
		"publish.go", `o.err != ErrClosed && c.isConfirmed(f, e) {
			f.value`,
		`o.err != ErrClosed && c.isConfirmed(f, e) &&
		!(planted("spare nothing when a load times out", "spare") && o.err == ErrLoadTimeout) && !planted("spare nothing", "spare") {
			f.value`,
	}, {
		"change.go", `		if again := c.Created(ctx, keys...); err == nil {
`,
		`		if planted("do not call Created after the commit", "single") {
			return
		}
		if again := c.Created(ctx, keys...); err == nil {
`,
	}, {
		"change.go", `	defer c.life.end()
	c.introduce(key)
`,
		`	defer c.life.end()
	if !planted("do not tell the guard of what is set", "guarded") {
		c.introduce(key)
	}
`,
	},
}
