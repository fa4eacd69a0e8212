package siege

import (
	"math"

	"github.com/earlybird-cache/earlybird/fuzz/archive"
	"github.com/earlybird-cache/earlybird/fuzz/hostile"
)

// A Plan is an attack, what stands in its way, and what it may cost.
type Plan struct {
	hostile.Attack
	condition
}

// condition is what an attack is made against and what the origin may have to bear.
type condition struct {
	defence defence
	allowed allowance
}

// allowance returns the most origin calls that an attack may cause.
type allowance func(o *outcome) float64

// conditions are those of all attacks, by name. Where the guard is away, the attack is on
// what is behind it.
var conditions = map[string]condition{
	"random":         {guarded, byChance},
	"sequential":     {guarded, byChance},
	"near":           {guarded, byChance},
	"unicode":        {guarded, byChance},
	"spelling":       {guarded, byChance},
	"smuggle":        {guarded, byChance},
	"oversize":       {guarded, byChance},
	"tangle":         {guarded, none},
	"murmur":         {guarded, byChance},
	"replay":         {guarded, remembered(hostile.Learnt)},
	"stale-replay":   {guarded, remembered(chance(hostile.Learnt))},
	"pollute":        {guarded, byChance},
	"deleted":        {guarded, remembered(archive.Deletions)},
	"hammer":         {unguarded, remembered(hostile.Pounded)},
	"negative-flood": {unguarded, once},
	"collide":        {unguarded, once},
	"scan":           {guarded, once},
}

// none: the keys' shapes are wrong.
func none(*outcome) float64 { return 0 }

// byChance: all are strange to the guard.
func byChance(o *outcome) float64 { return chance(o.requests) }

// chance returns how many of n strange ids pass the guard at most: more is not bad luck.
// The bound is four standard deviations, and a little for where those are too few to be
// normally distributed.
func chance(n int) float64 {
	mean := float64(n) * guardRate
	return mean + 4*math.Sqrt(mean) + 3
}

// remembered: so many ids pass the guard, and each costs a call when its absence has been
// forgotten.
func remembered(ids float64) allowance {
	const life = (1 - jitter) * float64(negativeTTL) // at least
	return func(o *outcome) float64 {
		return ids * (1 + math.Floor(float64(o.elapsed)/life))
	}
}

// once: nothing but the shape stands in the way.
func once(o *outcome) float64 { return float64(o.requests) }

// Plans returns the plan of every attack.
func Plans() (plans []Plan) {
	for _, a := range hostile.All() {
		plans = append(plans, planOf(a))
	}
	return plans
}

// Named returns the plan of the attack of that name. Its error lists the names there are.
func Named(name string) (Plan, error) {
	a, err := hostile.Named(name)
	return planOf(a), err
}

func planOf(a hostile.Attack) Plan { return Plan{a, conditions[a.Name]} }

// Baselines returns plans of the same attack without the guard, where that shows what the
// guard is good for: with an ordinary Bloom filter in its place. Nothing is expected of
// them.
func (p Plan) Baselines() []Plan {
	if p.Name != "murmur" {
		return nil
	}
	p.Name += ", unkeyed"
	p.condition = condition{unkeyed, once}
	return []Plan{p}
}

func (p Plan) isBaseline() bool { return p.defence == unkeyed }
