package scenarios

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"runtime"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/earlybird-cache/earlybird/sim/bubble"
	"github.com/earlybird-cache/earlybird/sim/refresh"
)

// A Scenario is something that is claimed, and how it is played.
type Scenario struct {
	Name  string // on the command line
	Title string // for a heading
	About string // what is played and what it shows, in a few sentences
	play  func(*stage) ([]Row, error)
}

// All lists the scenarios in the order in which they are told.
func All() []Scenario {
	var all []Scenario
	for _, chapter := range [][]Scenario{stampedes, coordination, choices, clocksAndSpread, publications, guardScenarios, hotKeyScenarios, lab} {
		all = append(all, chapter...)
	}
	return all
}

// Find returns the scenario named.
func Find(name string) (Scenario, bool) {
	for _, s := range All() {
		if s.Name == name {
			return s, true
		}
	}
	return Scenario{}, false
}

// Options are how scenarios are played.
type Options struct {
	Seed uint64
	// Effort is the size of the samples; 1 is the full size. The figures keep
	// their expectations, and their errors grow as its root falls.
	Effort float64
	Runner bubble.Runner // for what is played on the real cache
}

// A Played is a scenario and what came of it.
type Played struct {
	Scenario
	Rows []Row
}

// Play plays scenarios side by side, as many as there are processors, and counts
// in done those that are over.
func Play(list []Scenario, opts Options, done *atomic.Int64) ([]Played, error) {
	played := make([]Played, len(list))
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, s := range list {
		group.Go(func() error {
			rows, err := s.play(newStage(s.Name, opts))
			if err != nil {
				return fmt.Errorf("%s: %w", s.Name, err)
			}
			for j := range rows {
				if rows[j].Command == "" {
					rows[j].Command = "sim scenarios " + s.Name
				}
			}
			played[i] = Played{s, rows}
			done.Add(1)
			return nil
		})
	}
	return played, group.Wait()
}

// A stage is what a scenario is played on.
type stage struct {
	Options
	rng  *rand.Rand
	runs uint64
}

// newStage gives each scenario random numbers of its own.
func newStage(name string, opts Options) *stage {
	h := fnv.New64a()
	h.Write([]byte(name))
	return &stage{Options: opts, rng: rand.New(rand.NewPCG(opts.Seed, h.Sum64()))}
}

// times is how often to do what is done n times at full size.
func (st *stage) times(n int) int { return max(200, int(float64(n)*st.Effort)) }

// refresh plays a setup. Its Expiries and Events are those at full size; 0
// expiries are a million, and without events the event engine is left out.
func (st *stage) refresh(s refresh.Setup) (refresh.Report, error) {
	if s.Expiries == 0 {
		s.Expiries = 1_000_000
	}
	s.Expiries = st.times(s.Expiries)
	if s.Events > 0 {
		s.Events = max(1_000_000, int(float64(s.Events)*st.Effort))
	}
	s.Seed = st.rng.Uint64()
	s.Draws, s.Workers = max(s.Draws, 2), 1
	if err := s.Validate(); err != nil {
		return refresh.Report{}, err
	}
	return refresh.Run(s, nil)
}

// key is a key whose loads take a second, read rate times a second.
func key(rate, beta float64) refresh.Setup {
	s := refresh.Default
	s.Rate, s.Beta = rate, beta
	s.Delta, s.TTL = second, 2*minute
	s.Expiries, s.Events, s.Draws = 0, 0, 0
	return s
}
