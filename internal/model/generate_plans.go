package model

import "time"

// plans has behaviours for each row and for the ghosts that are read often.
func (g *generator) plans() []Plan {
	var plans []Plan
	for i := range g.p.Rows {
		for range 25 {
			plans = append(plans, g.plan(g.p.row(i)))
		}
	}
	for i := range min(g.p.Ghosts, 8) {
		for range 5 {
			plans = append(plans, g.plan(ghostKey(i)))
		}
	}
	return plans
}

func (g *generator) plan(key string) Plan {
	p := Plan{Key: key, End: OK, Late: g.chance(0.5), Heed: g.chance(0.5), Bare: g.chance(0.3)}
	if g.p.Tame {
		p.Take = 20*time.Millisecond + g.upTo(20*time.Millisecond)
		return p
	}
	switch x := g.r.Float64(); {
	case x < 0.1: // at once
	case x < 0.88:
		p.Take = g.upTo(g.p.LoadTimeout / 2)
	case x < 0.94:
		p.Gate = true
	default:
		p.Take = g.p.LoadTimeout + g.upTo(g.p.LoadTimeout)
	}
	if g.chance(0.2) {
		p.Take = p.Take.Truncate(10 * time.Millisecond)
	}
	if g.chance(g.p.Failing) {
		p.End = pick(g, ends[1:])
	}
	if g.p.Batches && g.chance(0.15) {
		p.Half = true
	}
	if g.chance(g.p.Nests) {
		p.Nest, p.Brave = g.dependencies(key), g.chance(0.3)
	}
	return p
}

// dependencies are what one load of key reads: a key, or several at once. Few
// ask for what they load, which keeps loads from ever waiting for one another.
func (g *generator) dependencies(key string) []string {
	keys := []string{g.rowKey()}
	for keys[0] == key && g.chance(0.8) {
		keys[0] = g.rowKey()
	}
	if g.chance(0.6) {
		keys = append(keys, g.crowded()...)
	}
	return g.spell(keys)
}
