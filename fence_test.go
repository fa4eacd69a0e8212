package earlybird

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird/memstore"
)

// The interleavings that a fence is easily built without. Each test holds one
// goroutine still at the place where the fault would slip in.

// gated is an origin whose loads read at once and answer when they are let.
type gated struct {
	mu      sync.Mutex
	value   string // "" is absent
	reading chan chan struct{}
}

func newGated(value string) *gated {
	return &gated{value: value, reading: make(chan chan struct{})}
}

func (g *gated) load(ctx context.Context, key string) (string, error) {
	v := g.get()
	let := make(chan struct{})
	g.reading <- let
	<-let
	if v == "" {
		return "", ErrNotFound
	}
	return v, nil
}

func (g *gated) get() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.value
}

func (g *gated) set(v string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.value = v
}

type answer struct {
	value string
	err   error
}

func ask(c *Cache[string], key string) <-chan answer {
	ch := make(chan answer, 1)
	go func() {
		v, err := c.Get(context.Background(), key)
		ch <- answer{v, err}
	}()
	return ch
}

func newCache[V any](t *testing.T, load Loader[V], opts Options[V]) *Cache[V] {
	t.Helper()
	if opts.TTL == 0 {
		opts.TTL = time.Minute
	}
	c, err := New(load, opts)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Close()) })
	return c
}

// occupy stays in the key's critical section until the returned function is
// called.
func occupy(m *memstore.Map[*entry[string]], key string) (leave func()) {
	in, out, left := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(left)
		m.Update(key, func(*entry[string], bool) (*entry[string], memstore.Op) {
			close(in)
			<-out
			return nil, memstore.Keep
		})
	}()
	<-in
	return func() { close(out); <-left }
}

// settleDown gives goroutines that only need the processor time to get as far
// as they can. A correct cache passes however far that is.
func settleDown() { time.Sleep(20 * time.Millisecond) }

func TestFence_publishAsksInsideTheCriticalSection(t *testing.T) {
	c := newCache(t, newGated("").load, Options[string]{})
	pass := c.fence.pass("k")
	leave := occupy(c.values, "k")

	published := make(chan bool)
	l := c.newLoad(context.Background(), nil)
	f := l.newFlight("k", nil)
	f.pass = pass
	go func() { published <- c.publishValue(f, outcome[string]{value: "old", terms: terms{life: time.Minute}}) }()
	settleDown() // had it asked before the section, the fence would have let it pass
	c.fence.raise("k")
	leave()

	require.False(t, <-published)
	_, ok := c.Peek("k")
	require.False(t, ok)
}

func TestFence_flightThatFoundTheDoomedValueIsNotJoined(t *testing.T) {
	c := newCache(t, func(context.Context, string) (string, error) { return "new", nil }, Options[string]{})
	require.NoError(t, c.Set(context.Background(), "k", "old"))

	// An invalidation gets as far as its first raise and no further.
	before := c.fence.pass("k")
	leave := occupy(c.values, "k")
	invalidated := make(chan error)
	go func() { invalidated <- c.Invalidate(context.Background(), "k") }()
	require.Eventually(t, func() bool { return !before.holds() }, time.Minute, time.Millisecond)

	// A flight that begins now looks again and finds the doomed value.
	l := c.newLoad(context.Background(), nil)
	f := l.newFlight("k", nil)
	_, err := c.flights.join(f)
	require.NoError(t, err)
	f.value, f.found = c.fresh("k", c.clock.now()).value, true
	require.Equal(t, "old", f.value, "the test must meet the doomed value")

	leave()
	require.NoError(t, <-invalidated)
	got := ask(c, "k")
	settleDown() // had it joined, it would now wait for the flight to land
	c.flights.land(l)
	require.Equal(t, answer{"new", nil}, <-got)
}

func TestFence_readersAfterAChangeDoNotJoinLoadsBeforeIt(t *testing.T) {
	ctx := context.Background()
	for name, change := range map[string]func(*Cache[string]) error{
		"Invalidate":    func(c *Cache[string]) error { return c.Invalidate(ctx, "k") },
		"InvalidateAll": func(c *Cache[string]) error { return c.InvalidateAll(ctx) },
	} {
		t.Run(name, func(t *testing.T) {
			origin := newGated("v1")
			c := newCache(t, origin.load, Options[string]{})
			first := ask(c, "k")
			letFirst := <-origin.reading

			origin.set("v2")
			require.NoError(t, change(c))
			second := ask(c, "k")
			letSecond := <-origin.reading // it loads for itself

			close(letSecond)
			require.Equal(t, answer{"v2", nil}, <-second)
			close(letFirst)
			require.Equal(t, answer{"v1", nil}, <-first, "the load answers those who waited before the change")
			r, ok := c.Peek("k")
			require.True(t, ok)
			require.Equal(t, "v2", r.Value, "the late result must not be stored")
		})
	}
}

