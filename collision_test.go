package earlybird

import (
	"context"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird/keyshape"
)

// lookalikes are keys that a careless key of a table could take for others:
// by length, by NUL, by a suffix that looks like the fence's part of a flight.
func lookalikes() []string {
	keys := []string{"", "\x00", "k", "k\x00", "k\x00\x00", "k ", "k#1", "k@2", "K", "k\xff", "é", "e\u0301"}
	for n := 1; n <= 12; n++ {
		keys = append(keys, "k"+strings.Repeat("\x00", n+2), "k"+strings.Repeat("\x01", n))
	}
	return append(keys, strings.Repeat("x", 1023), strings.Repeat("x", 1024))
}

func TestKeys_thatLookAlikeKeepTheirOwnValues(t *testing.T) {
	keys := lookalikes()
	release := make(chan struct{})
	var loads atomic.Int64
	c := newTidy(t, func(_ context.Context, key string) (string, error) {
		loads.Add(1)
		<-release // so that all flights are under way at once
		return "value of " + key, nil
	}, Options[string]{TTL: time.Minute, MaxLoads: Off})
	go func() {
		for loads.Load() < int64(len(keys)) {
			time.Sleep(time.Millisecond)
		}
		close(release)
	}()
	together(4*len(keys), func(i int) {
		key := keys[i%len(keys)]
		if v, err := c.Get(context.Background(), key); v != "value of "+key || err != nil {
			t.Errorf("%q: %q, %v", key, v, err)
		}
	})
	require.EqualValues(t, len(keys), loads.Load())

	for i, key := range keys {
		require.NoError(t, c.Invalidate(t.Context(), key))
		_, ok := c.Peek(key)
		require.False(t, ok)
		for _, other := range keys[i+1:] {
			r, ok := c.Peek(other)
			require.True(t, ok, "invalidating %q must leave %q", key, other)
			require.Equal(t, "value of "+other, r.Value)
		}
	}
}

// Different keys under different states of the fence are different flights.
func TestFlightID_isInjective(t *testing.T) {
	seen := map[flightID]bool{}
	n := 0
	for _, key := range lookalikes() {
		for _, epoch := range []uint32{0, 1, 256, 1 << 31} {
			for _, height := range []uint32{0, 1, 256, 1 << 31} {
				f := &flight[int]{key: key, pass: pass{epoch: epoch, height: height}}
				seen[f.id()] = true
				n++
			}
		}
	}
	require.Len(t, seen, n)
}

// neighbour returns another key on key's stripe of the fence.
func neighbour(c *Cache[string], key string) string {
	for i := 0; ; i++ {
		if other := "n" + strconv.Itoa(i); c.fence.stripe(other) == c.fence.stripe(key) {
			return other
		}
	}
}

// Keys on one stripe of the fence share nothing but the fence: a change of one
// can cost the other a load, never a value.
func TestFence_neighboursOnAStripeKeepTheirOwnValues(t *testing.T) {
	origin := newGated("")
	c := newCache(t, func(ctx context.Context, key string) (string, error) {
		v, err := origin.load(ctx, key)
		return key + "=" + v, err
	}, Options[string]{TTL: time.Minute})
	other := neighbour(c, "k")
	origin.set("1")
	load := func(key string) <-chan answer {
		a := ask(c, key)
		close(<-origin.reading)
		return a
	}
	require.Equal(t, answer{"k=1", nil}, <-load("k"))
	require.Equal(t, answer{other + "=1", nil}, <-load(other))

	origin.set("2")
	require.NoError(t, c.Invalidate(t.Context(), "k"))
	require.Equal(t, other+"=1", mustGet(t, c, other), "a value in memory is not touched")
	require.Equal(t, answer{"k=2", nil}, <-load("k"))

	require.NoError(t, c.Invalidate(t.Context(), other))
	waiting := ask(c, other)
	let := <-origin.reading
	require.NoError(t, c.Invalidate(t.Context(), "k"))
	close(let)
	require.Equal(t, answer{other + "=2", nil}, <-waiting)
	require.EqualValues(t, 1, c.Stats().Fenced, "its load is not stored: it costs another")
	require.Equal(t, answer{other + "=2", nil}, <-load(other))
}

