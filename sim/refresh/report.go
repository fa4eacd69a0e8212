package refresh

import (
	"math/rand/v2"
	"time"

	"github.com/earlybird-cache/earlybird/xfetch"
)

// Report is what a run of a Setup found.
type Report struct {
	Setup     Setup
	Scale     time.Duration
	Window    time.Duration // before expiry, in which draws can succeed
	Elections []Election
	Loads     []Loads
	// Notes are sentences about what a reader of the figures should know.
	Notes []string
}

// Loads is what one expiry costs under one way of coordinating readers.
type Loads struct {
	Coordination string
	Mean         Estimate // loads per expiry
	Early        Estimate // of them, started before expiry
	Hard         Estimate // of them, started by reads that found the entry expired
	Single       Estimate // share of expiries with exactly one load
	Gap          Estimate // seconds left when the first load starts; negative after expiry
	Late         Estimate // share of expiries whose first load did not end in time
	Sizes        []int    // Sizes[i]: expiries with i+1 loads; the last also holds all larger
	Reads        float64  // reads that the run stands for
}

// The two ways of coordinating readers.
const (
	None         = "none"         // every elected reader loads
	Singleflight = "singleflight" // one load at a time in each instance
)

// Run plays a valid setup.
func Run(s Setup) Report {
	r := Report{Setup: s, Scale: s.scale(), Window: xfetch.Window(s.scale())}
	r.Elections = countElections(s, rand.New(rand.NewPCG(s.Seed, 0)))
	r.Loads = []Loads{
		watch(s, None, rand.New(rand.NewPCG(s.Seed, 1))),
		watch(s, Singleflight, rand.New(rand.NewPCG(s.Seed, 2))),
	}
	r.Notes = notes(s)
	return r
}

// watch plays expiries and sets them beside theory.
func watch(s Setup, coordination string, rng *rand.Rand) Loads {
	k := newKey(s, coordination == Singleflight, rng)
	t := tally{sizes: make([]int, maxSizes)}
	for range s.Expiries {
		t.add(k.next(), float64(s.Delta))
	}
	loads := t.observed()
	loads.Coordination = coordination
	loads.Reads = s.Rate * t.lived / float64(time.Second)
	switch {
	case !s.lawHolds():
	case coordination == Singleflight:
		loads.Mean = t.loads.countAgainst(s.law().FleetLoads(s.Instances), 1)
		t.compareStart(&loads, s.law())
	default:
		t.compareLoads(&loads, s.law())
		t.compareStart(&loads, s.law())
	}
	return loads
}
