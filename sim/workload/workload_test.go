package workload

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird/keyshape"
	"github.com/earlybird-cache/earlybird/sim/trace"
)

var mix = Mix{Seed: 7, Rate: 1000, Hostile: 0.2}

func TestRequests_sameSeedSameStream(t *testing.T) {
	first := slices.Collect(small(mix).Requests())
	require.Equal(t, first, slices.Collect(small(mix).Requests()), "another stream of the same mix")

	s := small(mix)
	for range s.Requests() {
		break
	}
	require.Equal(t, first, slices.Collect(s.Requests()), "a stream that was begun before")

	other := mix
	other.Seed++
	require.NotEqual(t, first, slices.Collect(small(other).Requests()))
}

func TestRequests_arriveAtTheRateInOrder(t *testing.T) {
	requests := slices.Collect(small(mix).Requests())
	last := requests[len(requests)-1].At
	require.InEpsilon(t, float64(len(requests))/mix.Rate, last.Seconds(), 0.05)
	require.True(t, slices.IsSortedFunc(requests, func(a, b Request) int { return int(a.At - b.At) }))
}

func TestRequests_oneFlushHalfWay(t *testing.T) {
	s := small(mix)
	before, after, flushes := 0, 0, 0
	for r := range s.Requests() {
		if r.Flush {
			flushes++
		}
		switch {
		case !s.Population.Exists(r.Key):
		case flushes == 0:
			before++
		default:
			after++
		}
	}
	require.Equal(t, 1, flushes)
	require.Equal(t, before, after)
}

func TestRequests_hostileShare(t *testing.T) {
	c := small(mix).Census()
	require.Equal(t, 20_000, c.Customers)
	require.Equal(t, c.Requests, c.Customers+c.Malformed+c.Absent)
	hostile := float64(c.Malformed + c.Absent)
	require.InDelta(t, 0.2, hostile/float64(c.Requests), 0.01)
	require.InDelta(t, 0.5, float64(c.Malformed)/hostile, 0.03)
	require.Greater(t, c.AbsentIDs, c.Absent/2, "half of the absent keys are new each time")
	require.Less(t, c.AbsentIDs, c.Absent, "the others come again")

	none := mix
	none.Hostile = 0
	c = small(none).Census()
	require.Equal(t, 20_000, c.Requests)
	require.Zero(t, c.Malformed+c.Absent)
}

func TestRequests_popularityIsZipf(t *testing.T) {
	const n = 200_000
	p := Catalogue(1000, 1)
	counts := make([]int, len(p.Keys()))
	for r := range Zipf(p, 0.8, n, Mix{Seed: 3, Rate: 1000}).Requests() {
		number, exists := p.Number(r.Key)
		require.True(t, exists)
		counts[number]++
	}
	sum := 0.0
	for rank := 1; rank <= len(counts); rank++ {
		sum += math.Pow(float64(rank), -0.8)
	}
	for _, rank := range []int{1, 2, 3, 10, 100, 1000} {
		want := n * math.Pow(float64(rank), -0.8) / sum
		require.InDelta(t, want, float64(counts[rank-1]), 5*math.Sqrt(want), "rank %d", rank)
	}
}

func TestReplay_customersAreTheTrace(t *testing.T) {
	tr, err := trace.Read(strings.NewReader("b\na\nb\nc\nb\na\n"), trace.DefaultLimits)
	require.NoError(t, err)
	s := Replay(tr, Mix{Seed: 1, Rate: 10, Hostile: 0.5})
	var customers []string
	for r := range s.Requests() {
		if s.Population.Exists(r.Key) {
			customers = append(customers, r.Key)
		}
	}
	require.Equal(t, []string{"b", "a", "b", "c", "b", "a"}, customers)
}

func TestCatalogue_idsSayNothingOfPopularity(t *testing.T) {
	p := Catalogue(5000, 1)
	require.Len(t, p.Keys(), 5000)
	require.True(t, all(p.Keys(), p.Shapes().Match))
	distinct := map[string]bool{}
	for _, key := range p.Keys() {
		distinct[key] = true
	}
	require.Len(t, distinct, 5000)
	require.False(t, slices.IsSorted(p.Keys()))
	require.NotEqual(t, p.Keys(), Catalogue(5000, 2).Keys())
}

func TestFromKeys_strictestShapeThatFits(t *testing.T) {
	for pattern, keys := range map[string][]string{
		"{uint}": {"0", "7", "18446744073709551615"},
		"{slug}": {"0", "red-shoe", "007"},
		"":       {"0", "red shoe"},
	} {
		p := FromKeys(keys)
		require.Equal(t, pattern, p.Pattern())
		require.True(t, all(keys, p.Shapes().Match))
	}
}

// Whatever the population looks like, strangers' keys do not exist, and where it has
// a shape the malformed ones are told apart by it and the absent ones are not.
func TestStrangers_keysAreWhatTheyClaim(t *testing.T) {
	populations := map[string]*Population{
		"catalogue": Catalogue(100, 1),
		"one":       Catalogue(1, 1),
		"integers":  FromKeys([]string{"0", "1", "2", "3", "500"}),
		"slugs":     FromKeys([]string{"a", "b-c", "no-such-1", "no-such-2"}),
		"anything":  FromKeys([]string{"a b", "a b'", "../../a b", " a b", "no such key 1"}),
	}
	for name, p := range populations {
		t.Run(name, func(t *testing.T) {
			const seed = 11
			rng := rand.New(rand.NewPCG(seed, 0))
			s := newStrangers(p, rng)
			for range 2000 {
				absent, malformed := s.absent(rng, 1<<62), s.malformed(rng)
				require.False(t, p.Exists(absent), "%q, seed %d", absent, seed)
				require.False(t, p.Exists(malformed), "%q, seed %d", malformed, seed)
				require.True(t, p.Shapes().Match(absent), "%q, seed %d", absent, seed)
				if p.Shapes() != nil {
					require.False(t, p.Shapes().Match(malformed), "%q, seed %d", malformed, seed)
				}
			}
			for _, pooled := range s.pool {
				require.False(t, p.Exists(pooled))
				require.True(t, p.Shapes().Match(pooled))
			}
		})
	}
}

func TestPopulation_patternsCompile(t *testing.T) {
	for _, f := range []family{products, integers, slugs} {
		shapes, err := keyshape.Compile(f.pattern)
		require.NoError(t, err)
		require.True(t, shapes.Match(f.spell(1<<62)), f.pattern)
	}
}

func small(m Mix) *Stream { return Zipf(Catalogue(500, m.Seed), 1, 20_000, m) }

func TestCrowd_firstProductHasItsShare(t *testing.T) {
	p := Catalogue(11, 1)
	counts := map[string]int{}
	for r := range Crowd(p, 0.9, 20_000, Mix{Seed: 1, Rate: 1000}).Requests() {
		counts[r.Key]++
	}
	require.InDelta(t, 18_000, counts[p.Keys()[0]], 300)
	for _, key := range p.Keys()[1:] {
		require.InDelta(t, 200, counts[key], 80)
	}
	for r := range Crowd(Catalogue(1, 1), 0, 10, Mix{Seed: 1, Rate: 1000}).Requests() {
		require.Equal(t, Catalogue(1, 1).Keys()[0], r.Key)
	}
}
