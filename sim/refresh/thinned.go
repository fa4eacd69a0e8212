package refresh

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/earlybird-cache/earlybird/xfetch"
)

// thinned plays a key without playing its reads: it draws elections alone, from
// their hazard. All times are seconds left before the present entry's expiry.
type thinned struct {
	setup  *Setup
	clocks *clocks
	rng    *rand.Rand

	delta, claim, lag, aware float64

	aim    xfetch.Aim
	hazard hazard
	cost   xfetch.Cost // what loads are remembered to take
	ratio  float64     // mean elections when others know, by those at the first; for plain ones
	early  bool        // entries may be elected at birth
	plain  bool        // clocks are right and loads alike: when an election was does not matter
	varies bool        // each entry is aimed anew
	learns bool
	phase  float64 // of the step in which the entry was written
	dated  float64 // expiry on the store's clock, up to whole steps

	busy    []uint32 // by instance: the last expiry in which it loaded; nil if all may
	number  uint32   // of this expiry
	loads   []load   // of this expiry, if their costs matter
	replace float64  // when the first of them ends
	seen    float64  // when others know
}

// load is one that ends with left to go.
type load struct{ left, took float64 }

func newThinned(s *Setup, c *clocks, rng *rand.Rand) *thinned {
	p := &thinned{
		setup: s, clocks: c, rng: rng,
		delta: s.Delta.Seconds(), claim: s.claim().Seconds(), lag: s.Lag.Seconds(), aware: s.aware().Seconds(),
		cost: xfetch.Cost{Mean: s.stored()},
	}
	if s.Coordination == Singleflight {
		p.busy = make([]uint32, s.Instances)
	}
	p.plain = c.right() && s.Cost.Fixed()
	p.varies, p.learns = s.aimVaries(), s.learns()
	p.take(s.usual())
	p.early = p.varies || p.hazard.mean((s.shortestLife()-s.Lag).Seconds()) > 1e-12
	return p
}

// take aims the entry.
func (p *thinned) take(aim xfetch.Aim) {
	p.aim = aim
	p.hazard = newHazard(p.setup.Rate, aim, max(0, p.clocks.most))
	p.ratio = math.Exp(min(p.aware/p.hazard.scale, 700))
}

// next plays one entry from its birth until it is replaced.
func (p *thinned) next() expiry {
	ttl := p.setup.TTL
	if p.setup.Jitter > 0 {
		ttl = xfetch.Life(ttl, p.setup.Jitter, p.rng.Float64())
	}
	if p.varies {
		p.take(p.setup.aim(p.cost, ttl))
	}
	life := ttl.Seconds() - p.phase
	if p.clocks.step > 0 {
		p.dated = past(ttl.Seconds(), p.clocks.step)
	}
	v := 0.0
	if p.early {
		v = p.hazard.mean(life - p.lag)
	}
	e := p.stampede(v)
	e.life = life - p.replace
	e.late = p.replace-p.lag <= 0
	e.wait(p.setup, p.replace-p.lag, p.rng)
	if p.clocks.step > 0 {
		p.phase = past(p.dated-p.replace, p.clocks.step)
	}
	p.learn()
	return e
}

// stampede draws elections until they know of one another.
func (p *thinned) stampede(v float64) (e expiry) {
	p.number++
	p.loads = p.loads[:0]
	v, left, instance := p.election(v)
	p.first(&e, left, instance)
	if p.plain {
		p.crowd(&e, v)
		return e
	}
	for until := p.hazard.mean(p.seen); ; until = p.hazard.mean(p.seen) {
		if v, left, instance = p.election(v); v >= until {
			return e
		}
		if !p.joins(instance) {
			e.count(left > 0)
			p.start(left)
		}
	}
}

// crowd draws the elections after that at v, nobody asking when they were, but
// only whether before expiry.
func (p *thinned) crowd(e *expiry, v float64) {
	until := v * p.ratio
	if until > p.hazard.drawn {
		until = p.hazard.mean(p.seen)
	}
	for v += p.rng.ExpFloat64(); v < until; v += p.rng.ExpFloat64() {
		if p.busy == nil || !p.joins(p.rng.IntN(len(p.busy))) {
			e.count(v < p.hazard.expired)
		}
	}
}

// joins tells whether an instance has a load to join, and if not lets it have one.
func (p *thinned) joins(instance int) bool {
	if p.busy == nil {
		return false
	}
	had := p.busy[instance] == p.number
	p.busy[instance] = p.number
	return had
}

// first starts the expiry's first load.
func (p *thinned) first(e *expiry, left float64, instance int) {
	p.joins(instance)
	e.left = left
	e.count(left > 0)
	p.replace, p.seen = left-1e18, left-1e18
	if p.setup.Coordination == Lease {
		p.seen = left - p.aware
	}
	p.start(left)
}

// start lets a load begin. The first to end replaces the entry, and with that
// everybody knows.
func (p *thinned) start(left float64) {
	took := p.delta
	if !p.setup.Cost.Fixed() {
		took *= p.setup.Cost.Draw(p.rng)
		p.loads = append(p.loads, load{left - p.claim - took, took})
	}
	end := left - p.claim - took
	if end <= p.replace {
		return
	}
	p.replace = end
	p.seen = max(p.seen, end-p.lag)
}

// election is the next one after v. Where clocks are off, the hazard is that of
// one which is further ahead than all, and each election of it is put to the
// reader's own clock.
func (p *thinned) election(v float64) (at, left float64, instance int) {
	for {
		v += p.rng.ExpFloat64()
		left = p.hazard.left(v)
		if p.busy != nil || p.clocks.ahead != nil {
			instance = p.rng.IntN(p.setup.Instances)
		}
		if p.clocks.right() || p.agrees(left, instance) {
			return v, left, instance
		}
	}
}

func (p *thinned) agrees(left float64, instance int) bool {
	seen := p.clocks.seen(left, p.dated, instance)
	chance := p.aim.Probability(time.Duration(seen * float64(time.Second)))
	return p.rng.Float64()*p.hazard.density(left) < chance
}

// learn feeds every load's cost to the estimate, in the order in which they end.
func (p *thinned) learn() {
	if !p.learns {
		return
	}
	slices.SortFunc(p.loads, func(a, b load) int { return cmp.Compare(b.left, a.left) })
	for _, l := range p.loads {
		p.cost = p.setup.remember(p.cost, l.took)
	}
}

// remember is what an entry knows of costs after another load.
func (s *Setup) remember(c xfetch.Cost, took float64) xfetch.Cost {
	next := c.After(time.Duration(took * float64(time.Second)))
	if s.Estimator == Last {
		next.Mean = time.Duration(took * float64(time.Second))
	}
	return next
}
