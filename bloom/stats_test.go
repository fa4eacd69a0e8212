package bloom

import (
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCheck_findsACorruptFilter(t *testing.T) {
	g := newGuard(t, Options{})
	require.NoError(t, g.Check(), "nothing built, nothing damaged")
	require.NoError(t, g.Build(t.Context(), numbered("product", 10_000)))
	require.NoError(t, g.Check())

	clear(g.current.filter.BitSet().Words()[:100]) // memory that lost some bits; nobody else is looking
	require.ErrorIs(t, g.Check(), ErrDamaged)
	require.Equal(t, Damaged, g.Stats().State)
	require.True(t, g.MayContain("stranger"), "fails open")
	g.Add("more")
	require.Equal(t, Damaged, g.Stats().State, "an add does not mend it")

	require.NoError(t, g.Build(t.Context(), numbered("product", 10_000)))
	require.NoError(t, g.Check())
	require.Equal(t, Ready, g.Stats().State)
	require.Zero(t, refusals(g, "product", 10_000))
}

func TestCheck_triesTheNewestAdds(t *testing.T) {
	g := built(t, Options{}, "product", 1_000)
	g.Add("new")
	g.current.recent = nil
	require.ErrorIs(t, g.Check(), ErrDamaged)
}

func TestReportFound_exposesAWrongRefusal(t *testing.T) {
	g := built(t, Options{FalsePositiveRate: 1e-9}, "product", 1_000)
	g.ReportFound("product-3")
	require.Equal(t, Ready, g.Stats().State)

	require.False(t, g.MayContain("created elsewhere"))
	g.ReportFound("created elsewhere")
	s := g.Stats()
	require.Equal(t, Damaged, s.State)
	require.EqualValues(t, 1, s.Refuted)
	require.True(t, s.WantsBuild)
	require.True(t, g.MayContain("created elsewhere"))

	require.NoError(t, g.Build(t.Context(), numbered("product", 1_000)))
	require.Equal(t, Ready, g.Stats().State)
	require.True(t, g.MayContain("created elsewhere"), "learnt")
}

func TestStats_observedRateIsThatOfStrangers(t *testing.T) {
	g := newGuard(t, Options{Expected: 20_000, FalsePositiveRate: 0.02})
	require.NoError(t, g.Build(t.Context(), numbered("product", 20_000/2)))
	for i := range 20_000 / 2 {
		g.Add(name("later", i))
	}
	ask := func(prefix string, n int) {
		for i := range n {
			if id := name(prefix, i); g.MayContain(id) {
				g.ReportAbsent(id)
			}
		}
	}
	ask("stranger", 100_000)
	s := g.Stats()
	require.InEpsilon(t, 0.02, s.ObservedRate, 0.15)
	require.InEpsilon(t, s.EstimatedRate, s.ObservedRate, 0.15)
	require.EqualValues(t, 100_000, s.Refused+s.PassedAbsent)
	require.False(t, s.Alarm)

	ask("product", 1_000) // deleted at the origin, or known to an attacker
	require.True(t, g.Stats().Alarm)

	require.NoError(t, g.Build(t.Context(), numbered("later", 10_000)))
	s = g.Stats()
	require.False(t, s.Alarm, "measured anew after each build")
	require.Zero(t, s.ObservedRate)
	require.Greater(t, s.PassedAbsent, uint64(1_000), "counters only grow")
}

func TestAlarming_isFourDeviationsOver(t *testing.T) {
	const rate = 1e-3
	for _, c := range []struct {
		absent, passed uint64
		want           bool
	}{
		{0, 0, false},
		{9, 9, false}, // too few to judge
		{10, 10, true},
		{10_000, 22, false}, // 10 + 4√10 = 22.6
		{10_000, 23, true},
		{1_000_000, 1_126, false}, // 1000 + 4√1000 = 1126.5
		{1_000_000, 1_127, true},
	} {
		require.Equal(t, c.want, alarming(c.absent, c.passed, rate), "%+v", c)
	}
}

func TestStriped_losesNoCount(t *testing.T) {
	var s striped
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 1_000 {
				s.add()
			}
		})
	}
	wg.Wait()
	require.EqualValues(t, 8_000, s.load())
}

func TestOverlay_holdsExactlyWhatWasInserted(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	var o *overlay
	want := map[digest]bool{}
	for range 2_000 {
		d := digest{rng.Uint64() | 1, rng.Uint64N(512)} // few slots to begin at: long probes
		if o.has(d) != want[d] {
			t.Fatalf("has(%v) = %v", d, !want[d])
		}
		if want[d] {
			continue
		}
		if o.full() {
			o = o.doubled()
		}
		o.insert(d)
		want[d] = true
	}
	require.Equal(t, len(want), o.len())
	o.each(func(d digest) {
		if !want[d] || !o.has(d) || o.has(digest{d.lo, d.hi + 64}) {
			t.Fatalf("%v: both words count", d)
		}
	})
}

func TestState_hasAName(t *testing.T) {
	for s := Off; s <= Damaged; s++ {
		require.NotContains(t, s.String(), "State(")
	}
	require.Equal(t, "State(200)", State(200).String())
}
