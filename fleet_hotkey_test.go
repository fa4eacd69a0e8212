package earlybird_test

import (
	"fmt"
	"math"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird"
	"github.com/earlybird-cache/earlybird/internal/redistest"
	"github.com/earlybird-cache/earlybird/internal/standstill"
	"github.com/earlybird-cache/earlybird/xfetch"
)

// instancesOfACrowd is how many read one key.
const instancesOfACrowd = 50

// A key that 50 instances read all the time costs its origin one load in each of
// its lives, and nobody waits for it.
func TestFleet_hotKeyIsLoadedOncePerLife(t *testing.T) {
	onEach(t, func(t *testing.T, servers []*redistest.Server) {
		h := &hotKey{ttl: time.Second, delay: 30 * time.Millisecond, every: 20 * time.Millisecond}
		h.run(t, servers, soaked(6, 50))
	})
}

type hotKey struct {
	ttl, delay time.Duration
	every      time.Duration // each instance reads
	version    atomic.Int64
}

func (h *hotKey) run(t *testing.T, servers []*redistest.Server, lives int) {
	var starts []time.Time // of loads, which never come two at once
	f := start(t, instancesOfACrowd, func(string) (string, error) {
		starts = append(starts, time.Now())
		return strconv.FormatInt(h.version.Add(1), 10), nil
	}, earlybird.Options[string]{TTL: h.ttl, NearTTL: h.ttl / 3, LoadTimeout: time.Minute, MaxWait: time.Minute}, patient[string](addrs(servers)...))
	f.delay = h.delay
	get(t, f.caches[0], "hot")

	stop := make(chan struct{})
	var readers sync.WaitGroup
	var reads atomic.Int64
	for _, c := range f.caches {
		get(t, c, "hot")
		readers.Go(func() {
			seen := 0
			for tick := time.NewTicker(h.every); ; <-tick.C {
				select {
				case <-stop:
					tick.Stop()
					return
				default:
				}
				v, err := strconv.Atoi(get(t, c, "hot"))
				require.NoError(t, err)
				require.GreaterOrEqual(t, v, seen, "an instance never goes back")
				seen = v
				reads.Add(1)
			}
		})
	}
	before, began, watch := reads.Load(), time.Now(), standstill.Begin()
	eventually(t, func() error {
		if n := f.loads.Load(); n <= int64(lives) {
			return fmt.Errorf("%d loads", n)
		}
		return nil
	})
	paused := watch.Longest()
	rate := float64(reads.Load()-before) / time.Since(began).Seconds()
	close(stop)
	readers.Wait()

	s, mean := f.stats(), time.Duration(0)
	require.EqualValues(t, 1, f.most.Load(), "never two loads at once")
	eventually(t, func() error { // the last one may be on its way
		if s = f.stats(); s.Store.Publishes.Done != s.Loads {
			return fmt.Errorf("%d loads, %d published, %d unleased, %d lost, %d tier errors, %d denied, %d waited", s.Loads, s.Store.Publishes.Done, s.Unleased, s.Lost, s.TierErrors, s.Denied, s.Waited)
		}
		return nil
	})
	require.Zero(t, s.Unleased+s.Lost+s.TierErrors)
	mean = s.LoadTime / time.Duration(s.Loads)

	// How much earlier than need be a refresh begins, on average. Of few lives the mean
	// is a matter of chance, as is the jitter's: four deviations of it are let pass.
	gap := xfetch.Law{Rate: rate, Scale: mean}.ExpectedGap()
	lives = len(starts) - 1
	perTTL := float64(lives) * h.ttl.Seconds() / starts[lives].Sub(starts[0]).Seconds()
	deviation := math.Hypot(0.1/math.Sqrt(12), 1.29*mean.Seconds()/h.ttl.Seconds()) / math.Sqrt(float64(lives))
	most := 1 / (1 - 0.1/2 - gap.Seconds()/h.ttl.Seconds() - 4*deviation)
	t.Logf("%d lives at %.0f reads/s: %.3f loads per TTL of at most %.3f; loads of %v begin %v early; %d denied, %d adopted, standstill %v",
		lives, rate, perTTL, most, mean, gap, s.Denied, s.Adopted, paused)
	if paused > (gap-mean)/2 { // then nobody read while it was time to refresh, or a load took long
		t.Log("the machine stood still for too long to see when refreshes begin, and whether readers wait")
		return
	}
	require.LessOrEqual(t, perTTL, most)
	require.EqualValues(t, 1, s.Episodes, "after the first load nobody finds nothing")
}

// 200 readers of a cold key on 50 instances cost one load, and have its value as
// soon as it is there.
func TestFleet_coldCrowdLoadsOnce(t *testing.T) {
	onEach(t, func(t *testing.T, servers []*redistest.Server) {
		const atOnce = 100 * time.Millisecond
		var loaded atomic.Int64 // when, ns
		opts := earlybird.Options[string]{LoadTimeout: time.Minute, MaxWait: time.Minute}
		f := start(t, instancesOfACrowd, named, opts, patient[string](addrs(servers)...))
		f.delay = 50 * time.Millisecond
		value := f.value
		f.value = func(key string) (string, error) {
			loaded.Store(time.Now().Add(f.delay).UnixNano())
			return value(key)
		}
		// How soon is a matter of the machine, too: one round in time will do.
		quickest := time.Hour
		for round := 0; round < 5 || quickest > atOnce && round < 20; round++ {
			key := fmt.Sprint("cold", round)
			woken := make([]time.Duration, 200)
			var crowd sync.WaitGroup
			for i := range woken {
				crowd.Go(func() {
					require.Equal(t, "value of "+key, get(t, f.caches[i%instancesOfACrowd], key))
					woken[i] = time.Duration(time.Now().UnixNano() - loaded.Load())
				})
			}
			crowd.Wait()
			require.Equal(t, 1, f.loadsOf(key))
			quickest = min(quickest, median(woken))
		}
		t.Logf("half of the readers had the value %v after the loader had it", quickest)
		require.Less(t, quickest, atOnce)
		require.Zero(t, f.stats().Unleased)
	})
}

// What another instance has loaded costs two commands in one write, and no script.
func TestFleet_sharedHitIsOneRoundTrip(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	f := start(t, 2, named, earlybird.Options[string]{}, patient[string](server.Addr))
	keys := make([]string, 100)
	for i := range keys {
		keys[i] = fmt.Sprint("key", i)
		get(t, f.caches[0], keys[i])
	}
	commands := func(f func()) map[string]int {
		server.Do("CONFIG", "RESETSTAT")
		f()
		calls := server.Calls()
		for name, n := range calls {
			if n < 25 { // nothing that 50 keys cost, but what the bus and connections need now and then
				delete(calls, name)
			}
		}
		return calls
	}
	require.Equal(t, map[string]int{"pttl": 50, "mget": 50}, commands(func() {
		for _, key := range keys[:50] {
			require.Equal(t, earlybird.Shared, lookup(t, f.caches[1], key).State)
		}
	}))
	require.Equal(t, map[string]int{"pttl": 50, "mget": 50}, commands(func() {
		values, err := f.caches[1].GetMany(t.Context(), keys[50:])
		require.NoError(t, err)
		require.Len(t, values, 50)
	}))
	require.Empty(t, commands(func() {
		for _, key := range keys {
			require.Equal(t, earlybird.Fresh, lookup(t, f.caches[1], key).State)
		}
	}))
	require.EqualValues(t, 100, f.loads.Load())
}
