package earlybird

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// newTidy is newCache for a test that expects its cache to be left clean: once
// it is closed nothing waits, nothing runs, and no side table holds a key.
func newTidy[V any](t *testing.T, load Loader[V], opts Options[V]) *Cache[V] {
	t.Helper()
	var c *Cache[V]
	t.Cleanup(func() { requireIdle(t, c) }) // runs after newCache's, which closes
	c = newCache(t, load, opts)
	return c
}

func requireIdle[V any](t *testing.T, c *Cache[V]) {
	t.Helper()
	s := c.Stats()
	require.Zero(t, s.LoadsNow)
	require.Zero(t, s.Waiting)
	require.Zero(t, s.GateQueue)
	require.Empty(t, c.flights.table)
	require.Empty(t, c.calls.ofKey)
	require.Zero(t, c.gate.running)
}

// plain are the options of a test about something else: lives are exact and
// nothing is refreshed early.
func plain[V any](ttl time.Duration) Options[V] {
	return Options[V]{TTL: ttl, Jitter: Off, Beta: Off, Ramp: Off}
}

// eager are options under which every read inside the refresh window is
// elected. The window of a load that took d opens 36.7*d before expiry.
func eager[V any](ttl time.Duration) Options[V] {
	return Options[V]{TTL: ttl, Jitter: Off, Ramp: Off, Rand: func() float64 { return 0 }}
}

// echo is an origin that knows every key, by its own name, after d.
func echo(d time.Duration) Loader[string] {
	return func(_ context.Context, key string) (string, error) {
		time.Sleep(d)
		return key, nil
	}
}

func mustGet[V any](t *testing.T, c *Cache[V], key string) V {
	t.Helper()
	v, err := c.Get(t.Context(), key)
	require.NoError(t, err)
	return v
}

func mustLookup[V any](t *testing.T, c *Cache[V], key string) Result[V] {
	t.Helper()
	r, err := c.Lookup(t.Context(), key)
	require.NoError(t, err)
	return r
}
