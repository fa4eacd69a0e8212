package hotkeys

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func newPlan(t testing.TB, rule Rule) *Plan {
	t.Helper()
	p, err := NewPlan(rule)
	require.NoError(t, err)
	return p
}

// at is a listing of keys that are read rate times a second for certain.
func at(rate float64, keys ...string) (listed []HotKey) {
	for _, key := range keys {
		listed = append(listed, HotKey{Key: key, Lower: rate, Rate: rate, Upper: rate})
	}
	return listed
}

func requireState(t testing.TB, p *Plan, key string, s State, copies int, why ...any) {
	t.Helper()
	state, n := p.State(key)
	require.Equal(t, s, state, why...)
	require.Equal(t, copies, n, why...)
}

func TestPlan_lifeOfAHotKey(t *testing.T) {
	p := newPlan(t, Rule{Hysteresis: Hysteresis{Threshold: 700}, ServerReads: 100})
	for _, step := range []struct {
		at        float64 // s
		rate      float64
		instances int
		state     State
		copies    int
		why       string
	}{
		{0, 500, 1, Cold, 1, "below the margin"},
		{1, 600, 90, Promoted, 1, "90 processes ask once a second"},
		{2, 600, 150, Split, 2, "they have become 150"},
		{3, 600, 450, Split, 3, "more copies than three are not allowed"},
		{4, 600, 140, Split, 3, "two are enough now, but not for long"},
		{34, 600, 140, Split, 2, "for 30 s"},
		{36, 600, 90, Split, 2, "one would bear it, but with little to spare"},
		{99, 600, 90, Split, 2, "still"},
		{100, 600, 70, Split, 2, "one is enough"},
		{103, 600, 70, Promoted, 1, "for 3 s, and there were two for 30 s"},
		{104, 100, 70, Promoted, 1, "cooling"},
		{107, 100, 70, Cold, 1, "cold for 3 s"},
		{108, 10_000, 1000, Split, 3, "from nothing to everything"},
		{109, 0, 1000, Split, 3, "silent"},
		{137, 0, 1000, Split, 3, "it dwells"},
		{138.1, 0, 1000, Cold, 1, "and is gone"},
	} {
		var listed []HotKey
		if step.rate >= p.Floor() {
			listed = at(step.rate, "k")
		}
		before, copies := p.State("k")
		changed := p.Update(time.Duration(step.at*1e9), listed, step.instances)
		requireState(t, p, "k", step.state, step.copies, "at %v s: %s", step.at, step.why)
		if before == step.state && copies == step.copies {
			require.Empty(t, changed, step.why)
			continue
		}
		require.Len(t, changed, 1, step.why)
		require.Equal(t, step.state, changed[0].State)
		require.Equal(t, step.copies, changed[0].Copies)
		require.Equal(t, "k", changed[0].Key)
	}
}

// A key that becomes hot is promoted within about a second, at whatever moment of
// the tracker's windows.
func TestPlan_promotesSoon(t *testing.T) {
	for phase := range 10 {
		for _, test := range []struct {
			times float64
			most  time.Duration
		}{{1.5, 1300 * time.Millisecond}, {2, time.Second}, {10, 250 * time.Millisecond}} {
			clock := newHands()
			tracker := newTracker(t, Options{Threshold: 5000, Now: clock.now})
			p := newPlan(t, Rule{})
			clock.advance(10*time.Second + time.Duration(phase)*100*time.Millisecond)
			began := clock.Time
			for reads := 0.0; ; {
				for reads += 5000 * test.times / 200; reads >= float64(tracker.Every()); reads -= float64(tracker.Every()) {
					tracker.Sample("new", tracker.Every())
				}
				clock.advance(5 * time.Millisecond)
				now := clock.Sub(began)
				if now%(50*time.Millisecond) == 0 {
					p.Update(now, tracker.Above(p.Floor()), 1)
				}
				if s, _ := p.State("new"); s != Cold {
					break
				}
				require.Less(t, now, test.most, "%v times the threshold", test.times)
			}
		}
	}
}

