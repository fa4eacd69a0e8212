package model

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"
	"strings"
	"sync"
	"time"

	"github.com/earlybird-cache/earlybird"
	"github.com/earlybird-cache/earlybird/bloom"
	"github.com/earlybird-cache/earlybird/keyshape"
)

// Profile is a kind of run: the options of the cache and of its traffic. All
// durations are filled in, since the judge needs them.
type Profile struct {
	Name string

	TTL, NegativeTTL, LoadTimeout      time.Duration
	Jitter, Beta                       float64
	MaxLoads, MaxEntries, MaxNegatives int
	Guard                              bool
	StaleWhileRevalidate, StaleIfError time.Duration // 0: off
	Ramp                               time.Duration // 0: off

	Varied      bool // TTLFor says something
	Validates   bool
	Revalidates bool
	Clones      bool
	Spells      bool // Canonical ignores case
	Batches     bool // there is a LoadMany
	Warms       bool // some clients Warm
	Busy        bool // clients hardly think, and crowds are large; the clock is the cache's own

	Draw float64 // what Options.Rand always says; 0: it is random, at least leastDraw

	Clients, OpsEach int
	Reading          float64 // share of reads among what clients do
	Rows             int     // keys that may exist at the origin
	Ghosts           int     // keys that never do
	Failing          float64 // share of loads that end badly
	Tame             bool    // loads are short and all end well
	Nests            bool    // some loads Get another key
	Closes           bool    // the cache is closed amid the traffic
	Crowds           int     // keys that a Crowd asks for at once
}

// leastDraw keeps the random draws from being so lucky that a refresh is due
// all the time; it is what the judge's bound on refreshes rests on.
const leastDraw = 0.05

// longestKey is Options.MaxKeyLen.
const longestKey = 32

// usual is the profile that the others differ from.
func usual(name string) Profile {
	return Profile{
		Name:         name,
		TTL:          time.Second,
		NegativeTTL:  500 * time.Millisecond,
		LoadTimeout:  400 * time.Millisecond,
		Jitter:       0.1,
		Beta:         1,
		MaxLoads:     earlybird.Off,
		MaxEntries:   1000,
		MaxNegatives: 1000,
		Clients:      6,
		OpsEach:      60,
		Reading:      0.72,
		Rows:         4,
		Ghosts:       2,
		Crowds:       2,
		Failing:      0.2,
	}
}

// Profiles returns all profiles.
func Profiles() []Profile {
	plain := usual("plain")

	// With one key no two keys can share a stripe of the fence, and the judge
	// is strict about overlapping loads.
	single := usual("single")
	single.Rows, single.Ghosts, single.Crowds = 1, 0, 1

	// Little changes, so values grow old; refreshes come early and often fail.
	calm := usual("calm")
	calm.Reading, calm.Beta, calm.Failing = 0.96, 2, 0.4
	calm.Rows, calm.Ghosts, calm.Clients, calm.OpsEach = 2, 1, 10, 100

	// Every draw is the same, so it is known when a refresh must be due.
	eager := usual("eager")
	eager.Jitter, eager.Draw, eager.Tame, eager.Reading = earlybird.Off, 1e-3, true, 0.9

	late := usual("late")
	late.Beta = earlybird.Off

	amnesic := usual("amnesic")
	amnesic.NegativeTTL = earlybird.Off

	guarded := usual("guarded")
	guarded.Guard, guarded.Ghosts, guarded.Rows = true, 8, 6

	narrow := usual("narrow")
	narrow.MaxLoads, narrow.Rows, narrow.Crowds = 1, 14, 12

	nested := usual("nested")
	nested.MaxLoads, nested.Rows, nested.Nests = 2, 5, true
	nested.Reading, nested.OpsEach = 0.85, 80

	// Fewer entries than rows: values come and go.
	tight := usual("tight")
	tight.MaxEntries, tight.MaxNegatives, tight.Rows, tight.Ghosts = 3, 3, 9, 9

	// All rows fit, but a flood of ghosts does not: it must not wash them out.
	flood := usual("flood")
	flood.MaxEntries, flood.MaxNegatives, flood.Ghosts, flood.Crowds = 4, 16, 200, 40

	closing := usual("closing")
	closing.Closes, closing.OpsEach = true, 20

	// Values outlive their life, and stand in for loads that fail.
	stale := usual("stale")
	stale.StaleWhileRevalidate, stale.TTL, stale.Reading = 300*time.Millisecond, 300*time.Millisecond, 0.9
	spare := usual("spare")
	spare.StaleIfError, spare.TTL, spare.Reading, spare.Failing = time.Second, 200*time.Millisecond, 0.9, 0.5

	varied := usual("varied")
	varied.Varied, varied.Validates, varied.Reading = true, true, 0.8

	renewing := usual("renewing")
	renewing.Revalidates, renewing.Clones, renewing.Reading = true, true, 0.9
	renewing.TTL, renewing.StaleWhileRevalidate = 300*time.Millisecond, 100*time.Millisecond

	// Several keys at once, spelled this way and that.
	batches := usual("batches")
	batches.Batches, batches.Spells, batches.Clones, batches.Warms = true, true, true, true
	batches.Rows, batches.Crowds, batches.MaxLoads, batches.Beta = 8, 6, 4, 2

	ramped := usual("ramped")
	ramped.Ramp, ramped.MaxLoads, ramped.Rows, ramped.Crowds = 2*time.Second, 8, 14, 12
	ramped.Warms = true

	// So many hits, one after another, that the cache tells time by its ticker.
	busy := usual("busy")
	busy.Busy, busy.Clones, busy.Tame, busy.Rows, busy.Ghosts = true, true, true, 2, 0
	busy.Reading, busy.Clients = 0.97, 8

	return []Profile{
		plain, single, calm, eager, late, amnesic, guarded, narrow, nested, tight, flood, closing,
		stale, spare, varied, renewing, batches, ramped, busy,
	}
}

// ProfileNamed returns the profile of that name.
func ProfileNamed(name string) (Profile, error) {
	for _, p := range Profiles() {
		if p.Name == name {
			return p, nil
		}
	}
	return Profile{}, fmt.Errorf("unknown profile %q", name)
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
		LoadTimeout:  p.LoadTimeout,
		MaxLoads:     p.MaxLoads,
		Ramp:         earlybird.Off,
		MaxEntries:   p.MaxEntries,
		MaxNegatives: p.MaxNegatives,
		MaxKeyLen:    longestKey,
		Shapes:       keyshape.MustCompile("k{uint}"),
		Guard:        guard,
		GuardPart:    id,
		Now:          time.Now,
		Rand:         p.rand(seed),

		StaleWhileRevalidate: p.StaleWhileRevalidate,
		StaleIfError:         p.StaleIfError,
	}
	p.addTo(&o)
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

// id is Options.GuardPart: the number in the key.
func id(key string) string { return strings.TrimPrefix(key, "k") }

// wellFormed says what the profile's shapes mean, in other words.
func wellFormed(key string) bool {
	digits := id(key)
	if len(key) > longestKey || len(digits) != len(key)-1 || digits == "" {
		return false
	}
	for _, d := range digits {
		if d < '0' || d > '9' {
			return false
		}
	}
	return digits == "0" || digits[0] != '0'
}

func rowKey(i int) string { return fmt.Sprintf("k%d", i) }

// ghostKey numbers the ghosts from where no row is.
func ghostKey(i int) string { return fmt.Sprintf("k%d", 100+i) }

// malformed are keys that no well-behaved caller sends.
var malformed = []string{"x", "k", "k007", "k-1", "k1/en", "K1", "k" + strings.Repeat("1", longestKey)}