// A refresh that a neighbour's change kept from being stored is tried again by
// the next who draws well, without the back-off of a failure.
func TestFence_neighboursChangePutsNoRefreshOff(t *testing.T) {
	var now atomic.Int64
	origin := newGated("v")
	opts := eager[string](time.Minute)
	opts.Now = func() time.Time { return time.Unix(0, now.Load()) }
	c := newCache(t, func(ctx context.Context, key string) (string, error) {
		now.Add(int64(time.Second))
		return origin.load(ctx, key)
	}, opts)
	first := ask(c, "k")
	close(<-origin.reading)
	<-first

	now.Add(int64(50 * time.Second))
	require.Equal(t, Early, mustLookup(t, c, "k").State)
	let := <-origin.reading
	require.NoError(t, c.Invalidate(t.Context(), neighbour(c, "k")))
	close(let)
	require.Eventually(t, func() bool { return c.Stats().Refreshes == 1 }, time.Minute, time.Millisecond)

	require.Equal(t, Early, mustLookup(t, c, "k").State)
	close(<-origin.reading)
	require.Eventually(t, func() bool { return c.Stats().Refreshes == 2 }, time.Minute, time.Millisecond)
	require.Zero(t, c.Stats().RefreshFailures)
	require.Equal(t, Result[string]{"v", Fresh, 0}, mustLookup(t, c, "k"))
}

// Keys built of parts never meet, whatever the parts: not across tenants, not
// across a separator that a part contains.
func TestKeys_ofDifferentPartsKeepTheirOwnValues(t *testing.T) {
	c := newTidy(t, echo(0), Options[string]{TTL: time.Minute})
	owner := func(parts ...string) {
		t.Helper()
		key := keyshape.Join(parts...)
		require.Equal(t, key, mustGet(t, c, key))
		got, err := keyshape.Split(mustGet(t, c, key))
		require.NoError(t, err)
		require.Equal(t, parts, got)
	}
	owner("acme1", "23")
	owner("acme", "123")
	owner("a:b", "cd:e")
	owner("ab:c", "d:e")
	for _, pair := range [][2]string{
		{keyshape.Join("acme1", "23"), keyshape.Join("acme", "123")},
		{keyshape.Join("a:b", "cd:e"), keyshape.Join("ab:c", "d:e")},
		{keyshape.Join("x", ""), keyshape.Join("", "x")}, // not in memory yet
	} {
		found, err := c.GetMany(t.Context(), pair[:])
		require.NoError(t, err)
		require.Equal(t, map[string]string{pair[0]: pair[0], pair[1]: pair[1]}, found)
	}
	require.NoError(t, c.Invalidate(t.Context(), keyshape.Join("acme1", "23")))
	_, ok := c.Peek(keyshape.Join("acme", "123"))
	require.True(t, ok)

	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rnd := rand.New(rand.NewPCG(seed, 0))
	for range 2000 {
		parts := make([]string, 1+rnd.IntN(4))
		for i := range parts {
			b := make([]byte, rnd.IntN(6))
			for j := range b {
				b[j] = "ab:,1\x00\xff"[rnd.IntN(7)]
			}
			parts[i] = string(b)
		}
		owner(parts...)
	}
}

// Whatever hashes keys has collisions among so many: in the places from which
// hits are served two keys in three share one with another. Each key has its
// own value all the same, and losing it is its own affair.
func TestKeys_thatShareAPlaceKeepTheirOwnValues(t *testing.T) {
	n := scaled(5_000, 100_000)
	opts := plain[string](time.Hour)
	opts.MaxEntries, opts.MaxLoads = 2*n, Off
	var round atomic.Int64
	c := newTidy(t, func(_ context.Context, key string) (string, error) {
		return key + "/" + strconv.FormatInt(round.Load(), 10), nil
	}, opts)
	keys := make([]string, n)
	for i := range keys {
		keys[i] = "u" + strconv.Itoa(i)
	}
	check := func(old func(i int) bool) {
		t.Helper()
		many, err := c.GetMany(t.Context(), keys)
		require.NoError(t, err)
		for i, key := range keys {
			want := key + "/" + strconv.FormatInt(round.Load(), 10)
			if old(i) {
				want = key + "/0"
			}
			if v := mustGet(t, c, key); v != want || many[key] != want {
				t.Fatalf("%s: %q and %q, want %q", key, v, many[key], want)
			}
		}
	}
	check(func(int) bool { return true })
	check(func(int) bool { return true })
	round.Store(1)
	for i := 0; i < n; i += 2 {
		require.NoError(t, c.Invalidate(t.Context(), keys[i]))
	}
	for range 2 {
		check(func(i int) bool { return i%2 == 1 })
	}
}
