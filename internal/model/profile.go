package model

import (
	"fmt"
	"slices"
	"time"

	"github.com/earlybird-cache/earlybird"
)

// Profile is a kind of run: the options of the cache and of its traffic. All
// durations are filled in, since the judge needs them.
type Profile struct {
	Name string

	TTL, NegativeTTL, LoadTimeout      time.Duration
	Jitter, Beta                       float64
	Deadline                           bool // xfetch's rule, not the classic one
	MaxLoads, MaxEntries, MaxNegatives int
	MaxLoadRate                        float64 // 0: off
	MaxBytes                           int64   // 0: off; otherwise in place of MaxEntries
	Guard                              bool
	StaleWhileRevalidate, StaleIfError time.Duration // 0: off
	Ramp                               time.Duration // 0: off

	Varied      bool // TTLFor says something
	Validates   bool
	Revalidates bool
	Clones      bool
	Spells      bool // Canonical ignores case
	Batches     bool // there is a LoadMany
	Slow        int  // so many times as long as usual do clients think
	Busy        bool // clients hardly think, and crowds are large; the clock is the cache's own

	Tier Tier // what several caches share

	Draw float64 // what Options.Rand always says; 0: it is random, at least leastDraw

	Clients, OpsEach int
	Reading          float64 // share of reads among what clients do
	Rows             int     // keys that may exist at the origin
	Founded          float64 // share of them that exist from the start
	Ghosts           int     // keys that never do
	Siblings         bool    // two rows each share their GuardPart
	Failing          float64 // share of loads that end badly
	Tame             bool    // loads are short and all end well
	Nests            float64 // share of loads that read other keys
	Closes           bool    // the cache is closed amid the traffic
	Crowds           int     // keys that a Crowd asks for at once
}

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
		Founded:      0.8,
		Ghosts:       2,
		Crowds:       2,
		Failing:      0.2,
	}
}

// Profiles returns all profiles.
func Profiles() []Profile {
	return slices.Concat(plain(), early(), absences(), rooms(), gates(), nests(), batches(), spares(), terms(), clocks(), fleets())
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

// isFleet reports whether there are several caches, which share a tier.
func (p Profile) isFleet() bool { return p.Tier.Caches > 1 }

// evicts reports whether not all rows have room.
func (p Profile) evicts() bool { return p.MaxBytes > 0 || p.Rows > p.MaxEntries }
