package xfetch

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// generations plays a key whose entries learn the rate of their readers as a
// cache can let them at no cost to a hit. An entry is quiet, no read does more
// than compare an instant, until it listens. Reads then count until Enough were
// seen, and the entry is quiet again until its window opens; or until one of
// them starts a refresh. The heir gets the count and the time it took.
type generations struct {
	rng  *rand.Rand
	rule Rule
	rate func(now time.Duration) float64 // per second, at most peak
	peak float64
	life time.Duration
	load time.Duration // what each takes
	near time.Duration // between a start and its being known

	now   time.Duration
	reads Reads
	cost  Cost

	loads, late, gap mean
	counted          mean // reads per generation that were not quiet outside the window
}

// next plays an entry from when it is written to when the next one is.
func (g *generations) next() {
	g.cost = g.cost.After(g.load)
	aim := g.rule.Aim(Known{g.cost, g.reads.Reliable(), g.near}, 1, g.life)
	expiry := g.now + g.life
	opens := expiry - min(g.life, aim.Window())
	listens := expiry - max(g.rule.Listening(aim, g.life), min(g.life, aim.Window()))

	g.now = listens
	seen, span := g.listen(listens, opens)
	started := g.refresh(aim, expiry, listens, &seen, &span)
	g.reads = g.reads.After(seen, span)
	g.late.addBool(expiry-started < g.cost.Lead())
	g.gap.add((expiry - started).Seconds())
	g.loads.add(float64(1 + g.others(aim, expiry, started)))
	g.now = started + g.load
}

// listen counts reads until there are enough or the window opens.
func (g *generations) listen(from, opens time.Duration) (seen int, span time.Duration) {
	for g.now < opens {
		if g.read(); g.now >= opens {
			g.now = opens
			break
		}
		if seen++; seen == Enough {
			span = g.now - from
			g.now = opens
		}
	}
	g.counted.add(float64(seen))
	return seen, span
}

// refresh draws for each read until one is due.
func (g *generations) refresh(aim Aim, expiry, listens time.Duration, seen *int, span *time.Duration) time.Duration {
	for {
		g.read()
		if *seen < Enough {
			*seen++
			*span = min(g.now, expiry) - listens
		}
		if aim.Due(expiry-g.now, g.rng.Float64()) {
			return g.now
		}
	}
}

// others counts who else starts while nobody knows.
func (g *generations) others(aim Aim, expiry, started time.Duration) (n int) {
	for g.now = started; ; {
		if g.read(); g.now >= started+g.near {
			return n
		}
		if aim.Due(expiry-g.now, g.rng.Float64()) {
			n++
		}
	}
}

// read goes to the next read, of a Poisson stream with a rate that may change.
func (g *generations) read() {
	for {
		g.now += max(1, time.Duration(g.rng.ExpFloat64()/g.peak*1e9))
		if g.rng.Float64()*g.peak < g.rate(g.now) {
			return
		}
	}
}

// minuteOf100ms is a key whose entries live a minute and take 100 ms to load, with
// a lease that takes a millisecond.
func minuteOf100ms(rng *rand.Rand, rule Rule, rate func(time.Duration) float64, peak float64) *generations {
	return &generations{
		rng: rng, rule: rule, rate: rate, peak: peak,
		life: time.Minute, load: 100 * time.Millisecond, near: time.Millisecond,
	}
}

// loadRate is the loads per life, counted in time.
func (g *generations) loadRate() float64 {
	return g.loads.sum * float64(g.life) / float64(g.now)
}

func TestDeadline_generationsLearnTheirRate(t *testing.T) {
	const n = 3000
	rng := seeded(t)
	for _, row := range []struct{ rate, late, loads float64 }{
		{0.1, 0.224, 1.12}, // bound by Reach: e^{-(rs+r(15s-d))} are late
		{1, 0, 1.33},       // likewise: the aim lies at three quarters of the life
		{10, 0, 1.08},
		{100, 0, 1.03},
		{1000, 0, 1.025},
	} {
		g := minuteOf100ms(rng, Deadline, steady(row.rate), row.rate)
		for range n {
			g.next()
		}
		// The first generation knows nothing and is classic.
		g.late.requireNear(t, row.late, "late, rate %v", row.rate)
		require.Less(t, g.loadRate(), row.loads, "loads per life, rate %v", row.rate)
		require.Less(t, g.loads.value(), 1.02, "loads per expiry, rate %v", row.rate)
		require.LessOrEqual(t, g.counted.value(), float64(Enough), "reads that count, rate %v", row.rate)
	}
}

// What the classic rule does with the same keys.
func TestClassic_isLateBelowADozenReadsPerLoad(t *testing.T) {
	rng := seeded(t)
	for rate, late := range map[float64]float64{1: 0.964, 10: 0.692, 100: 0.0252} {
		g := minuteOf100ms(rng, Classic, steady(rate), rate)
		for range 3000 {
			g.next()
		}
		// The lead of a new key counts half a load of deviation, for a while.
		require.InDelta(t, late, g.late.value(), 0.05, "rate %v", rate)
	}
}

// Rates move. What was seen is used a life later and counts half two lives later,
// so a fall surprises for one generation, and caution takes a fourfold one.
func TestDeadline_staysInTimeWhileRatesMove(t *testing.T) {
	rng := seeded(t)
	day := func(now time.Duration) float64 { // of twenty lives, from 10 to 190 a second
		return 100 * (1 + 0.9*math.Sin(2*math.Pi*now.Minutes()/20))
	}
	g := minuteOf100ms(rng, Deadline, day, 190)
	for range 3000 {
		g.next()
	}
	require.Less(t, g.late.value(), 0.003)
	require.Less(t, g.loadRate(), 1.04)

	cliff := func(now time.Duration) float64 { // 100 for five minutes, then 5
		return 100 - 95*math.Mod(math.Floor(now.Minutes()/5), 2)
	}
	g = minuteOf100ms(rng, Deadline, cliff, 100)
	for range 3000 {
		g.next()
	}
	require.Less(t, g.late.value(), 0.02, "at most one in ten generations can be surprised")
	require.Less(t, g.loadRate(), 1.1)
}

// steady is a rate that does not change.
func steady(rate float64) func(time.Duration) float64 {
	return func(time.Duration) float64 { return rate }
}
