package hotkeys

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestTracker_uniformFloodPromotesNothing(t *testing.T) {
	const perSecond = 1_000_000
	clock := newHands()
	tracker := newTracker(t, Options{Now: clock.now})
	n, hotTick := 0, perSecond/100/int(tracker.Every())
	for range 500 { // 5 s in ticks of 10 ms
		for range hotTick {
			tracker.Sample("flood-"+strconv.Itoa(n), tracker.Every()) // each stands for others just as new
			n++
		}
		clock.advance(10 * time.Millisecond)
		require.Empty(t, tracker.Above(Margin*defaultThreshold/10), "not even at a tenth of the limit")
	}
	require.Positive(t, tracker.Stats().Floor)
	require.Less(t, tracker.Stats().Floor, Margin*defaultThreshold, "and a hot key would have had a counter")
}

func TestTracker_findsAHotKeyInAFlood(t *testing.T) {
	clock := newHands()
	tracker := newTracker(t, Options{Now: clock.now})
	every := tracker.Every()
	tick := func() {
		for range 1_000_000 / 100 / every {
			tracker.Sample("flood-"+strconv.FormatUint(rand.Uint64(), 36), every)
		}
		clock.advance(10 * time.Millisecond)
	}
	for range 200 {
		tick()
	}
	began := clock.Time
	for len(tracker.Above(Margin*defaultThreshold)) == 0 {
		for range 10_000/100/every + 1 {
			tracker.Sample("hot", every)
		}
		tick()
		require.Less(t, clock.Sub(began), time.Second, "10,000 reads a second are hot within a window")
	}
	hot := tracker.Above(Margin * defaultThreshold)
	require.Equal(t, "hot", hot[0].Key)
	require.Equal(t, began, hot[0].Since)
}

func TestTop_isPreciseOnZipf(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for _, test := range []struct {
		every     uint64
		k         int
		precision float64
	}{
		{every: 1, k: 50, precision: 1},
		{every: 71, k: 10, precision: 0.9},
		{every: 71, k: 50, precision: 0.8},
	} {
		r := rand.New(rand.NewPCG(seed, test.every))
		zipf := rand.NewZipf(r, 1.1, 1, 1<<20)
		tracker := newTracker(t, Options{Now: newHands().now})
		reads := map[string]int{}
		for range 400_000 {
			key := strconv.FormatUint(zipf.Uint64(), 10)
			reads[key]++
			if r.Uint64N(test.every) == 0 {
				tracker.Sample(key, test.every)
			}
		}
		counts := make([]int, 0, len(reads))
		for _, n := range reads {
			counts = append(counts, n)
		}
		slices.Sort(counts)
		least := counts[len(counts)-test.k]
		right := 0
		for _, k := range tracker.Top(test.k) {
			if reads[k.Key] >= least {
				right++
			}
		}
		require.GreaterOrEqual(t, float64(right)/float64(test.k), test.precision, "one in %d, top %d", test.every, test.k)
	}
}

func TestTracker_steadyReadsGiveTheirRate(t *testing.T) {
	clock := newHands()
	tracker := newTracker(t, all(ways, clock.now))
	for i := range 3000 { // every 10 ms
		tracker.Sample("steady", 7)
		clock.advance(10 * time.Millisecond)
		if i >= 2000 {
			top := tracker.Top(1)
			require.InEpsilon(t, 700, top[0].Rate, 0.005)
			require.Equal(t, top[0].Lower, top[0].Upper)
		}
	}
	at := tracker.Top(1)[0].Rate
	clock.advance(3 * time.Second)
	require.InEpsilon(t, at/8, tracker.Top(1)[0].Rate, 1e-9)
	require.Len(t, tracker.Above(at/8), 1)
	require.Empty(t, tracker.Above(at/8*1.01))
	clock.advance(10 * time.Second)
	require.Empty(t, tracker.Top(1), "less than a read is left")
	clock.advance(100_000 * time.Hour)
	require.Empty(t, tracker.Top(1))

	tracker.Sample("steady", 1)
	top := tracker.Top(1)
	require.Equal(t, clock.Time, top[0].Since, "a key that had faded begins anew")
}

