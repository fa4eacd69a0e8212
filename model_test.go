package earlybird_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird/internal/model"
)

// usualSeed is where the seeds start that are not to be drawn: whoever runs the
// tests plays the same scripts, so that a failure is about the change at hand.
// To look for what nobody has met yet is the soak's part, which draws.
const usualSeed = 1

var (
	modelRuns   = flag.Int("model.runs", usualRuns(), "runs of each profile of the model test")
	modelSeed   = flag.Uint64("model.seed", uint64(soaked(usualSeed, 0)), "seed of the first run; 0 draws one")
	modelStorm  = flag.Int("model.storm", soaked(5000, 50_000), "changes of each key in each storm")
	modelReplay = flag.String("model.replay", "", "a file with what a failed run said, to be run -model.runs times")
	modelOnly   = flag.String("model.profile", "", "the one profile to run")
)

// soaked returns usual, or long if the tests are to soak.
func soaked(usual, long int) int {
	if os.Getenv("EARLYBIRD_SOAK") != "" {
		return long
	}
	return usual
}

// usualRuns returns how often each profile is to be played. What the race
// detector finds takes few runs, and with it a run costs six times as much; the
// other promises are held to in the many runs of the same scripts without it, of
// which TestMutants is one.
func usualRuns() int {
	if underRace {
		return soaked(20, 200)
	}
	return soaked(60, 1000)
}

// seed returns where the seeds of a test start, and says so.
func seed(t *testing.T) uint64 {
	s := *modelSeed
	if s == 0 {
		s = rand.Uint64N(1 << 40)
	}
	t.Logf("-model.seed=%d", s)
	return s
}

// TestModel plays random scripts of every profile and holds the cache to its
// promises: see package model.
func TestModel(t *testing.T) {
	if *modelReplay != "" {
		replay(t, *modelReplay)
		return
	}
	profiles := model.Profiles()
	if *modelOnly != "" {
		p, err := model.ProfileNamed(*modelOnly)
		require.NoError(t, err)
		profiles = []model.Profile{p}
	}
	var met meetings
	t.Cleanup(func() {
		t.Logf("situations met:\n%s", met.saw)
		if *modelRuns >= 40 && *modelOnly == "" && !t.Failed() {
			require.Empty(t, met.saw.Missing(), "a test that never meets these proves nothing about them")
		}
	})
	first := seed(t)
	for _, p := range profiles {
		t.Run(p.Name, func(t *testing.T) {
			t.Parallel() // the time of a run is its own
			for i := range *modelRuns {
				met.add(play(t, model.Generate(p, first+uint64(i))))
			}
		})
	}
}

// meetings are the situations that any run has met.
type meetings struct {
	mu  sync.Mutex
	saw model.Coverage
}

func (m *meetings) add(saw model.Coverage) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.saw == nil {
		m.saw = make(model.Coverage)
	}
	m.saw.Add(saw)
}

// TestModel_storm lets changes and reads collide in real time.
func TestModel_storm(t *testing.T) {
	for _, s := range model.Storms() {
		t.Run(s.Name, func(t *testing.T) {
			require.NoError(t, s.Rage(seed(t), *modelStorm))
		})
	}
}

// play runs a script in a bubble of its own. A bubble that is left with
// goroutines in it panics, which must not cost us the script.
func play(t *testing.T, s model.Script) (saw model.Coverage) {
	defer func() {
		if p := recover(); p != nil {
			t.Fatalf("broken promise: %s\n# %v\n%s", model.Closed, p, s)
		}
	}()
	var err error
	synctest.Test(t, func(t *testing.T) { saw, err = model.Run(s) })
	if err != nil {
		t.Fatalf("%v", err) // as it is, so that -model.replay can read it
	}
	return saw
}

func replay(t *testing.T, file string) {
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	s, err := model.Parse(string(text))
	require.NoError(t, err, file)
	for i := range *modelRuns {
		t.Run(fmt.Sprint(i), func(t *testing.T) { play(t, s) })
	}
}
