package ladder_test

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird/internal/ladder"
)

var rungs = []time.Duration{time.Second, 5 * time.Second, time.Minute}

// tries is what a ladder's Try has seen.
type tries struct {
	mu   sync.Mutex
	at   map[string][]time.Duration
	from time.Time
	fail func(key string) bool
}

func newTries(fail func(string) bool) *tries {
	return &tries{at: map[string][]time.Duration{}, from: time.Now(), fail: fail}
}

func (r *tries) try(_ context.Context, keys []string) (failed []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, k := range keys {
		r.at[k] = append(r.at[k], time.Since(r.from))
		if r.fail(k) {
			failed = append(failed, k)
		}
	}
	return failed
}

func TestLadder_triesLaterEachTimeUntilItSucceeds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := 0
		r := newTries(func(string) bool { n++; return n < 5 })
		l := ladder.New(ladder.Options{Try: r.try, Rungs: rungs, Bound: 10, Batch: 4})
		defer l.Close()
		require.Empty(t, l.Add([]string{"k"}))
		require.True(t, l.Has("k"))
		require.False(t, l.Has("other"))

		time.Sleep(4 * time.Minute)
		synctest.Wait()
		require.False(t, l.Has("k"))
		require.Len(t, r.at["k"], 5)
		last := time.Duration(0)
		for i, want := range []time.Duration{rungs[0], rungs[1], rungs[2], rungs[2], rungs[2]} {
			waited := r.at["k"][i] - last
			require.LessOrEqual(t, waited, want, i)
			require.GreaterOrEqual(t, waited, want*3/4, i)
			last = r.at["k"][i]
		}
		waiting, retried, givenUp := l.Counts()
		require.Zero(t, waiting)
		require.EqualValues(t, 1, retried)
		require.Zero(t, givenUp)
	})
}

func TestLadder_oneKeysFailureDelaysNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newTries(func(k string) bool { return k == "bad" })
		l := ladder.New(ladder.Options{Try: r.try, Rungs: rungs, Bound: 100, Batch: 2})
		defer l.Close()
		l.Add([]string{"bad"})
		time.Sleep(30 * time.Second)
		l.Add([]string{"a", "b", "c"})
		time.Sleep(time.Second + time.Millisecond)
		synctest.Wait()
		require.Len(t, r.at, 4)
		require.True(t, l.Has("bad"))
		require.False(t, l.Has("a"))
	})
}

func TestLadder_kickTriesAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var up atomic.Bool
		r := newTries(func(string) bool { return !up.Load() })
		l := ladder.New(ladder.Options{Try: r.try, Rungs: rungs, Bound: 10, Batch: 4})
		defer l.Close()
		l.Add([]string{"k"})
		time.Sleep(20 * time.Second)
		synctest.Wait()
		require.True(t, l.Has("k"))
		up.Store(true)
		l.Kick()
		synctest.Wait()
		require.False(t, l.Has("k"))
	})
}

// A try under way may have come too early to profit from what a Kick is about.
func TestLadder_kickDuringATryTriesOnceMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		started, finish := make(chan struct{}), make(chan struct{})
		tries := 0
		l := ladder.New(ladder.Options{Rungs: rungs, Bound: 10, Batch: 4, Try: func(_ context.Context, keys []string) []string {
			if tries++; tries > 1 {
				return nil
			}
			started <- struct{}{}
			<-finish
			return keys
		}})
		defer l.Close()
		l.Add([]string{"k"})
		<-started
		l.Kick()
		finish <- struct{}{}
		synctest.Wait()
		require.False(t, l.Has("k"))
	})
}

func TestLadder_isBounded(t *testing.T) {
	l := ladder.New(ladder.Options{Try: newTries(func(string) bool { return true }).try, Rungs: rungs, Bound: 2, Batch: 4})
	require.Equal(t, []string{"c"}, l.Add([]string{"a", "b", "a", "c"}))
	waiting, _, givenUp := l.Counts()
	require.Equal(t, 2, waiting)
	require.EqualValues(t, 1, givenUp)

	l.Close()
	_, _, givenUp = l.Counts()
	require.EqualValues(t, 3, givenUp)
	require.Equal(t, []string{"d"}, l.Add([]string{"d"}), "closed")
	require.False(t, l.Has("a"))
	l.Close()
}

// A try that began before a key was added again says nothing about what it was
// added for.
func TestLadder_addDuringATryIsNotConfirmedByIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		started, finish := make(chan struct{}), make(chan struct{})
		var n atomic.Int32
		try := func(context.Context, []string) []string {
			if n.Add(1) == 1 {
				close(started)
				<-finish
			}
			return nil
		}
		l := ladder.New(ladder.Options{Try: try, Rungs: rungs, Bound: 10, Batch: 4})
		defer l.Close()
		l.Add([]string{"k"})
		<-started
		l.Add([]string{"k"})
		close(finish)
		synctest.Wait()
		require.True(t, l.Has("k"))
		time.Sleep(time.Minute)
		synctest.Wait()
		require.False(t, l.Has("k"))
		require.EqualValues(t, 2, n.Load())
	})
}