// A million reads a second of ids that nobody has asked for before promote none of
// them, and do not hide the key that is hot.
func TestPlan_uniformFloodPromotesNothing(t *testing.T) {
	clock := newHands()
	tracker := newTracker(t, Options{Now: clock.now})
	p := newPlan(t, Rule{})
	n := 0
	for tick := range time.Duration(1000) { // 10 s
		for range 1_000_000 / 100 / tracker.Every() {
			tracker.Sample("flood-"+strconv.Itoa(n), tracker.Every())
			n++
		}
		if tick >= 500 && tick%2 == 0 {
			tracker.Sample("hot", 200) // 10,000 a second
		}
		clock.advance(10 * time.Millisecond)
		p.Update(tick*10*time.Millisecond, tracker.Above(p.Floor()), 10)
		for _, h := range p.Hot() {
			require.Equal(t, "hot", h.Key)
		}
	}
	requireState(t, p, "hot", Promoted, 1)
}

// What swings a tenth about any limit changes its state twice a minute at most.
func TestPlan_swingsChangeLittle(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for _, life := range []time.Duration{time.Second, 5 * time.Second, -1} {
		rule := Rule{Hysteresis: Hysteresis{Threshold: 5000}, ServerReads: 10_000, MaxCopies: 16, Life: life}
		limits := []float64{5000, Margin * 5000, 5000 / 3.0, 5000 / slack}
		instances := []int{1, 5000, 10_000, 20_000, 30_000, 40_000, 120_000} // where copies are added, if kept for a second
		if life < 0 {
			instances = []int{10}
			for _, n := range sizes {
				limits = append(limits, float64(n)*1000, float64(n)*1000*slack)
			}
		}
		for _, m := range instances {
			for _, limit := range limits {
				for _, period := range []time.Duration{time.Second, 7 * time.Second, time.Minute} {
					p := newPlan(t, rule)
					var changes []time.Duration
					for now := time.Duration(0); now < 5*time.Minute; now += 200 * time.Millisecond {
						rate := limit * (1 + 0.1*math.Sin(2*math.Pi*now.Seconds()/period.Seconds()) + 0.01*r.NormFloat64())
						for range p.Update(now, at(rate, "k"), m) {
							changes = append(changes, now)
						}
					}
					for i := 2; i < len(changes); i++ {
						require.Greater(t, changes[i]-changes[i-2], time.Minute,
							"%v reads a second on %d instances that keep them for %v, swinging every %v, change at %v", limit, m, life, period, changes)
					}
				}
			}
		}
	}
}

// Processes swing too, when they are deployed.
func TestPlan_serversAreSpared(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for range 2000 {
		rule := Rule{ServerReads: math.Exp(8 * r.Float64()), MaxCopies: 1 + r.IntN(64), Life: time.Duration(1 + r.Int64N(int64(5*time.Second)))}
		if r.IntN(4) == 0 {
			rule.Life = -1
		}
		p := newPlan(t, rule)
		for now := range time.Duration(20) {
			rate, m := 5000*math.Exp(4*r.Float64()), 1+r.IntN(2000)
			p.Update(now*10*time.Second, at(rate, "k"), m)
			reads := float64(m) * rate
			if rule.Life > 0 {
				reads = float64(m) / (rule.Life.Seconds() + 1/rate)
			}
			s, n := p.State("k")
			require.NotEqual(t, Cold, s)
			require.Equal(t, n > 1, s == Split)
			require.LessOrEqual(t, n, rule.MaxCopies)
			if n < rule.MaxCopies {
				require.LessOrEqual(t, reads/float64(n), rule.ServerReads*(1+1e-9), "%+v", rule)
			}
		}
	}
}

