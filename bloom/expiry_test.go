package bloom

import (
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestGrace_oldOrNewAccepts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := built(t, Options{Grace: time.Minute}, "old", 1_000)
		require.False(t, g.Stats().Grace, "the first build has no predecessor")
		g.Add("own")
		require.NoError(t, g.Build(t.Context(), numbered("new", 1_000)))

		time.Sleep(time.Minute - 1)
		require.True(t, g.Stats().Grace)
		require.Zero(t, refusals(g, "old", 1_000))
		require.Zero(t, refusals(g, "new", 1_000))
		require.Greater(t, refusals(g, "stranger", 1_000), 980)

		time.Sleep(1)
		require.Greater(t, refusals(g, "old", 1_000), 980, "without anybody calling Add or Stats")
		require.Zero(t, refusals(g, "new", 1_000))
		require.True(t, g.MayContain("own"))
		require.False(t, g.Stats().Grace)
		require.Nil(t, g.current.old, "its memory is free")
	})
}

// A third build does not keep the first one alive.
func TestGrace_isForOnePredecessor(t *testing.T) {
	g := built(t, Options{}, "first", 1_000)
	require.NoError(t, g.Build(t.Context(), numbered("second", 1_000)))
	require.NoError(t, g.Build(t.Context(), numbered("third", 1_000)))
	require.Greater(t, refusals(g, "first", 1_000), 980)
	require.Zero(t, refusals(g, "second", 1_000))
	require.Nil(t, g.current.old.old)
}

func TestGrace_outlivesFolds(t *testing.T) {
	g := built(t, Options{}, "old", 1_000)
	require.NoError(t, g.Build(t.Context(), numbered("new", 1_000)))
	filter := g.current.filter
	for i := range 200 {
		g.Add(name("own", i))
	}
	require.NotSame(t, filter, g.current.filter, "folded")
	require.Zero(t, refusals(g, "old", 1_000))
}

// A build that missed half of the ids: the predecessor lets them through, the
// origin has them, and the guard opens before anybody was refused.
func TestGrace_anIncompleteBuildIsFoundOut(t *testing.T) {
	g := built(t, Options{}, "product", 1_000)
	require.NoError(t, g.Build(t.Context(), numbered("product", 500)))
	require.True(t, g.MayContain("product-999"))
	g.ReportFound("product-999")
	s := g.Stats()
	require.Equal(t, Damaged, s.State)
	require.EqualValues(t, 1, s.Refuted)
	require.Zero(t, s.Refused)
}

func TestGrace_deletedIDsAreNoFalsePositives(t *testing.T) {
	g := built(t, Options{}, "old", 1_000)
	require.NoError(t, g.Build(t.Context(), numbered("new", 1_000)))
	for i := range 1_000 {
		g.ReportAbsent(name("old", i))
	}
	require.Less(t, g.Stats().PassedAbsent, uint64(10))
	require.Zero(t, g.Stats().Confirmed, "nor were they denied")
	require.False(t, g.Stats().Alarm)
}

func TestGrace_countsBothFiltersInTheEstimate(t *testing.T) {
	g := built(t, Options{FalsePositiveRate: 0.1}, "old", 5_000)
	one := g.Stats().EstimatedRate
	require.NoError(t, g.Build(t.Context(), numbered("new", 5_000)))
	require.InEpsilon(t, 2*one, g.Stats().EstimatedRate, 0.1)
}

func TestMaxAge_failsOpenWhenIDsAreOld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGuard(t, Options{MaxAge: time.Hour, Grace: -1})
		require.NoError(t, g.Build(t.Context(), func(yield func(string, error) bool) {
			time.Sleep(10 * time.Minute) // age counts from the beginning of the scan
			yield("product", nil)
		}))
		time.Sleep(50*time.Minute - 1)
		require.False(t, g.MayContain("stranger"))
		time.Sleep(1)
		require.True(t, g.MayContain("stranger"))
		require.Equal(t, Outdated, g.Stats().State)
		require.True(t, g.Stats().WantsBuild)

		g.Add("own")
		require.NoError(t, g.Build(t.Context(), list("product")))
		require.Equal(t, Ready, g.Stats().State)
		require.False(t, g.MayContain("stranger"))
		require.True(t, g.MayContain("own"))
	})
}

// The grace's end and a fold meet readers and writers at once.
func TestGrace_endsUnderLoad(t *testing.T) {
	g := newGuard(t, Options{Grace: time.Microsecond, Expected: 20_000})
	require.NoError(t, g.Build(t.Context(), numbered("product", 1_000)))
	var wg sync.WaitGroup
	var published atomic.Int64
	wg.Go(func() {
		for i := range 10_000 {
			g.Add(name("own", i))
			published.Store(int64(i))
		}
	})
	for range 2 {
		wg.Go(func() {
			for n := int64(0); n < 9_999; n = published.Load() {
				g.MayContain("stranger") // ends the grace
				if id := name("own", int(n)); n > 0 && !g.MayContain(id) {
					t.Errorf("refused %s", id)
					return
				}
			}
		})
	}
	for range 5 {
		require.NoError(t, g.Build(t.Context(), numbered("product", 1_000)))
	}
	wg.Wait()
	require.Zero(t, refusals(g, "own", 10_000))
}
