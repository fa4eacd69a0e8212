package scenarios

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/earlybird-cache/earlybird"
	"github.com/earlybird-cache/earlybird/bloom"
	"github.com/earlybird-cache/earlybird/sim/estimate"
)

// What the guard lets through, on the real one.
var guardScenarios = []Scenario{
	{"bloom-size", "How large is a Bloom filter?",
		"The guard as it sizes itself, m = -n ln ε/(ln 2)² bits and k = (m/n) ln 2 probes, and the share of absent ids that its filter takes for known, filled to its design and beyond: past it the share climbs steeply. From half as much again the guard fails open, and the share is that of the bits that are set.",
		playBloomSize},
	{"bloom-leak", "What does a flood of random ids cost the origin?",
		"A million ids that do not exist, each asked once, pass at the guard's rate and raise no alarm.",
		playLeak},
	{"bloom-replay", "And ids that are known to pass?",
		"An attacker who has found ids that pass the guard asks for them 1,000 times a second, before the real cache in virtual time. Remembered absences bound what reaches the origin as long as they have room, and the guard raises its alarm.",
		playReplay},
}

// absent is an id that no guard was told of.
func absent(i int) string { return "absent:" + strconv.Itoa(i) }

// known lists n ids from first on.
func known(first, n int) func(func(string, error) bool) {
	return func(yield func(string, error) bool) {
		for i := range n {
			if !yield("known:"+strconv.Itoa(first+i), nil) {
				return
			}
		}
	}
}

// filled builds a guard that is designed for some ids and holds others.
func filled(design, ids int, rate float64) (*bloom.Guard, error) {
	opts := bloom.Options{FalsePositiveRate: rate, Expected: design}
	guard, err := bloom.New(opts)
	if err != nil {
		return nil, err
	}
	built := min(ids, design*2/3) // a build makes room for half as many again as it finds
	if err := guard.Build(context.Background(), known(0, built)); err != nil {
		return nil, err
	}
	for id := range known(built, ids-built) {
		guard.Add(id)
	}
	return restarted(guard, opts)
}

// restarted saves a guard and loads it. That brings the newest ids, which a guard
// keeps apart and exactly, into the filter.
func restarted(guard *bloom.Guard, opts bloom.Options) (*bloom.Guard, error) {
	var file bytes.Buffer
	if _, err := guard.WriteTo(&file); err != nil {
		return nil, err
	}
	fresh, err := bloom.New(opts)
	if err == nil {
		_, err = fresh.Load(context.Background(), &file, nil)
	}
	return fresh, err
}

func playBloomSize(st *stage) ([]Row, error) {
	const n = 30_000
	var rows []Row
	for _, rate := range []float64{1e-2, 1e-3} {
		of, bits := fmt.Sprintf(", ε = %g", rate), -math.Log(rate)/math.Ln2/math.Ln2
		for _, over := range []float64{1, 1.25, 1.49, 2, 3} {
			guard, err := filled(n, int(over*n), rate)
			if err != nil {
				return nil, err
			}
			stats := guard.Stats()
			if over == 1 {
				rows = append(rows,
					bounded("bits per id of the design"+of, AtMost, 1.01*bits, float64(stats.Bits)/float64(stats.Capacity)),
					counted("probes"+of, int(math.Round(bits*math.Ln2)), stats.Hashes))
			}
			rows = append(rows,
				passing(st, guard, int(over*n), fmt.Sprintf("absent ids taken for known%s, %g times its design", of, over)),
				counted(fmt.Sprintf("fails open%s, %g times its design", of, over), one(over > 1.5), one(stats.State == bloom.Saturated)))
		}
	}
	return rows, nil
}

// passing asks the guard for ids that it was never told. One that fails open has no
// answer: the share of bits set in its filter has, to the power of the probes.
func passing(st *stage, guard *bloom.Guard, ids int, figure string) Row {
	stats := guard.Stats()
	theory, spread := falsePositives(stats, ids)
	if stats.State != bloom.Ready {
		share := math.Pow(stats.Fill, float64(stats.Hashes))
		return closedBy(figure, estimate.Estimate{Observed: share, StdErr: spread}, theory)
	}
	n, passed := st.times(400_000), 0
	for range n {
		if guard.MayContain(absent(st.rng.Int())) {
			passed++
		}
	}
	e := estimate.Proportion(passed, n, theory)
	return closedBy(figure, estimate.Estimate{Observed: e.Observed, StdErr: math.Hypot(e.StdErr, spread)}, theory)
}

