package earlybird

import (
	"context"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// hooks are the places in which the user's code runs on the library's
// goroutines, beside the loaders. Each install has trip called there, once a
// load has armed it.
var hooks = map[string]struct {
	install func(o *Options[int64], trip func())
	fails   bool // it is told of loads that fail
}{
	"Clone":    {install: func(o *Options[int64], trip func()) { o.Clone = func(v int64) int64 { trip(); return v } }},
	"Validate": {install: func(o *Options[int64], trip func()) { o.Validate = func(string, int64) error { trip(); return nil } }},
	"TTLFor": {install: func(o *Options[int64], trip func()) {
		o.TTLFor = func(string, int64) time.Duration { trip(); return 0 }
	}},
	"Weigh": {install: func(o *Options[int64], trip func()) {
		o.MaxBytes, o.Weigh = 100, func(string, int64) int { trip(); return 1 }
	}},
	"Revalidate": {install: installRevalidate},
	"OnError":    {install: func(o *Options[int64], trip func()) { o.OnError = func(Event) { trip() } }, fails: true},
	"Logger":     {install: func(o *Options[int64], trip func()) { o.Logger = slog.New(tripping{trip}) }, fails: true},
	"both": {install: func(o *Options[int64], trip func()) {
		o.OnError, o.Logger = func(Event) { trip() }, slog.New(tripping{trip})
	}, fails: true},
}

// installRevalidate has Revalidate take the loader's place, and trip.
func installRevalidate(o *Options[int64], trip func()) {
	o.Revalidate = func(_ context.Context, _ string, old int64) (int64, error) {
		time.Sleep(time.Second)
		trip()
		return old + 2, nil
	}
}

// tripping is a log whose handler trips.
type tripping struct{ trip func() }

func (h tripping) Enabled(context.Context, slog.Level) bool  { return true }
func (h tripping) Handle(context.Context, slog.Record) error { h.trip(); return nil }
func (h tripping) WithAttrs([]slog.Attr) slog.Handler        { return h }
func (h tripping) WithGroup(string) slog.Handler             { return h }

// panicsInAHook: a refresh whose hook ends badly has failed, and no more than
// that: the value is kept, and the next refresh comes after the back-off.
func panicsInAHook(t *testing.T, calamity func()) {
	for name, hook := range hooks {
		var calls atomic.Int64
		var armed atomic.Bool
		opts := eager[int64](time.Minute)
		hook.install(&opts, func() {
			if armed.CompareAndSwap(true, false) {
				calamity()
			}
		})
		c := newTidy(t, func(context.Context, string) (int64, error) {
			time.Sleep(time.Second)
			if calls.Add(1) == 2 && hook.fails {
				return 0, errDown
			}
			return calls.Load(), nil
		}, opts)
		mustGet(t, c, "k")

		time.Sleep(30 * time.Second)
		require.Equal(t, Early, mustLookup(t, c, "k").State, name)
		armed.Store(true)
		time.Sleep(time.Second)
		synctest.Wait()
		require.False(t, armed.Load(), "%s: was not called", name)
		for range 100 {
			require.Equal(t, Result[int64]{1, Fresh, 31 * time.Second}, mustLookup(t, c, "k"), name)
		}
		require.EqualValues(t, 1, c.Stats().RefreshFailures, name)
		require.EqualValues(t, 1, c.Stats().Refreshes, name)

		time.Sleep(7500 * time.Millisecond) // an eighth of its life, the longest back-off
		require.Equal(t, Early, mustLookup(t, c, "k").State, "%s: it is tried again", name)
		time.Sleep(time.Second)
		synctest.Wait()
		require.EqualValues(t, 3, mustGet(t, c, "k"), name)
		require.EqualValues(t, 2, c.Stats().Refreshes, name)
	}
}

// panicsInABatchRefresh: the keys of a batch share its loader's fate.
func panicsInABatchRefresh(t *testing.T, calamity func()) {
	var calls atomic.Int64
	opts := eager[int64](time.Minute)
	opts.LoadMany = func(_ context.Context, keys []string) (map[string]int64, error) {
		time.Sleep(time.Second)
		n := calls.Add(1)
		if n == 2 {
			calamity()
		}
		found := map[string]int64{}
		for _, k := range keys {
			found[k] = n
		}
		return found, nil
	}
	c := newTidy(t, counted(&calls), opts)
	keys := []string{"a", "b", "c"}
	want := func(v int64) {
		t.Helper()
		found, err := c.GetMany(t.Context(), keys)
		require.NoError(t, err)
		require.Equal(t, map[string]int64{"a": v, "b": v, "c": v}, found)
	}
	want(1)
	time.Sleep(30 * time.Second)
	want(1)
	time.Sleep(time.Second)
	synctest.Wait()
	for range 100 {
		want(1)
	}
	require.EqualValues(t, 3, c.Stats().RefreshFailures)
	require.EqualValues(t, 2, calls.Load())
	time.Sleep(7500 * time.Millisecond)
	want(1)
	time.Sleep(time.Second)
	synctest.Wait()
	want(3)
}

// OnError is also called where no loader runs: by the timer of a load that took
// too long, by the reader whom the gate refuses, and by the timer of one who
// waited there. Wherever that is, readers get their error and the key is free.
func panicsInOnErrorOfATimeout(t *testing.T, calamity func()) {
	opts := plain[string](time.Minute)
	opts.LoadTimeout, opts.OnError = time.Second, func(Event) { calamity() }
	var calls atomic.Int64
	c := newTidy(t, func(_ context.Context, key string) (string, error) {
		if calls.Add(1) == 1 {
			time.Sleep(5 * time.Second)
		}
		return key, nil
	}, opts)
	together(3, func(int) {
		if _, err := c.Get(context.Background(), "k"); err != ErrLoadTimeout {
			t.Error(err)
		}
	})
	require.Equal(t, "k", mustGet(t, c, "k"))
	require.EqualValues(t, 1, c.Stats().Abandoned)
	time.Sleep(5 * time.Second)
	require.NoError(t, c.Close())
}

func panicsInOnErrorOfASheddingGate(t *testing.T, calamity func()) {
	opts := plain[string](time.Minute)
	opts.MaxLoads, opts.OnError = 1, func(Event) { calamity() }
	c := newTidy(t, echo(time.Second), opts)
	var served, shed atomic.Int64
	together(20, func(i int) {
		switch _, err := c.Get(context.Background(), strconv.Itoa(i)); err {
		case nil:
			served.Add(1)
		case ErrOverloaded:
			shed.Add(1)
		default:
			t.Error(err)
		}
	})
	require.EqualValues(t, 9, served.Load())
	require.EqualValues(t, 11, shed.Load(), "whoever is refused goes on")
	start := time.Now()
	require.NoError(t, c.Close())
	require.Zero(t, time.Since(start), "nothing is left to wait for")
}

func panicsInOnErrorOfAWait(t *testing.T, calamity func()) {
	opts := plain[string](time.Minute)
	opts.MaxLoads, opts.LoadTimeout, opts.OnError = 1, time.Second, func(Event) { calamity() }
	c := newTidy(t, func(_ context.Context, key string) (string, error) {
		time.Sleep(3 * time.Second) // and keeps its slot all that time
		return key, nil
	}, opts)
	together(2, func(i int) {
		if _, err := c.Get(context.Background(), strconv.Itoa(i)); err != ErrLoadTimeout && err != ErrOverloaded {
			t.Error(err)
		}
	})
	time.Sleep(5 * time.Second)
	start := time.Now()
	require.NoError(t, c.Close())
	require.Zero(t, time.Since(start), "nothing is left to wait for")
}

// A hook that panics on the goroutine of a caller, who may recover it, leaves
// nothing behind either.
func TestHooks_panicOfACallIsTheCallersOnly(t *testing.T) {
	for name, install := range map[string]func(o *Options[string], trip func()){
		"Canonical": func(o *Options[string], trip func()) { o.Canonical = func(k string) string { trip(); return k } },
		"Clone":     func(o *Options[string], trip func()) { o.Clone = func(v string) string { trip(); return v } },
		"GuardPart": func(o *Options[string], trip func()) { o.GuardPart = func(k string) string { trip(); return k } },
		"TTLFor": func(o *Options[string], trip func()) {
			o.TTLFor = func(string, string) time.Duration { trip(); return 0 }
		},
	} {
		t.Run(name, func(t *testing.T) {
			var armed atomic.Bool
			opts := plain[string](time.Minute)
			install(&opts, func() {
				if armed.Load() {
					panic("hook")
				}
			})
			loading, let := make(chan struct{}), make(chan struct{})
			c := newTidy(t, func(_ context.Context, key string) (string, error) {
				if strings.HasPrefix(key, "slow") {
					loading <- struct{}{}
					<-let
				}
				return key, nil
			}, opts)
			mustGet(t, c, "k")
			try := func(call func()) {
				defer func() { _ = recover() }()
				call()
			}
			ctx := t.Context()
			var wg sync.WaitGroup
			wg.Go(func() { try(func() { c.Get(ctx, "slow") }) })
			<-loading
			wg.Go(func() { try(func() { c.GetMany(ctx, []string{"slow 1", "k", "slow 2", "slow"}) }) })
			<-loading
			<-loading

			armed.Store(true)
			for _, call := range []func(){
				func() { c.Get(ctx, "k") },
				func() { c.Get(ctx, "other") },
				func() { c.Lookup(ctx, "k") },
				func() { c.Peek("k") },
				func() { c.GetMany(ctx, []string{"k", "other"}) },
				func() { c.Set(ctx, "k", "v") },
				func() { c.Created(ctx, "k") },
				func() { c.Invalidate(ctx, "other") },
				func() { c.Warm(ctx, slices.Values([]string{"k", "other"})) },
			} {
				try(call)
			}
			if name == "GuardPart" { // depends on the key alone: it panics before the load or not at all
				armed.Store(false)
			}
			close(let)
			wg.Wait()
			armed.Store(false)
			require.Eventually(t, func() bool { // a load may end after the reader who panicked
				c.gate.mu.Lock()
				defer c.gate.mu.Unlock()
				return c.gate.running == [priorities]int{}
			}, 5*time.Second, time.Millisecond)
			requireIdle(t, c)
			require.Equal(t, "k", mustGet(t, c, "k"))
			require.NoError(t, c.Set(ctx, "k", "v"))
			require.Equal(t, "v", mustGet(t, c, "k"))
		})
	}
}

// Clone may be content with a value on its way in and not on its way out.
// Whoever is to be handed that leaves his seat all the same.
func TestClone_panicOnTheWayOutLeavesNobodySeated(t *testing.T) {
	var calls atomic.Int64
	keys := []string{"a", "b", "c"}
	for name, read := range map[string]func(*Cache[string]){
		"Get":     func(c *Cache[string]) { c.Get(t.Context(), "a") },
		"GetMany": func(c *Cache[string]) { c.GetMany(t.Context(), keys) },
	} {
		t.Run(name, func(t *testing.T) {
			calls.Store(0)
			opts := plain[string](time.Minute)
			opts.Clone = func(v string) string {
				if calls.Add(1) > int64(len(keys)) {
					panic("hook")
				}
				return v
			}
			opts.LoadMany = func(_ context.Context, keys []string) (map[string]string, error) {
				return map[string]string{"a": "a", "b": "b", "c": "c"}, nil
			}
			c := newTidy(t, func(context.Context, string) (string, error) {
				calls.Store(2)
				return "a", nil
			}, opts)
			require.Panics(t, func() { read(c) })
			requireIdle(t, c)
		})
	}
}
