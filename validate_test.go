package earlybird

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestValidate_keepsBadValuesOutAndBacksOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bad := errors.New("corrupt")
		var calls atomic.Int64
		var fixed atomic.Bool
		opts := plain[string](time.Minute)
		opts.Validate = func(_, v string) error {
			if v == "bad" {
				return bad
			}
			return nil
		}
		c := newTidy(t, func(context.Context, string) (string, error) {
			calls.Add(1)
			if fixed.Load() {
				return "good", nil
			}
			return "bad", nil
		}, opts)
		// A thousand clients a second, for ten seconds.
		for range 10_000 {
			_, err := c.Get(t.Context(), "k")
			require.ErrorIs(t, err, bad)
			var ie *InvalidError
			require.ErrorAs(t, err, &ie)
			time.Sleep(time.Millisecond)
		}
		require.LessOrEqual(t, calls.Load(), int64(10))
		fixed.Store(true)
		n := c.negative("k", c.clock.now())
		time.Sleep(time.Duration(n.expiry - c.clock.now()))
		require.Equal(t, "good", mustGet(t, c, "k"))

		time.Sleep(2 * time.Minute)
		fixed.Store(false)
		_, err := c.Get(t.Context(), "k")
		require.ErrorIs(t, err, bad)
	})
}

func TestValidate_badRefreshKeepsTheGoodValue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int64
		opts := eager[string](time.Minute)
		opts.Validate = func(_, v string) error {
			if v == "bad" {
				return errors.New("corrupt")
			}
			return nil
		}
		c := newTidy(t, func(context.Context, string) (string, error) {
			time.Sleep(time.Second)
			if calls.Add(1) == 1 {
				return "good", nil
			}
			return "bad", nil
		}, opts)
		mustGet(t, c, "k")
		for range 58 {
			time.Sleep(time.Second)
			require.Equal(t, "good", mustGet(t, c, "k"))
		}
		require.Greater(t, calls.Load(), int64(1))
		require.NotZero(t, c.Stats().RefreshFailures)
	})
}

func TestValidate_mayCallAValueAbsent(t *testing.T) {
	opts := plain[string](time.Minute)
	opts.Validate = func(_, v string) error {
		if v == "tombstone" {
			return ErrNotFound
		}
		return nil
	}
	c := newTidy(t, func(context.Context, string) (string, error) { return "tombstone", nil }, opts)
	for range 2 {
		_, err := c.Get(t.Context(), "k")
		require.ErrorIs(t, err, ErrNotFound)
	}
	require.EqualValues(t, 1, c.Stats().NegativeHits)
}

// fragile is an origin that answers at most so many calls a second, with what
// is corrupt for one key until it is mended, and fails beyond that.
type fragile struct {
	perSecond int
	mended    atomic.Bool

	mu     sync.Mutex
	second int64
	calls  map[string][]time.Time // of the corrupt key and others
	inThis int
	failed int
}

func (o *fragile) load(_ context.Context, key string) (string, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.calls == nil {
		o.calls = map[string][]time.Time{}
	}
	now := time.Now()
	o.calls[key] = append(o.calls[key], now)
	if s := now.Unix(); s != o.second {
		o.second, o.inThis = s, 0
	}
	if o.inThis++; o.inThis > o.perSecond {
		o.failed++
		return "", errDown
	}
	if key == "k" && !o.mended.Load() {
		return "corrupt", nil
	}
	return "good", nil
}

// asked returns when key was asked for.
func (o *fragile) asked(key string) []time.Time {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.calls[key])
}

// The configuration store of a large site holds one bad value. Every client
// finds it invalid and asks again; the origin fails under that, and failures
// taken for bad values keep the herd going when the value is long mended. Here
// the origin hears of the key once per back-off, and of nothing else because of
// it.
func TestValidate_badValueMakesNoHerd(t *testing.T) {
	for name, before := range map[string]bool{"no value before": false, "a good value before": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { playBadValue(t, before) })
		})
	}
}

