package earlybird

// What a hit does besides being served.

// hit counts a hit of key. One in some does for the others what need not be done
// each time.
func (c *Cache[V]) hit(key string, e *entry[V]) {
	s := c.tally.stripe()
	if !isSample(s.reads[hit].Add(1)) {
		return
	}
	now := c.clock.now()
	s.age(now - e.written)
	c.opts.HotKeys.Sample(key, sampled)
	c.hot.mind(now)
	c.bringUpToDate(now)
}

// hits counts n hits at once.
func (c *Cache[V]) hits(n int) {
	if n == 0 {
		return
	}
	after := c.tally.stripe().reads[hit].Add(uint64(n))
	if after/sampled != (after-uint64(n))/sampled {
		c.bringUpToDate(c.clock.now())
	}
}

func (c *Cache[V]) bringUpToDate(now int64) {
	if !c.clock.coarse.help(now) && c.clock.coarse.claim() {
		c.keepTime()
	}
}

// keepTime starts the ticker of the published clock.
func (c *Cache[V]) keepTime() {
	if !c.life.begin() {
		c.clock.coarse.running.Store(false)
		return
	}
	go func() {
		defer c.life.end()
		c.clock.coarse.keep(c.clock.now, c.tally.hits, c.life.closing)
	}()
}
