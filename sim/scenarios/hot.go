package scenarios

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/earlybird-cache/earlybird/hotkeys"
	"github.com/earlybird-cache/earlybird/sim/estimate"
	"github.com/earlybird-cache/earlybird/xfetch"
)

// Which keys are found hot, on the real tracker.
var hotKeyScenarios = []Scenario{
	{"hot-detection", "Is a hot key found, and no other?",
		"Keys read at a threshold of 5,000 a second, and at half of it, looked at through as few samples as the tracker takes: one window's Poisson count against its limit.",
		playDetection},
	{"hot-summary", "Can a flood of cold keys hide or forge a hot one?",
		"A million reads, Zipf-distributed, all counted by the real tracker: every key above a 64th of its stripe's reads is there, and no lower bound exceeds the truth.",
		playSummary},
	{"hot-flapping", "Does a swinging key flap?",
		"Ten minutes of a key whose rate swings round the threshold: how often it changes state by one threshold alone, and with the tracker's hysteresis.",
		playFlapping},
	{"hot-copies", "How many copies of a key?",
		"A key read 300,000 times a second on 50 instances, before nodes that bear 100,000 reads and have 20,000 of others: kept near for a second or split over as many nodes as it takes. Reads fall on copies at random, and none is over 60 % of its node.",
		playCopies},
}

func playDetection(st *stage) ([]Row, error) {
	const threshold = 5000.0
	q := hotkeys.SampleRate(threshold, second)
	limit := hotkeys.Margin * threshold * q
	n := st.times(2_000_000)
	missed := 0
	for range n {
		if poisson(st.rng, threshold*q) < limit {
			missed++
		}
	}
	forged := estimate.Proportion(0, n, hotkeys.Flagged(threshold/2, threshold, second, q))
	return []Row{
		closed("share of windows that miss a key at the threshold", estimate.Proportion(missed, n, 1-hotkeys.Flagged(threshold, threshold, second, q))),
		closed("share of windows that take a key at half of it for hot", forged),
		steadily(st, threshold),
	}, nil
}

// steadily reads keys at the threshold through a real tracker until its rates have
// settled, and counts those that it does not find.
func steadily(st *stage, threshold float64) Row {
	const keys = 20 // as many as keep counters to themselves
	now := time.Unix(0, 0)
	n, missed := 0, 0
	for range st.times(500) / 10 {
		tracker, err := hotkeys.New(hotkeys.Options{Threshold: threshold, Now: func() time.Time { return now }})
		if err != nil {
			panic(err) // good options
		}
		every := float64(tracker.Every())
		for range 6 {
			for k := range keys {
				for range int(poisson(st.rng, threshold/every)) {
					tracker.Sample("hot:"+strconv.Itoa(k), tracker.Every())
				}
			}
			now = now.Add(second)
		}
		found := len(tracker.Above(hotkeys.Margin * threshold))
		n += keys
		missed += keys - found
	}
	const promised = 1e-3
	bound := promised + 4*math.Sqrt(promised/float64(n))
	return bounded("share of keys at the threshold that the tracker does not find", AtMost, bound, float64(missed)/float64(n))
}

// poisson draws a count of a mean that is not large.
func poisson(rng *rand.Rand, mean float64) (n float64) {
	for v := rng.ExpFloat64(); v < mean; v += rng.ExpFloat64() {
		n++
	}
	return n
}