func TestFence_loadBeforeSetIsNotStored(t *testing.T) {
	origin := newGated("v1")
	c := newCache(t, origin.load, Options[string]{})
	first := ask(c, "k")
	let := <-origin.reading

	origin.set("v2")
	require.NoError(t, c.Set(context.Background(), "k", "v2"))
	close(let)
	require.Equal(t, answer{"v1", nil}, <-first)
	r, ok := c.Peek("k")
	require.True(t, ok)
	require.Equal(t, "v2", r.Value)
}

func TestFence_absenceLoadedBeforeCreatedIsNotRemembered(t *testing.T) {
	origin := newGated("")
	c := newCache(t, origin.load, Options[string]{})
	first := ask(c, "k")
	let := <-origin.reading

	origin.set("v1")
	require.NoError(t, c.Created(context.Background(), "k"))
	close(let)
	require.ErrorIs(t, (<-first).err, ErrNotFound)

	second := ask(c, "k")
	let = <-origin.reading // the origin is asked again
	close(let)
	require.Equal(t, answer{"v1", nil}, <-second)
}

func TestFence_absenceAsksInsideItsCriticalSection(t *testing.T) {
	c := newCache(t, newGated("").load, Options[string]{})
	f := c.newLoad(t.Context(), nil).newFlight("k", nil)
	in, out := make(chan struct{}), make(chan struct{})
	go c.negatives.Update("k", func(*negative, bool) (*negative, memstore.Op) {
		close(in)
		<-out
		return nil, memstore.Keep
	})
	<-in
	published := make(chan bool)
	go func() { published <- c.publishAbsence(f, 0) }()
	settleDown()
	c.fence.raise("k")
	close(out)
	require.False(t, <-published)
	require.Nil(t, c.negative("k", c.clock.now()))
}

func TestFence_raiseEndsPasses(t *testing.T) {
	f := newFence()
	p := f.pass("k")
	require.True(t, p.holds())
	require.Equal(t, p, f.pass("k"))
	for _, raise := range []func(){func() { f.raise("k") }, f.raiseAll} {
		p = f.pass("k")
		raise()
		require.False(t, p.holds())
		require.NotEqual(t, p, f.pass("k"))
	}
}

// Reads and invalidations of few keys by many goroutines: whoever starts to
// read once an invalidation has returned sees what the origin held by then.
func TestFence_nobodySeesWhatWasInvalidated(t *testing.T) {
	const keys, writers, readers = 8, 8, 8
	rounds := scaled(4000, 100_000)
	var origin, floor [keys]versions
	names := [keys]string{"a", "b", "c", "d", "e", "f", "g", "h"}
	index := map[string]int{}
	for i, n := range names {
		index[n] = i
	}
	c := newCache(t, func(_ context.Context, key string) (uint64, error) {
		return origin[index[key]].Load(), nil
	}, Options[uint64]{})

	var wg sync.WaitGroup
	stop := make(chan struct{})
	for r := range readers {
		wg.Go(func() {
			for i := r; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				k := i % keys
				least := floor[k].Load()
				v, err := c.Get(context.Background(), names[k])
				if err != nil || v < least {
					t.Errorf("key %s: got version %d (%v), at least %d was there before the read", names[k], v, err, least)
					return
				}
			}
		})
	}
	var writing sync.WaitGroup
	for w := range writers {
		writing.Go(func() {
			for range rounds {
				v := origin[w].Add(1)
				if err := c.Invalidate(context.Background(), names[w]); err != nil {
					t.Error(err)
				}
				floor[w].Store(v)
				if got, err := c.Get(context.Background(), names[w]); err != nil || got < v {
					t.Errorf("own write %d, then read %d (%v)", v, got, err)
				}
			}
		})
	}
	writing.Wait()
	close(stop)
	wg.Wait()
}