func TestTracker_startsWithinTheWindowsItPromises(t *testing.T) {
	const threshold = 100_000
	for phase := range 10 {
		for _, test := range []struct {
			times float64
			most  time.Duration
		}{{1, 2300 * time.Millisecond}, {2, time.Second}, {10, 200 * time.Millisecond}} {
			clock := newHands()
			tracker := newTracker(t, all(ways, clock.now))
			clock.advance(10*time.Second + time.Duration(phase)*100*time.Millisecond)
			began := clock.Time
			for len(tracker.Above(Margin*threshold)) == 0 {
				tracker.Sample("new", uint64(threshold*test.times/200))
				clock.advance(5 * time.Millisecond)
			}
			require.LessOrEqual(t, clock.Sub(began), test.most, "%v times the threshold", test.times)
		}
	}
}

func TestTracker_timeThatGoesBackForgetsNothing(t *testing.T) {
	clock := newHands()
	tracker := newTracker(t, all(ways, clock.now))
	clock.advance(5 * time.Second)
	tracker.Sample("a", 100)
	clock.advance(-8 * time.Second) // before New
	tracker.Sample("a", 100)
	top := tracker.Top(1)
	require.Equal(t, 200.0, top[0].Lower)
	clock.advance(3*time.Second + math.MaxInt64/2)
	require.Empty(t, tracker.Top(1))
}

func TestTracker_worksInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tracker := newTracker(t, Options{Threshold: 1})
		for range 60 {
			for range 100 {
				tracker.Touch("a")
			}
			time.Sleep(time.Second)
		}
		top := tracker.Top(1)
		require.InEpsilon(t, 100, top[0].Rate, 1e-9)
		require.Equal(t, time.Minute, time.Since(top[0].Since))
	})
}

func TestTouch_samplesOneInEvery(t *testing.T) {
	tracker := newTracker(t, Options{Now: newHands().now})
	require.EqualValues(t, 71, tracker.Every())
	const n = 1_000_000
	for range n {
		tracker.Touch("a")
	}
	p := 1 / 71.0
	require.InDelta(t, n*p, tracker.Stats().Samples, 6*math.Sqrt(n*p*(1-p)))
	require.EqualValues(t, 71*tracker.Stats().Samples, tracker.Top(1)[0].Lower)
}

func TestSample_dropsRatherThanWaits(t *testing.T) {
	tracker := newTracker(t, all(ways, newHands().now))
	tracker.Sample("a", 5)
	tracker.Sample("a", 0) // nothing
	s := &tracker.stripes[0]
	s.mu.Lock()
	tracker.Sample("a", 3)
	tracker.Sample("b", 1)
	s.mu.Unlock()

	stats := tracker.Stats()
	require.EqualValues(t, 1, stats.Samples)
	require.EqualValues(t, 2, stats.Dropped)
	top := tracker.Top(9)
	require.Len(t, top, 1)
	require.Equal(t, 5.0, top[0].Lower)
	require.Equal(t, 9.0, top[0].Upper, "the dropped samples may all have been a's")
}

func TestTracker_boundsHoldAmongManyGoroutines(t *testing.T) {
	tracker := newTracker(t, all(ways, newHands().now))
	const each = 20_000
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range each {
				tracker.Touch("shared")
				tracker.Touch(fmt.Sprint("own-", g, "-", i%40))
				if i%1000 == 0 {
					tracker.Top(3)
					tracker.Stats()
				}
			}
		})
	}
	wg.Wait()
	top := tracker.Top(1)
	require.Equal(t, "shared", top[0].Key)
	require.LessOrEqual(t, top[0].Lower, 4.0*each)
	require.GreaterOrEqual(t, top[0].Upper, 4.0*each)
	s := tracker.Stats()
	require.EqualValues(t, 2*4*each, s.Samples+s.Dropped)
}

func TestTracker_memoryIsBoundedWhateverTheKeys(t *testing.T) {
	tracker := newTracker(t, Options{Counters: 256, MaxKeyLen: 100, Threshold: 1})
	before := heap()
	for i := range 400 {
		request := strings.Repeat(strconv.Itoa(i), 1<<20/len(strconv.Itoa(i)))
		tracker.Touch(request)           // a megabyte
		tracker.Touch(request[7 : 7+90]) // a part of one, which must not keep the rest alive
	}
	require.Less(t, heap()-before, int64(256<<10))
	for _, k := range tracker.Top(1000) {
		require.LessOrEqual(t, len(k.Key), 100)
	}
	runtime.KeepAlive(tracker)
}

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func TestTracker_longKeysAreCountedApart(t *testing.T) {
	tracker := newTracker(t, Options{MaxKeyLen: 4, Threshold: 1, Now: newHands().now})
	tracker.Sample("long-1", 30)
	tracker.Sample("long-2", 20)
	tracker.Sample("four", 10)
	tracker.Sample("", 5)
	top := tracker.Top(9)
	require.Len(t, top, 4)
	require.Equal(t, []string{"long", "long", "four", ""}, []string{top[0].Key, top[1].Key, top[2].Key, top[3].Key})
	require.Equal(t, []bool{true, true, false, false}, []bool{top[0].Truncated, top[1].Truncated, top[2].Truncated, top[3].Truncated})
	require.Equal(t, []float64{30, 20, 10, 5}, []float64{top[0].Lower, top[1].Lower, top[2].Lower, top[3].Lower})
	above := tracker.Above(1)
	require.Len(t, above, 2, "who decides about a key needs all of it")
	require.Equal(t, "four", above[0].Key)
}