func playBadValue(t *testing.T, before bool) {
	const clients, neighbours = 1000, 40
	origin := &fragile{perSecond: 50}
	opts := Options[string]{TTL: 20 * time.Second, Jitter: Off, Ramp: Off, StaleIfError: time.Minute}
	opts.Validate = func(_, v string) error {
		if v == "corrupt" {
			return errors.New("corrupt")
		}
		return nil
	}
	c := newTidy(t, origin.load, opts)
	for i := range neighbours { // they expire while k is bad
		require.NoError(t, c.Set(t.Context(), strconv.Itoa(i), "good"))
	}
	if before {
		require.NoError(t, c.Set(t.Context(), "k", "good"))
	}
	time.Sleep(18 * time.Second)

	var lastBad atomic.Int64 // when k was last refused
	play := func(d time.Duration) {
		aThousandASecond(clients, d, func() {
			v, err := c.Get(context.Background(), "k")
			var invalid *InvalidError
			switch {
			case err == nil && v == "good":
			case errors.As(err, &invalid) && !before:
				lastBad.Store(time.Now().UnixNano())
			default:
				t.Errorf("k: %q, %v", v, err)
			}
			if v, err := c.Get(context.Background(), strconv.Itoa(int(time.Now().UnixMilli()%neighbours))); v != "good" {
				t.Error("a good entry was lost to an error of the origin:", v, err)
			}
		})
	}
	play(10 * time.Second)
	asked := origin.asked("k")
	require.LessOrEqual(t, len(asked), 10, "one call per back-off")
	require.NotEmpty(t, asked)
	for i := 1; i < len(asked); i++ {
		require.GreaterOrEqual(t, asked[i].Sub(asked[i-1]), leastBackoff/2)
	}

	mended := time.Now()
	origin.mended.Store(true)
	play(25 * time.Second)
	require.Equal(t, "good", mustGet(t, c, "k"))
	if !before {
		last := asked[len(asked)-1].Sub(asked[len(asked)-2])
		require.LessOrEqual(t, time.Unix(0, lastBad.Load()).Sub(mended), 2*2*last, "two back-offs")
	}
	require.LessOrEqual(t, len(origin.asked("k")), len(asked)+4)
	require.Zero(t, origin.failed, "the origin never felt the crowd")
}

// aThousandASecond calls read a thousand times a second for d, from n clients.
func aThousandASecond(n int, d time.Duration, read func()) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			every := time.Duration(n) * time.Millisecond
			time.Sleep(time.Duration(i) * time.Millisecond)
			for start := time.Now(); time.Since(start) < d-time.Duration(i)*time.Millisecond; time.Sleep(every) {
				read()
			}
		})
	}
	wg.Wait()
}

// The origin is overloaded beside that: it fails for other reasons too. Errors
// are told from invalid values, and none of either costs a good entry.
func TestValidate_errorsOfTheOriginAreNoInvalidValues(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answers := []func() (string, error){
			func() (string, error) { return "good", nil },
			func() (string, error) { return "corrupt", nil },
			func() (string, error) { return "", errDown },
			func() (string, error) { return "corrupt", errDown },
			func() (string, error) { panic("bad row") },
			func() (string, error) { return "", context.Canceled },
		}
		var calls atomic.Int64
		opts := plain[string](time.Second)
		opts.StaleIfError = time.Hour
		opts.Validate = func(_, v string) error {
			if v == "corrupt" {
				return errors.New("corrupt")
			}
			return nil
		}
		c := newTidy(t, func(context.Context, string) (string, error) {
			n := int(calls.Add(1) - 1)
			return answers[min(n, 1+(n-1)%(len(answers)-1))]()
		}, opts)
		mustGet(t, c, "k")
		for range 60_000 {
			require.Equal(t, "good", mustGet(t, c, "k"))
			time.Sleep(time.Millisecond)
		}
		require.GreaterOrEqual(t, calls.Load(), int64(3*len(answers)))
		require.LessOrEqual(t, calls.Load(), int64(60_000/40))
		require.Zero(t, c.Stats().Failed)
		require.Zero(t, c.Stats().Negatives)
	})
}

// An old value that may not be served any more is no reason to ask at once
// again: a bad value backs off though something else is still in memory.
func TestValidate_backsOffBesideAnExpiredValue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		origin := &fragile{perSecond: 1 << 30}
		origin.mended.Store(true)
		opts := plain[string](20 * time.Second)
		opts.Validate = func(_, v string) error {
			if v == "corrupt" {
				return errors.New("corrupt")
			}
			return nil
		}
		c := newTidy(t, origin.load, opts)
		mustGet(t, c, "k")
		origin.mended.Store(false)
		time.Sleep(21 * time.Second)
		aThousandASecond(1000, 10*time.Second, func() {
			_, err := c.Get(context.Background(), "k")
			var invalid *InvalidError
			if !errors.As(err, &invalid) {
				t.Error(err)
			}
		})
		require.LessOrEqual(t, len(origin.asked("k")), 10)
		origin.mended.Store(true)
		time.Sleep(20 * time.Second)
		require.Equal(t, "good", mustGet(t, c, "k"))
		require.Zero(t, c.Stats().Negatives)
	})
}