func TestPlan_promotedFirstSplitOnlyIfThatIsNotEnough(t *testing.T) {
	p := newPlan(t, Rule{})
	p.Update(0, at(1e6, "k"), 50)
	requireState(t, p, "k", Promoted, 1, "50 million reads a second are 50 of the tier")
	p = newPlan(t, Rule{Life: -1, MaxCopies: 64})
	p.Update(0, at(6000, "k"), 10)
	requireState(t, p, "k", Split, 6, "kept by nobody, they are 60,000")
}

func TestPlan_hasABound(t *testing.T) {
	p := newPlan(t, Rule{MaxHot: 10})
	keys := names(100)
	p.Update(0, at(6000, keys[:30]...), 1)
	require.Len(t, p.Hot(), 10)
	p.Update(1, append(at(11_999, keys[30]), at(6000, keys[:30]...)...), 1)
	requireState(t, p, keys[30], Cold, 1, "not even twice as hot as the least")
	changed := p.Update(2, append(at(12_000, keys[30:33]...), at(6000, keys[:30]...)...), 1)
	require.Len(t, changed, 6, "three for three")
	require.Len(t, p.Hot(), 10)
	requireState(t, p, keys[30], Promoted, 1)
	for i := range 100 { // and they do not take turns
		require.Empty(t, p.Update(time.Duration(3+i)*time.Second, append(at(12_000, keys[30:33]...), at(6000, keys[:30]...)...), 1))
	}
	off := newPlan(t, Rule{MaxHot: -1})
	require.Empty(t, off.Update(0, at(1e9, "k"), 1))
	require.Empty(t, off.Hot())
}

func TestPlan_listsWhatIsHot(t *testing.T) {
	p := newPlan(t, Rule{ServerReads: 20, MaxCopies: 4})
	began := time.Unix(1_700_000_000, 0)
	p.Update(time.Second, []HotKey{
		{Key: "a", Lower: 6000, Rate: 6100, Upper: 6200, Since: began},
		{Key: "b", Lower: 9000, Rate: 9000, Upper: 9000, Since: began},
		{Key: "long", Truncated: true, Lower: 1e9},
		{Key: "", Lower: 5000},
		{Key: "warm", Lower: 2000},
	}, 30)
	p.Update(4*time.Second, []HotKey{
		{Key: "a", Lower: 7000, Rate: 7100, Upper: 7200, Since: began},
		{Key: "", Lower: 5500},
	}, 30)
	require.Equal(t, []Hot{
		{HotKey: HotKey{Key: "a", Lower: 7000, Rate: 7100, Upper: 7200, Since: began}, State: Split, Copies: 2, For: 3 * time.Second},
		{HotKey: HotKey{Key: "", Lower: 5500}, State: Split, Copies: 2, For: 3 * time.Second},
		{HotKey: HotKey{Key: "b", Since: began}, State: Split, Copies: 2, For: 3 * time.Second},
	}, p.Hot())
	tracker := newTracker(t, Options{Redact: func(key string) string { return key + "…" }})
	require.Equal(t, "a…", tracker.Shown("a"))
	require.Equal(t, "a", newTracker(t, Options{}).Shown("a"))
}

// The same calls give the same decisions, whatever the order of maps.
func TestPlan_isDeterministic(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	play := func() (all [][]Hot) {
		r := rand.New(rand.NewPCG(seed, 0))
		p := newPlan(t, Rule{MaxHot: 5, ServerReads: 10})
		for now := range time.Duration(200) {
			var listed []HotKey
			for _, key := range names(20) {
				if rate := 5000 * math.Exp(2*r.NormFloat64()); rate >= p.Floor() {
					listed = append(listed, at(math.Round(rate/1000)*1000, key)...)
				}
			}
			listed = hottest(listed, len(listed))
			all = append(all, p.Update(now*time.Second, listed, 1+r.IntN(100)), p.Hot())
		}
		return all
	}
	require.True(t, reflect.DeepEqual(play(), play()))
}

