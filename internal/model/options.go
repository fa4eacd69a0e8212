package model

import (
	"context"
	"iter"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/earlybird-cache/earlybird"
	"github.com/earlybird-cache/earlybird/bloom"
	"github.com/earlybird-cache/earlybird/keyshape"
	"github.com/earlybird-cache/earlybird/xfetch"
)

func (p Profile) rule() xfetch.Rule {
	if p.Deadline {
		return xfetch.Deadline
	}
	return xfetch.Classic
}

// Options returns the options of a cache of this profile.
func (p Profile) Options(seed uint64) (earlybird.Options[Value], error) {
	guard, err := p.guard()
	o := earlybird.Options[Value]{
		Name:         p.Name,
		TTL:          p.TTL,
		Jitter:       p.Jitter,
		NegativeTTL:  p.NegativeTTL,
		Beta:         p.Beta,
		Refresh:      p.rule(),
		LoadTimeout:  p.LoadTimeout,
		MaxLoads:     p.MaxLoads,
		MaxLoadRate:  p.MaxLoadRate,
		Ramp:         earlybird.Off,
		MaxEntries:   p.MaxEntries,
		MaxNegatives: p.MaxNegatives,
		MaxKeyLen:    longestKey,
		Shapes:       keyshape.MustCompile("k{uint}", "k{uint}/{uint}"),
		Guard:        guard,
		GuardPart:    id,
		Now:          time.Now,
		Rand:         p.rand(seed),

		StaleWhileRevalidate: p.StaleWhileRevalidate,
		StaleIfError:         p.StaleIfError,
	}
	p.addTo(&o)
	p.Tier.addTo(&o)
	return o, err
}

// addTo adds what few profiles have.
func (p Profile) addTo(o *earlybird.Options[Value]) {
	if p.Busy {
		o.Now = nil
	}
	if p.Ramp != 0 {
		o.Ramp = p.Ramp
	}
	if p.MaxBytes != 0 {
		o.MaxEntries, o.MaxBytes, o.Weigh = 0, p.MaxBytes, p.weigh
	}
	if p.Varied {
		o.TTLFor = p.ttlFor
	}
	if p.Validates {
		o.Validate = p.validate
	}
	if p.Clones {
		o.Clone = clone
	}
	if p.Spells {
		o.Canonical = p.canon
	}
}

// guard returns a guard that knows of nothing in particular.
func (p Profile) guard() (*bloom.Guard, error) {
	if !p.Guard {
		return nil, nil
	}
	g, err := bloom.New(bloom.Options{Expected: 1000})
	if err != nil {
		return nil, err
	}
	var stranger iter.Seq2[string, error] = func(yield func(string, error) bool) { yield("stranger", nil) }
	return g, g.Build(context.Background(), stranger)
}

// leastDraw keeps the random draws from being so lucky that a refresh is due
// all the time; it is what the judge's bound on refreshes rests on.
const leastDraw = 0.05

func (p Profile) rand(seed uint64) func() float64 {
	if p.Draw != 0 {
		return func() float64 { return p.Draw }
	}
	var mu sync.Mutex
	r := rand.New(rand.NewPCG(seed, 1))
	return func() float64 {
		mu.Lock()
		defer mu.Unlock()
		return leastDraw + (1-leastDraw)*r.Float64()
	}
}

// leastDraw is the least that Options.Rand says.
func (p Profile) leastDraw() float64 {
	if p.Draw != 0 {
		return p.Draw
	}
	return leastDraw
}
