package main

var setRow = row{
	name: "set", base: "earlybird", columns: speed(faster("earlybird", cost)),
	subjects: []subject{
		timed("earlybird", replaces(newEarlybird)),
		timed("otter", replaces(newOtter)),
		timed("theine", replaces(newTheine)),
		timed("sturdyc", replaces(newSturdyc)),
		timed("ristretto", replaces(newRistretto)),
		timed("hot-lru", replaces(newHotLRU)),
	},
}

var setNewRow = row{
	name: "set-new", base: "earlybird", columns: speed(faster("earlybird", cost)),
	subjects: []subject{
		timed("earlybird", adds(newEarlybird)),
		timed("otter", adds(newOtter)),
		timed("theine", adds(newTheine)),
		timed("sturdyc", adds(newSturdyc)),
		timed("ristretto", adds(newRistretto)),
		timed("hot-lru", adds(newHotLRU)),
	},
}

// replaces opens a trial of new values for popular keys that a full cache holds.
func replaces(make kind) opener {
	return func(w *workload) (*trial, error) {
		o := w.origin()
		c, err := make(setup{room: w.products, origin: o})
		if err != nil {
			return nil, err
		}
		if err := c.stock(w.products, o.value); err != nil {
			c.end()
			return nil, err
		}
		return c.setting(w.popular(), o), nil
	}
}

// adds opens a trial of values for keys never seen before, each of which pushes
// another out of a cache with a tenth of the usual room.
func adds(make kind) opener {
	return func(w *workload) (*trial, error) {
		o, room := w.origin(), max(w.products/10, 1)
		c, err := make(setup{room: room, origin: o})
		if err != nil {
			return nil, err
		}
		t := c.setting(w.distinct(), o)
		for r := t.keys.reader(); room > 0; room-- {
			t.do(r.next())
		}
		c.settled()
		return t, nil
	}
}

// setting is a trial of sets. None of them may ask the origin.
func (c *cache) setting(keys stream, o *origin) *trial {
	return &trial{
		keys:  keys,
		do:    func(key string) (string, bool) { return "", c.set(key, o.value(key)) },
		count: o.keys.Load,
		close: c.close,
	}
}