func TestTop_redactsAndAboveDoesNot(t *testing.T) {
	var tracker *Tracker
	tracker = newTracker(t, Options{
		Threshold: 1,
		Redact: func(key string) string {
			tracker.Touch(key) // no lock is held
			tracker.Above(0)
			return key[:2] + "…"
		},
	})
	tracker.Touch("secret")
	require.Equal(t, "se…", tracker.Top(1)[0].Key)
	require.Equal(t, "secret", tracker.Above(0)[0].Key)
	require.Zero(t, tracker.Stats().Dropped)
}

func TestTop_listsTheHottestInOrder(t *testing.T) {
	tracker := newTracker(t, Options{Threshold: 1, Now: newHands().now})
	keys := names(500)
	for i, key := range keys {
		tracker.Sample(key, uint64(i/2+1)) // two of each rate
	}
	for _, k := range []int{-1, 0, 1, 7, 64, 500, 501, math.MaxInt} {
		top := tracker.Top(k)
		require.Len(t, top, min(max(k, 0), 500))
		for i, hot := range top {
			pair := keys[498-i/2*2 : 500-i/2*2]
			slices.Sort(pair)
			require.Equal(t, pair[i%2], hot.Key)
		}
	}
}

func TestTracker_nilIsOff(t *testing.T) {
	var tracker *Tracker
	tracker.Touch("a")
	tracker.Sample("a", 1)
	require.Zero(t, tracker.Every())
	require.Empty(t, tracker.Top(1))
	require.Empty(t, tracker.Above(0))
	require.Zero(t, tracker.Stats())
}

func TestSample_doesNotAllocate(t *testing.T) {
	tracker := newTracker(t, Options{})
	keys := names(10_000)
	for _, key := range keys {
		tracker.Sample(key, 1)
	}
	i := 0
	next := func() string { i++; return keys[i%len(keys)] }
	require.Zero(t, testing.AllocsPerRun(10_000, func() { tracker.Touch(next()) }))
	require.Zero(t, testing.AllocsPerRun(10_000, func() { tracker.Sample(next(), 1) }))
}

func TestNew_namesTheOptionItRefuses(t *testing.T) {
	for field, opts := range map[string][]Options{
		"Threshold": {{Threshold: -1}, {Threshold: math.NaN()}, {Threshold: math.Inf(1)}},
		"Window":    {{Window: -1}, {Window: time.Microsecond}, {Window: 25 * time.Hour}},
		"Counters":  {{Counters: -1}, {Counters: mostCounters + 1}},
		"MaxKeyLen": {{MaxKeyLen: -1}},
	} {
		for _, o := range opts {
			tracker, err := New(o)
			require.Nil(t, tracker)
			var refused *OptionError
			require.ErrorAs(t, err, &refused)
			require.Equal(t, field, refused.Field)
			require.ErrorContains(t, err, "hotkeys: option "+field)
		}
	}
}

func TestNew_takesEveryMeaningfulOption(t *testing.T) {
	for _, o := range []Options{
		{},
		{Threshold: 1e-300},
		{Threshold: math.MaxFloat64},
		{Window: time.Millisecond},
		{Window: 24 * time.Hour},
		{Counters: 1},
		{Counters: 65},
		{MaxKeyLen: 1},
	} {
		o.Now = newHands().now // a window of 1 ms would pass on its own
		tracker := newTracker(t, o)
		require.GreaterOrEqual(t, len(tracker.stripes)*ways, o.Counters)
		tracker.Sample("a", tracker.Every())
		top := tracker.Top(1)
		require.Len(t, top, 1, "%+v", o)
		require.False(t, math.IsNaN(top[0].Rate))
	}
}