func TestPlan_timeThatGoesBack(t *testing.T) {
	p := newPlan(t, Rule{Hysteresis: Hysteresis{Dwell: -1}})
	p.Update(time.Minute, at(6000, "k"), 1)
	p.Update(0, nil, 1)
	p.Update(math.MinInt64, nil, 1)
	p.Update(61*time.Second, nil, 1)
	requireState(t, p, "k", Promoted, 1, "cooling since a second ago")
	p.Update(64*time.Second, nil, 1)
	requireState(t, p, "k", Cold, 1)
}

func TestPlan_readWhileItIsUpdated(t *testing.T) {
	p := newPlan(t, Rule{MaxHot: 20})
	keys := names(40)
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for i := range 5000 {
				if s, n := p.State(keys[i%40]); s == Split || n != 1 {
					t.Error("split for no reason")
				}
			}
		})
	}
	wg.Go(func() {
		for i := range 500 {
			p.Update(time.Duration(i)*time.Second, at(5000+float64(i), keys[i%40]), 1)
			p.Hot()
		}
	})
	wg.Wait()
}

func TestState_doesNotAllocate(t *testing.T) {
	p := newPlan(t, Rule{})
	p.Update(0, at(6000, names(100)...), 1)
	require.Zero(t, testing.AllocsPerRun(1000, func() { p.State("key-50"); p.State("key-500") }))
}

func TestCopyFor_isEven(t *testing.T) {
	for n := 1; n <= 64; n++ {
		counts := make([]int, n)
		for i := range 6400 {
			counts[CopyFor(float64(i)/6400, n)]++
		}
		for _, c := range counts {
			require.InDelta(t, 6400.0/float64(n), c, 1)
		}
		for _, u := range []float64{0, -1, 1, 2, math.Nextafter(1, 0), math.NaN(), math.Inf(1), math.Inf(-1)} {
			i := CopyFor(u, n)
			require.True(t, i >= 0 && i < n, fmt.Sprint(u, n))
		}
	}
}

func TestPlan_nilAndOff(t *testing.T) {
	var p *Plan
	require.Empty(t, p.Update(0, at(1e9, "k"), 1))
	requireState(t, p, "k", Cold, 1)
	require.Empty(t, p.Hot())
	require.True(t, math.IsInf(p.Floor(), 1))
	off := newPlan(t, Rule{Hysteresis: Hysteresis{Threshold: -1}})
	require.Empty(t, off.Update(0, at(1e9, "k"), 1))
	require.True(t, math.IsInf(off.Floor(), 1))
	for _, rule := range []Rule{{ServerReads: -1}, {MaxCopies: -1}, {MaxCopies: 1}} {
		p := newPlan(t, rule)
		p.Update(0, at(1e9, "k"), 1e9)
		requireState(t, p, "k", Promoted, 1)
	}
	p = newPlan(t, Rule{})
	p.Update(0, []HotKey{{Key: "k", Lower: math.NaN()}, {Key: "l", Lower: math.Inf(1)}}, math.MinInt)
	requireState(t, p, "k", Cold, 1)
	requireState(t, p, "l", Promoted, 1)
}

func TestNewPlan_namesTheOptionItRefuses(t *testing.T) {
	for field, rules := range map[string][]Rule{
		"Threshold":   {{Hysteresis: Hysteresis{Threshold: math.NaN()}}, {Hysteresis: Hysteresis{Threshold: math.Inf(1)}}},
		"ServerReads": {{ServerReads: math.NaN()}, {ServerReads: math.Inf(-1)}},
		"Life":        {{Life: 6 * time.Second}},
		"MaxCopies":   {{MaxCopies: 65}},
	} {
		for _, rule := range rules {
			p, err := NewPlan(rule)
			require.Nil(t, p)
			var refused *OptionError
			require.ErrorAs(t, err, &refused)
			require.Equal(t, field, refused.Field)
		}
	}
}