func TestLadder_confirmTakesAwayWhatIsOlder(t *testing.T) {
	l := ladder.New(ladder.Options{Try: newTries(func(string) bool { return true }).try, Rungs: rungs, Bound: 10, Batch: 4})
	defer l.Close()
	l.Add([]string{"a", "b"})
	mark := l.Mark()
	l.Add([]string{"b", "c"})
	l.Confirm([]string{"a", "b", "c"}, mark)
	require.False(t, l.Has("a"))
	require.True(t, l.Has("b"))
	require.True(t, l.Has("c"))
	l.ConfirmAll(l.Mark())
	waiting, retried, _ := l.Counts()
	require.Zero(t, waiting)
	require.Zero(t, retried, "by another way")
}

func TestLadder_crowd(t *testing.T) {
	var flips atomic.Uint64
	try := func(_ context.Context, keys []string) []string {
		if flips.Add(1)%3 == 0 {
			return slices.Clone(keys)
		}
		return nil
	}
	l := ladder.New(ladder.Options{Try: try, Rungs: []time.Duration{time.Microsecond}, Bound: 1000, Batch: 16})
	defer l.Close()
	var wg sync.WaitGroup
	for g := range 4 {
		wg.Go(func() {
			for i := range 500 {
				key := []string{strconv.Itoa((g*7 + i) % 100)}
				mark := l.Mark()
				l.Add(key)
				l.Has(key[0])
				if i%5 == 0 {
					l.Confirm(key, mark)
				}
				l.Kick()
			}
		})
	}
	wg.Wait()
	require.Eventually(t, func() bool { n, _, _ := l.Counts(); return n == 0 }, 10*time.Second, time.Millisecond)
}

// A key that fails once more after a kick is tried again soon, not as late as it
// had come before there was hope.
func TestLadder_kickedKeysBeginAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var tries atomic.Int64
		var down atomic.Bool
		down.Store(true)
		l := ladder.New(ladder.Options{Rungs: rungs, Bound: 10, Batch: 4, Try: func(_ context.Context, keys []string) []string {
			if tries.Add(1); down.Load() {
				return keys
			}
			return nil
		}})
		defer l.Close()
		require.Empty(t, l.Add([]string{"k"}))
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		tries.Store(0)
		l.Kick()
		synctest.Wait()
		require.EqualValues(t, 1, tries.Load())
		down.Store(false)
		time.Sleep(rungs[0])
		synctest.Wait()
		require.EqualValues(t, 2, tries.Load())
		waiting, retried, _ := l.Counts()
		require.Zero(t, waiting)
		require.EqualValues(t, 1, retried)
	})
}

// A key that is tried early shows that all can be done, and costs the others nothing
// if it does not.
func TestLadder_oneSucceedsEarlyAndAllAreTried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var isBack atomic.Bool
		var tried atomic.Int64
		l := ladder.New(ladder.Options{
			Try: func(_ context.Context, keys []string) (failed []string) {
				tried.Add(int64(len(keys)))
				if isBack.Load() {
					return nil
				}
				return keys
			},
			Rungs: rungs, Pulse: 500 * time.Millisecond, Bound: 1000, Batch: 100,
		})
		defer l.Close()
		keys := make([]string, 1000)
		for i := range keys {
			keys[i] = strconv.Itoa(i)
		}
		require.Empty(t, l.Add(keys))
		time.Sleep(20 * time.Second) // all wait for a minute now
		synctest.Wait()
		before := tried.Load()
		time.Sleep(10 * time.Second)
		synctest.Wait()
		require.EqualValues(t, 20, tried.Load()-before, "one at a time")

		isBack.Store(true)
		time.Sleep(500 * time.Millisecond)
		synctest.Wait()
		waiting, retried, _ := l.Counts()
		require.Zero(t, waiting)
		require.EqualValues(t, 1000, retried)
	})
}

// While some can be done and others not, those that can are found.
func TestLadder_someSucceedEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var isBack atomic.Bool
		r := newTries(func(key string) bool { return key != "good" || !isBack.Load() })
		l := ladder.New(ladder.Options{Try: r.try, Rungs: rungs, Pulse: 100 * time.Millisecond, Bound: 10, Batch: 10})
		defer l.Close()
		require.Empty(t, l.Add([]string{"good", "bad", "worse", "worst"}))
		time.Sleep(10 * time.Second)
		isBack.Store(true)
		time.Sleep(10 * time.Second)
		require.False(t, l.Has("good"))
		require.True(t, l.Has("bad"))
		require.True(t, l.Has("worst"))
	})
}
