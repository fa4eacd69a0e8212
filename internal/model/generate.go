package model

import (
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// Generate makes a script. It depends on nothing but its arguments.
func Generate(p Profile, seed uint64) Script {
	g := generator{p: p, r: rand.New(rand.NewPCG(seed, 0))}
	s := Script{Profile: p, Seed: seed, Plans: g.plans()}
	s.Ops = append(s.Ops, g.founding())
	for client := range p.Clients {
		s.Ops = append(s.Ops, g.session(client)...)
	}
	return s
}

type generator struct {
	p Profile
	r *rand.Rand
}

func (g *generator) chance(p float64) bool { return g.r.Float64() < p }

func (g *generator) upTo(d time.Duration) time.Duration { return time.Duration(g.r.Int64N(int64(d))) }

func pick[T any](g *generator, from []T) T { return from[g.r.IntN(len(from))] }

// founding creates most rows, as the first thing client 0 does.
func (g *generator) founding() Op {
	o := Op{Client: 0, Verb: Creating}
	for i := range g.p.Rows {
		if i == 0 || g.chance(g.p.Founded) {
			o.Keys = append(o.Keys, g.p.row(i))
		}
	}
	return o
}

// session is what one client does.
func (g *generator) session(client int) []Op {
	var ops []Op
	for len(ops) < g.p.OpsEach {
		for i, o := range g.deed() {
			o.Client = client
			o.Keys = g.spell(o.Keys)
			if i == 0 {
				o.Wait += g.wait()
			}
			ops = append(ops, o)
		}
	}
	if g.p.Closes && client < 2 {
		ops = slices.Insert(ops, len(ops)*3/4, Op{Client: client, Wait: g.wait(), Verb: Close})
	}
	return ops
}

// spell returns keys as a client may write them.
func (g *generator) spell(keys []string) []string {
	if !g.p.Spells {
		return keys
	}
	var all []string
	for _, key := range keys {
		if g.chance(0.3) {
			key = strings.ToUpper(key)
		}
		all = append(all, key)
	}
	return all
}

// wait is how long a client thinks. Half of the waits are whole hundredths of
// a second, so that much happens at the same instant.
func (g *generator) wait() time.Duration {
	var d time.Duration
	switch x := g.r.Float64(); {
	case x < 0.35:
		return 0
	case x < 0.85:
		d = g.upTo(60 * time.Millisecond)
	case x < 0.96:
		d = g.upTo(400 * time.Millisecond)
	default:
		d = g.upTo(1500 * time.Millisecond)
	}
	if g.p.Busy {
		d /= 16
	}
	if g.chance(0.5) {
		d = d.Truncate(10 * time.Millisecond)
	}
	return d * time.Duration(max(1, g.p.Slow))
}

// deed is one thing that a client does: an operation, or a few that belong
// together, as an application would do them.
func (g *generator) deed() []Op {
	if g.p.isFleet() && g.chance(g.p.Tier.Trouble) {
		return g.trouble()
	}
	if g.chance(g.p.Reading) {
		return []Op{g.read()}
	}
	return g.change()
}

func (g *generator) read() Op {
	switch x := g.r.Float64(); {
	case x < 0.6:
		return Op{Verb: Lookup, Keys: []string{g.anyKey()}, Ctx: g.ctx()}
	case x < 0.76:
		return Op{Verb: Get, Keys: []string{g.anyKey()}, Ctx: g.ctx()}
	case x < 0.83:
		return Op{Verb: Peek, Keys: []string{g.anyKey()}}
	case x < 0.9:
		return Op{Verb: Many, Keys: append(g.crowded(), g.anyKey(), g.anyKey()), Ctx: g.ctx()}
	case x < 0.92:
		return Op{Verb: Warm, Keys: g.crowded(), Ctx: Ctx{Kind: Deadline, After: 50*time.Millisecond + g.upTo(2*time.Second)}}
	case x < 0.93:
		return Op{Verb: Audit}
	}
	most := 4
	if g.p.Busy {
		most = 60
	}
	return Op{Verb: Crowd, Keys: g.crowded(), N: 1 + g.r.IntN(most), Ctx: g.ctx()}
}

func (g *generator) change() []Op {
	row := []string{g.rowKey()}
	switch x := g.r.Float64(); {
	case x < 0.2:
		return []Op{{Verb: Change, Keys: row}, {Verb: Invalidate, Keys: row}}
	case x < 0.3:
		return []Op{{Verb: Set, Keys: row}}
	case x < 0.4:
		return []Op{{Verb: Delete, Keys: row}, {Verb: Invalidate, Keys: row}}
	case x < 0.55:
		return []Op{{Verb: Creating, Keys: row, Take: g.upTo(50 * time.Millisecond), Fails: g.chance(0.1)}}
	case x < 0.6:
		return []Op{{Verb: Created, Keys: row}, {Verb: Change, Keys: row}, {Verb: Created, Keys: row}}
	case x < 0.65:
		return []Op{{Verb: Created, Keys: row}}
	case x < 0.7:
		return []Op{{Verb: Invalidate, Keys: g.crowded()}}
	case x < 0.73:
		return []Op{{Verb: InvalidateAll}}
	case x < 0.85:
		return []Op{{Verb: Change, Keys: row}}
	case x < 0.89:
		return []Op{{Verb: Delete, Keys: row}}
	}
	return []Op{{Verb: Release, Keys: row}}
}

// rowKey prefers the first rows.
func (g *generator) rowKey() string {
	return g.p.row(min(g.r.IntN(g.p.Rows), g.r.IntN(g.p.Rows)))
}

func (g *generator) anyKey() string {
	switch x := g.r.Float64(); {
	case x < 0.03:
		return pick(g, malformed)
	case x < 0.2 && g.p.Ghosts > 0:
		return ghostKey(g.r.IntN(g.p.Ghosts))
	}
	return g.rowKey()
}

// crowded returns up to Crowds different keys, ghosts among them.
func (g *generator) crowded() []string {
	var keys []string
	for i := range g.p.Rows {
		keys = append(keys, g.p.row(i))
	}
	for i := range g.p.Ghosts {
		keys = append(keys, ghostKey(i))
	}
	g.r.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	return keys[:1+g.r.IntN(min(len(keys), g.p.Crowds))]
}

func (g *generator) ctx() Ctx {
	switch x := g.r.Float64(); {
	case x < 0.7:
		return Ctx{}
	case x < 0.8:
		return Ctx{Kind: Done}
	case x < 0.9:
		return Ctx{Kind: Deadline, After: g.upTo(200 * time.Millisecond)}
	}
	return Ctx{Kind: Cancel, After: g.upTo(200 * time.Millisecond)}
}
