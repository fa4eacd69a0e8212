package bloom

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMayContain_failsOpenUntilBuilt(t *testing.T) {
	g := newGuard(t, Options{})
	require.Equal(t, Unbuilt, g.Stats().State)
	require.True(t, g.Stats().WantsBuild)
	require.True(t, g.MayContain("anything"))

	g.Add("one")
	require.True(t, g.MayContain("anything"), "adds alone do not tell the guard what is absent")
	require.Zero(t, g.Stats().Refused)
}

func TestMayContain_nilGuardIsOff(t *testing.T) {
	var g *Guard
	g.Add("a")
	g.ReportAbsent("a")
	g.ReportFound("a")
	require.True(t, g.MayContain("a"))
	require.NoError(t, g.Build(t.Context(), list("a")))
	require.NoError(t, g.Check())
	require.Equal(t, Stats{State: Off}, g.Stats())
}

func TestMayContain_knowsSourceAndAdds(t *testing.T) {
	g := newGuard(t, Options{})
	g.Add("before", "")
	require.NoError(t, g.Build(t.Context(), numbered("product", 50_000)))
	g.Add("after")

	require.Equal(t, Ready, g.Stats().State)
	require.Zero(t, refusals(g, "product", 50_000))
	for _, id := range []string{"before", "", "after"} {
		require.True(t, g.MayContain(id), "%q", id)
	}
	require.Greater(t, refusals(g, "stranger", 10_000), 9_900)
}

func TestMayContain_allocatesNothing(t *testing.T) {
	g := built(t, Options{}, "product", 10_000)
	g.Add("recent")
	long := fmt.Sprintf("%01000d", 7)
	for _, id := range []string{"product-17", "recent", "absent", long} {
		require.Zero(t, testing.AllocsPerRun(200, func() { g.MayContain(id) }), "%.20q", id)
	}
}

// The false-positive count over n absent ids is binomial; four standard
// deviations miss once in 30,000 runs.
func TestMayContain_passesStrangersAtTheRateDesignedFor(t *testing.T) {
	const design, asked = 30_000, 200_000
	for _, rate := range []float64{0.1, 0.01, 0.001} {
		t.Run(fmt.Sprint(rate), func(t *testing.T) {
			g := newGuard(t, Options{Expected: design, FalsePositiveRate: rate})
			require.NoError(t, g.Build(t.Context(), numbered("product", design/2)))
			for i := range design - design/2 {
				g.Add(name("later", i))
			}
			s := g.Stats()
			require.EqualValues(t, design, s.Capacity)
			require.InEpsilon(t, design, s.IDs, 2*rate+0.001)

			passed := float64(asked - refusals(g, "stranger", asked))
			mean := asked * rate
			require.InDelta(t, mean, passed, 4*math.Sqrt(mean)+0.03*mean, "k is rounded, worth up to 3 %%")
			require.InEpsilon(t, rate, s.EstimatedRate, 0.1)
			require.InDelta(t, 0.5, s.Fill, 0.04)
		})
	}
}

// Several writers at once, folds, and rebuilds from a source that never lists
// what they add.
func TestAdd_isNeverRefusedOnceItReturned(t *testing.T) {
	const writers, each = 3, 8_000
	l := newLife(t, Options{Expected: 40_000}) // never saturated, hence never open
	l.readers(2)
	l.meanwhile(func() { l.ok("build", l.g.Build(context.Background(), numbered("product", 2_000))) })
	var others sync.WaitGroup
	for w := range writers {
		prefix := fmt.Sprint("writer", w)
		others.Go(func() {
			for i := range each {
				if l.g.Add(name(prefix, i)); !l.g.MayContain(name(prefix, i)) {
					t.Errorf("refused %s-%d right after it was added", prefix, i)
					return
				}
			}
		})
	}
	l.add(each)
	others.Wait()
	l.end()
	for w := range writers {
		require.Zero(t, refusals(l.g, fmt.Sprint("writer", w), each))
	}
	require.Greater(t, l.g.Stats().Builds, uint64(1))
}

func TestAdd_countsAnIDOnce(t *testing.T) {
	g := built(t, Options{FalsePositiveRate: 1e-9}, "product", 1_000)
	for range 3 {
		g.Add("product-1", "new")
	}
	require.EqualValues(t, 1_001, g.Stats().IDs)
}

// Twenty times the ids that were planned for: rather than passing everything
// unseen, the guard says that it is full, and a build gives it the right size.
func TestAdd_farBeyondTheDesignFailsOpenAndSaysSo(t *testing.T) {
	const planned = 2_000
	g := newGuard(t, Options{Expected: planned, FalsePositiveRate: 0.01})
	require.NoError(t, g.Build(t.Context(), list("first")))

	var done atomic.Bool
	var readers sync.WaitGroup
	var added atomic.Int64
	for r := range 4 {
		readers.Go(func() {
			rng := rand.New(rand.NewPCG(1, uint64(r)))
			for !done.Load() {
				if n := added.Load(); n > 0 && !g.MayContain(name("new", int(rng.Int64N(n)))) {
					t.Error("refused an id that was added")
					return
				}
				g.MayContain(name("stranger", rng.IntN(planned)))
			}
		})
	}
	wanted, saturated := 0, 0
	for i := range 20 * planned {
		g.Add(name("new", i))
		added.Store(int64(i + 1))
		if i%20 == 0 {
			s := g.Stats()
			if wanted == 0 && s.WantsBuild {
				wanted = i
				require.Equal(t, Ready, s.State, "asks before it gives up")
			}
			if saturated == 0 && s.State == Saturated {
				saturated = i
			}
		}
	}
	done.Store(true)
	readers.Wait()

	// A false positive in a hundred makes the count run a little low.
	require.InEpsilon(t, rebuildAt*planned, wanted, 0.05)
	require.InEpsilon(t, saturateAt*planned, saturated, 0.05)
	require.Greater(t, g.Stats().EstimatedRate, 0.9)
	require.Zero(t, refusals(g, "stranger", 1_000), "fails open")

	require.NoError(t, g.Build(t.Context(), numbered("new", 20*planned)))
	require.Equal(t, Ready, g.Stats().State)
	require.Zero(t, refusals(g, "new", 20*planned))
	require.Greater(t, refusals(g, "stranger", 10_000), 9_700)
}

func TestShadow_countsAndRefusesNothing(t *testing.T) {
	g := built(t, Options{Shadow: true}, "product", 1_000)
	require.Zero(t, refusals(g, "stranger", 1_000))
	s := g.Stats()
	require.True(t, s.Shadow)
	require.Greater(t, s.Refused, uint64(990))

	// What shadow lets through and the origin denies was rightly judged.
	for i := range 1_000 {
		g.ReportAbsent(name("stranger", i))
	}
	require.Less(t, g.Stats().PassedAbsent, uint64(10))
}
