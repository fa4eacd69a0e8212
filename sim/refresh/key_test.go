package refresh

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird/xfetch"
)

// everyRead plays a key in the plainest way: each read is drawn and asked,
// nothing is skipped, and time never starts anew. It returns loads and gaps in
// seconds by expiry.
func everyRead(s Setup, coalesce bool, rng *rand.Rand) (loads, gaps sample) {
	type running struct {
		end, generation float64
		instance        int
	}
	var (
		now, expiry, generation = 0.0, s.TTL.Seconds(), 0.0
		inFlight                []running
		started                 int
		gap                     float64
	)
	for loads.n < s.Expiries {
		now += rng.ExpFloat64() / s.Rate
		for len(inFlight) > 0 && inFlight[0].end <= now {
			done := inFlight[0]
			inFlight = inFlight[1:]
			expiry = done.end + s.TTL.Seconds()
			if done.generation == generation {
				loads.add(float64(started))
				gaps.add(gap)
				generation, started = generation+1, 0
			}
		}
		left := expiry - now
		if !xfetch.Due(time.Duration(left*float64(time.Second)), s.scale(), rng.Float64()) {
			continue
		}
		instance, busy := rng.IntN(s.Instances), false
		for _, l := range inFlight {
			busy = busy || l.instance == instance
		}
		if busy && coalesce {
			continue
		}
		if started++; started == 1 {
			gap = left
		}
		inFlight = append(inFlight, running{now + s.Delta.Seconds(), generation, instance})
	}
	return loads, gaps
}

// TestKey_skipsNothingThatMatters compares the banded engine with one that plays
// every read, also where lives are so short that no closed form holds.
func TestKey_skipsNothingThatMatters(t *testing.T) {
	for name, s := range map[string]Setup{
		"ordinary": {Rate: 5, TTL: 20 * time.Second, Beta: 1, Instances: 3, Expiries: 5000},
		"eager":    {Rate: 20, TTL: 20 * time.Second, Beta: 3, Instances: 50, Expiries: 1500},
		"shy":      {Rate: 20, TTL: 5 * time.Second, Beta: 0.2, Instances: 4, Expiries: 5000},
		"short":    {Rate: 10, TTL: 2 * time.Second, Beta: 1, Instances: 4, Expiries: 20_000},
		"shortest": {Rate: 10, TTL: time.Second, Beta: 2, Instances: 4, Expiries: 20_000},
		"cold":     {Rate: 0.05, TTL: 3 * time.Second, Beta: 1, Instances: 2, Expiries: 20_000},
	} {
		s.Delta = time.Second
		for _, coordination := range []string{None, Singleflight} {
			t.Run(name+" "+coordination, func(t *testing.T) {
				coalesce := coordination == Singleflight
				loads, gaps := everyRead(s, coalesce, rand.New(rand.NewPCG(1, 1)))
				got := watch(s, coordination, rand.New(rand.NewPCG(2, 2)))
				requireSame(t, "loads", loads.alone(), got.Mean)
				requireSame(t, "gap", gaps.alone(), got.Gap)
			})
		}
	}
}

func requireSame(t *testing.T, name string, a, b Estimate) {
	t.Helper()
	z := distance(a.Observed-b.Observed, math.Hypot(a.StdErr, b.StdErr))
	require.LessOrEqual(t, math.Abs(z), 4.0, "%s: %+v, %+v", name, a, b)
}

// Bands end where rounding puts them; whatever that is, time must go on.
func TestKey_bandsAlwaysAdvance(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 0))
	for range 5000 {
		s := Setup{
			TTL:   minTime + time.Duration(rng.Int64N(int64(maxTTL))),
			Delta: minTime + time.Duration(rng.Int64N(int64(time.Second))>>rng.IntN(20)),
			Beta:  1,
		}
		k := newKey(s, false, rng)
		k.expiry += rng.Float64()
		for k.now < k.expiry {
			end, share := k.band()
			if end <= k.now || end > k.expiry || share < 0 || share > 1 {
				t.Fatalf("band from %v to %v with share %v, expiry %v, of %+v", k.now, end, share, k.expiry, s)
			}
			k.now = end
		}
	}
}

func TestKey_coalescesWithinAnInstanceOnly(t *testing.T) {
	s := hot(1000, 0.2) // e^5 would load
	s.Instances, s.Expiries = 3, 500
	sizes := watch(s, Singleflight, rand.New(rand.NewPCG(1, 2))).Sizes
	require.Len(t, sizes, 3, "at most one load in each instance, and at times one in each")
}