func playSummary(st *stage) ([]Row, error) {
	now := time.Unix(0, 0)
	tracker, err := hotkeys.New(hotkeys.Options{Now: func() time.Time { return now }, Window: 24 * time.Hour})
	if err != nil {
		return nil, err
	}
	reads := st.times(1_000_000)
	zipf := rand.NewZipf(st.rng, 1.1, 1, 1<<22)
	truth := map[string]float64{}
	for range reads {
		key := strconv.FormatUint(zipf.Uint64(), 36)
		truth[key]++
		tracker.Sample(key, 1)
	}
	perRead := (24 * time.Hour).Seconds() // of the first window, of which nothing has passed
	forged, hidden := 0, 0
	listed := map[string]bool{}
	for _, k := range tracker.Top(1 << 20) {
		listed[k.Key] = true
		if k.Lower*perRead > truth[k.Key]*(1+1e-9) {
			forged++
		}
	}
	floor := tracker.Stats().Floor * perRead
	for key, n := range truth {
		if n > floor && !listed[key] {
			hidden++
		}
	}
	return []Row{
		counted("keys whose lower bound is above the truth", 0, forged),
		counted("keys above the floor that are not listed", 0, hidden),
		bounded("the floor, as a share of the reads by a 2,048th", AtMost, 2, floor/float64(reads)*2048),
	}, nil
}

func playFlapping(st *stage) ([]Row, error) {
	const threshold = 5000.0
	rule := hotkeys.Hysteresis{Threshold: threshold}
	var rows []Row
	for _, c := range []struct {
		period time.Duration
		most   int // changes of state
	}{
		{2 * second, 1},
		{7 * second, 1}, // hot, and it stays so
		{20 * second, 2 * int(10*minute/(30*second))}, // long enough to cool, but not within the dwell
	} {
		bare, kept := swing(st, rule, c.period)
		of := fmt.Sprintf(", swinging every %v", c.period)
		rows = append(rows,
			bounded("changes of state by a threshold alone"+of, AtLeast, 2*float64(10*minute/c.period), float64(bare)),
			bounded("changes of state with hysteresis"+of, AtMost, float64(c.most), float64(kept)))
	}
	return rows, nil
}

// swing plays ten minutes of a rate between a fifth of the threshold and a fifth
// above it, looked at ten times a second, and counts the changes of state: by the
// tracker's limit alone, and by the rule.
func swing(st *stage, rule hotkeys.Hysteresis, period time.Duration) (bare, kept int) {
	var s hotkeys.Standing
	above := false
	for now := time.Duration(0); now < 10*minute; now += 100 * time.Millisecond {
		rate := rule.Threshold * (0.7 + 0.5*math.Sin(2*math.Pi*now.Seconds()/period.Seconds()) + 0.03*st.rng.NormFloat64())
		if is := rate >= hotkeys.Margin*rule.Threshold; is != above {
			above = is
			bare++
		}
		next := rule.Next(s, rate, now)
		if next.Hot != s.Hot {
			kept++
		}
		s = next
	}
	return bare, kept
}

func playCopies(st *stage) ([]Row, error) {
	const rate, instances, node, other = 300_000.0, 50, 100_000.0, 20_000.0
	shared := xfetch.SharedReads(rate, instances, second)
	copies := xfetch.Copies(rate, node, other)
	perCopy := make([]int, copies)
	n := st.times(3_000_000)
	for range n {
		perCopy[st.rng.IntN(copies)]++
	}
	most := 0.0
	for _, reads := range perCopy {
		most = max(most, float64(reads)/float64(n)*rate+other)
	}
	kept := keptNear(st, rate, instances, second)
	return []Row{
		closedBy("reads a second of the shared tier, kept near for a second", kept, shared),
		counted("copies of the key, kept near for a second", 1, xfetch.Copies(shared, node, other)),
		counted("copies of the key without that", int(math.Ceil(rate/(0.6*node-other))), copies),
		bounded("reads a second of the busiest node, split", AtMost, 1.01*0.6*node, most),
	}, nil
}

// keptNear plays instances that keep a key for a while after each read of the
// shared tier.
func keptNear(st *stage, rate float64, instances int, l1 time.Duration) estimate.Estimate {
	wait := float64(instances) / rate
	var cycle estimate.Sample
	for range st.times(1_000_000) {
		cycle.Add(l1.Seconds() + wait*st.rng.ExpFloat64())
	}
	mean := float64(instances) / cycle.Mean()
	return estimate.Estimate{Observed: mean, StdErr: mean * cycle.StdErr() / cycle.Mean()}
}
