package operations

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/earlybird-cache/earlybird/internal/model"
)

// alphabet is what scripts of a profile are made of.
type alphabet struct {
	profile  model.Profile
	founding model.Op     // creates most rows, first of all
	ops      []model.Op   // without their client and wait
	plans    []model.Plan // of loads
}

// alphabets are those of all profiles.
var alphabets = sync.OnceValue(func() (all []alphabet) {
	for _, p := range model.Profiles() {
		all = append(all, alphabetOf(p))
	}
	return all
})

// alphabetOf collects what the generator makes for p from a few seeds, each thing once.
func alphabetOf(p model.Profile) alphabet {
	const seeds = 8
	a := alphabet{profile: p}
	for seed := range uint64(seeds) {
		s := model.Generate(p, seed)
		a.founding = s.Ops[0]
		a.ops = append(a.ops, s.Ops...)
		a.plans = append(a.plans, s.Plans...)
	}
	for i := range a.ops {
		a.ops[i].Client, a.ops[i].Wait = 0, 0
	}
	a.ops, a.plans = unique(a.ops), unique(a.plans)
	return a
}

// unique sorts things by their text and drops those that come again. Things alike are then
// neighbours, which is where a small change of a byte leads.
func unique[T fmt.Stringer](things []T) (once []T) {
	byText := make(map[string]T)
	for _, t := range things {
		byText[t.String()] = t
	}
	for _, text := range slices.Sorted(maps.Keys(byText)) {
		once = append(once, byText[text])
	}
	return once
}