// falsePositives is the share of absent ids that a filter with so many ids takes for
// known, (1-e^{-kn/m})^k, and its standard deviation from one filter to the next.
func falsePositives(f bloom.Stats, ids int) (share, spread float64) {
	k, m := float64(f.Hashes), float64(f.Bits)
	set := -math.Expm1(-k * float64(ids) / m) // of the bits
	share = math.Pow(set, k)
	return share, k * share * math.Sqrt((1-set)/set/m)
}

// one is 1 for a yes.
func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

func playLeak(st *stage) ([]Row, error) {
	const ids, rate = 100_000, 1e-3
	guard, err := filled(ids, ids, rate)
	if err != nil {
		return nil, err
	}
	n := max(20_000, st.times(1_000_000))
	for i := range n {
		if id := absent(i); guard.MayContain(id) {
			guard.ReportAbsent(id)
		}
	}
	stats := guard.Stats()
	theory, spread := falsePositives(stats, ids)
	passed := estimate.Proportion(int(stats.PassedAbsent), n, theory)
	passed.StdErr = math.Hypot(passed.StdErr, spread)
	return []Row{
		closedBy("share of random absent ids that reach the origin", passed, theory),
		bounded("the same by what the guard was designed for", AtMost, 1+0.2*math.Sqrt(1e6/float64(n)), passed.Observed/rate),
		counted("alarms", 0, one(stats.Alarm)),
	}, nil
}

// playReplay: of F ids that pass, remembered for τ, F/τ a second reach the origin as
// long as there is room for all; with room for fewer, R(1-room/F) of R requests.
func playReplay(st *stage) ([]Row, error) {
	const rate, life, room = 1000, 30 * second, 1000
	play := time.Duration(float64(10*minute) * min(1, max(st.Effort, 0.1)))
	few, fewAlarms, err := replay(st, 500, room, rate, life, play)
	if err != nil {
		return nil, err
	}
	many, manyAlarms, err := replay(st, 4000, room, rate, life, play)
	perSecond := 1 / play.Seconds()
	return []Row{
		// All are asked within some seconds, and then as their absences end.
		bounded("loads a second, 500 ids, room for 1000 absences", AtMost, 500/life.Seconds(), float64(few)*perSecond),
		counted("alarms, 500 ids, room for 1000 absences", 1, fewAlarms),
		// Absences make room for others by a policy, not at random, and end besides:
		// some percent either way.
		bounded("loads a second, 4000 ids, room for 1000 absences", AtLeast, 0.9*rate*(1-room/4000.0), float64(many)*perSecond),
		bounded("loads a second, 4000 ids, room for 1000 absences", AtMost, 1.1*rate*(1-room/4000.0), float64(many)*perSecond),
		counted("alarms, 4000 ids, room for 1000 absences", 1, manyAlarms),
	}, err
}

// replay asks the real cache for ids that pass its guard, over and over, at random.
func replay(st *stage, ids, room, rate int, life, play time.Duration) (leaked, alarm int, err error) {
	guard, err := filled(30_000, 30_000, 1e-2)
	if err != nil {
		return 0, 0, err
	}
	var passing []string
	for i := 0; len(passing) < ids; i++ {
		if id := absent(i); guard.MayContain(id) {
			passing = append(passing, id)
		}
	}
	broken := st.Runner.Run(func() {
		load := func(context.Context, string) (string, error) {
			leaked++
			return "", earlybird.ErrNotFound
		}
		var cache *earlybird.Cache[string]
		cache, err = earlybird.New(load, earlybird.Options[string]{
			TTL: minute, NegativeTTL: life, MaxNegatives: room, Jitter: earlybird.Off,
			Guard: guard, Now: time.Now, Rand: st.rng.Float64,
		})
		if err != nil {
			return
		}
		defer cache.Close()
		for end := time.Now().Add(play); time.Now().Before(end); time.Sleep(second / time.Duration(rate)) {
			cache.Get(context.Background(), passing[st.rng.IntN(len(passing))])
		}
	})
	if broken != nil {
		err = broken
	}
	return leaked, one(guard.Stats().Alarm), err
}
