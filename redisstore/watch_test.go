package redisstore_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird/internal/redistest"
	"github.com/earlybird-cache/earlybird/internal/standstill"
	"github.com/earlybird-cache/earlybird/redisstore"
)

// nears keeps copies as package store says, all under one counter.
type nears struct {
	s *redisstore.Store[string]

	mu      sync.Mutex
	copies  map[string]string
	count   int
	lostAt  time.Time
	refused int // Watches that were not watched
}

func keepNear(s *redisstore.Store[string]) *nears {
	n := &nears{s: s, copies: make(map[string]string)}
	s.Notify(func(key string) {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.count++
		delete(n.copies, key)
	}, func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.count++
		n.lostAt = time.Now()
		clear(n.copies)
	})
	return n
}

// get reads a key as a cache does that holds it to be hot.
func (n *nears) get(ctx context.Context, key string) (string, error) {
	n.mu.Lock()
	v, ok := n.copies[key]
	count := n.count
	n.mu.Unlock()
	if ok {
		return v, nil
	}
	r, watched, err := n.s.Watch(ctx, key)
	n.mu.Lock()
	defer n.mu.Unlock()
	switch {
	case err != nil:
		return "", err
	case !watched:
		n.refused++
	case count == n.count:
		n.copies[key] = r.Value
	}
	return r.Value, nil
}

// has is nil if there is a copy of key that is v.
func (n *nears) has(key, v string) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if got, ok := n.copies[key]; !ok || got != v {
		return fmt.Errorf("the copy is %q, %v, not %q", got, ok, v)
	}
	return nil
}

func (n *nears) lost() time.Time {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.lostAt
}

// holds makes n keep a copy of key that is v.
func (n *nears) holds(t testing.TB, key, v string) {
	t.Helper()
	eventually(t, func() error {
		if _, err := n.get(t.Context(), key); err != nil {
			return err
		}
		return n.has(key, v)
	})
}

// noticed is what the docs state, and what a machine takes besides that is not quiet.
const noticed = time.Second + 1500*time.Millisecond

// Whatever becomes of the connection, the copies go within the time that the
// docs state, and come back with what is there now.
func TestWatch_isLostWithItsConnection(t *testing.T) {
	t.Parallel()
	for name, fate := range map[string]struct {
		begin, end func(*redistest.Server, *redistest.Proxy)
	}{
		"killed":     {func(s *redistest.Server, _ *redistest.Proxy) { s.Kill() }, func(s *redistest.Server, _ *redistest.Proxy) { s.Restart() }},
		"stopped":    {func(s *redistest.Server, _ *redistest.Proxy) { s.Stop() }, func(s *redistest.Server, _ *redistest.Proxy) { s.Continue() }},
		"black hole": {func(_ *redistest.Server, p *redistest.Proxy) { p.BlackHole(true) }, func(_ *redistest.Server, p *redistest.Proxy) { p.BlackHole(false); p.Break() }},
		"broken":     {func(_ *redistest.Server, p *redistest.Proxy) { p.Break() }, nil},
		"thrown out": {func(s *redistest.Server, _ *redistest.Proxy) { s.Do("CLIENT", "KILL", "TYPE", "normal") }, nil},
		"emptied":    {func(s *redistest.Server, _ *redistest.Proxy) { s.Do("FLUSHALL") }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := redistest.Start(t)
			proxy := redistest.NewProxy(t, server.Addr)
			s, other := open(t, brisk(proxy.Addr)), open(t, brisk(server.Addr))
			n := keepNear(s)
			set(t, other, "key", "old")
			n.holds(t, "key", "old")
			if fate.end != nil {
				defer func() { server.Continue() }()
			}
			inTime(t, noticed, func() {
				began := time.Now()
				fate.begin(server, proxy)
				eventually(t, func() error {
					if n.lost().Before(began) {
						return errors.New("not noticed")
					}
					return nil
				})
				t.Logf("noticed after %v", n.lost().Sub(began))
			})
			if fate.end != nil {
				fate.end(server, proxy)
			}
			set(t, other, "key", "new")
			n.holds(t, "key", "new")
			set(t, other, "key", "newer")
			eventually(t, func() error { _, err := n.get(t.Context(), "key"); return errors.Join(err, n.has("key", "newer")) })
			require.Positive(t, s.Stats().Losses)
		})
	}
}

// A connection that is silent only because nothing happens is not lost.
func TestWatch_outlastsQuiet(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	s, other := open(t, patient[string](server.Addr)), open(t, patient[string](server.Addr))
	n := keepNear(s)
	set(t, other, "key", "old")
	n.holds(t, "key", "old")
	time.Sleep(3 * time.Second) // some ten times as long as until it is asked
	require.NoError(t, n.has("key", "old"))
	require.Zero(t, s.Stats().Losses)
	set(t, other, "key", "new")
	n.holds(t, "key", "new")
}

// What the server throws out for lack of room, and what it forgets that it has
// to tell, is told.
func TestWatch_tellsOfEvictionAndOverflow(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, "--tracking-table-max-keys", "10")
	s, other := open(t, patient[string](server.Addr)), open(t, patient[string](server.Addr))
	n := keepNear(s)
	for i := range 40 {
		set(t, other, fmt.Sprint(i), "old")
		n.get(t.Context(), fmt.Sprint(i))
	}
	eventually(t, func() error {
		if told := s.Stats().Changes; told < 20 {
			return fmt.Errorf("%d told", told)
		}
		return nil
	})
	server.Do("CONFIG", "SET", "tracking-table-max-keys", "100000")
	n.holds(t, "0", "old")
	server.Do("CONFIG", "SET", "maxmemory-policy", "allkeys-random")
	server.Do("CONFIG", "SET", "maxmemory", "1")
	server.Try("SET", "x", "y")
	eventually(t, func() error {
		if n.has("0", "old") == nil {
			return errors.New("still there")
		}
		return nil
	})
}

// Once a slot is another server's, nobody keeps what the old one said.
func TestWatch_survivesAFailover(t *testing.T) {
	t.Parallel()
	c := redistest.StartCluster(t, 3, true)
	s, other := open(t, patient[string](c.Addrs()...)), open(t, patient[string](c.Addrs()...))
	n := keepNear(s)
	for round := range 2 {
		for i := range 30 {
			set(t, other, fmt.Sprint(i), "old")
			n.holds(t, fmt.Sprint(i), "old")
		}
		for i := range c.Masters {
			eventually(t, func() error {
				if strings.Contains(c.Replicas[i].Do("INFO", "replication"), "role:master") {
					return nil
				}
				_, err := c.Replicas[i].Try("CLUSTER", "FAILOVER", "TAKEOVER")
				return errors.Join(err, errors.New("still a replica"))
			})
			eventually(t, func() error { // until then it takes what is set, and loses it
				if strings.Contains(c.Masters[i].Do("INFO", "replication"), "role:slave") {
					return nil
				}
				return errors.New("still a master")
			})
			c.Masters[i], c.Replicas[i] = c.Replicas[i], c.Masters[i]
		}
		for i := range 30 {
			set(t, other, fmt.Sprint(i), fmt.Sprint("new", round))
			eventually(t, func() error {
				v, err := n.get(t.Context(), fmt.Sprint(i))
				if err == nil && v != fmt.Sprint("new", round) {
					err = fmt.Errorf("%d is %q", i, v)
				}
				return err
			})
		}
	}
}

// A command that was sent on to another server is not tracked there, although
// the reply to CLIENT CACHING sounds like it.
func TestWatch_isNotFooledByARedirection(t *testing.T) {
	t.Parallel()
	c := redistest.StartCluster(t, 3, false)
	s, other := open(t, patient[string](c.Addrs()...)), open(t, patient[string](c.Addrs()...))
	n := keepNear(s)
	set(t, other, "key", "old")
	n.holds(t, "key", "old")

	from := c.Masters[0]
	for _, m := range c.Masters {
		if keys := m.Do("KEYS", "eb:v:*}key"); keys != "" {
			from = m
		}
	}
	slot := from.Do("CLUSTER", "KEYSLOT", from.Do("KEYS", "eb:v:*}key"))
	to := c.Masters[0]
	if to == from {
		to = c.Masters[1]
	}
	host, port, _ := strings.Cut(to.Addr, ":")
	to.Do("CLUSTER", "SETSLOT", slot, "IMPORTING", from.Do("CLUSTER", "MYID"))
	from.Do("CLUSTER", "SETSLOT", slot, "MIGRATING", to.Do("CLUSTER", "MYID"))
	keys := strings.Fields(from.Do("CLUSTER", "GETKEYSINSLOT", slot, "10"))
	require.Equal(t, "OK", from.Do(append([]string{"MIGRATE", host, port, "", "0", "30000", "KEYS"}, keys...)...))
	eventually(t, func() error {
		if n.has("key", "old") == nil {
			return errors.New("not told that the key has gone")
		}
		return nil
	})
	refused := n.refused

	finds := func(v string) {
		t.Helper()
		eventually(t, func() error {
			got, err := n.get(t.Context(), "key")
			if err == nil && got != v {
				err = fmt.Errorf("%q, not %q", got, v)
			}
			return err
		})
	}
	for range 5 {
		finds("old")
		require.Error(t, n.has("key", "old"), "ASK")
	}
	require.Equal(t, refused+5, n.refused)
	for _, m := range c.Masters {
		m.Do("CLUSTER", "SETSLOT", slot, "NODE", to.Do("CLUSTER", "MYID"))
	}
	finds("old") // MOVED, perhaps
	set(t, other, "key", "new")
	finds("new")
	n.holds(t, "key", "new")
	set(t, other, "key", "newer")
	n.holds(t, "key", "newer")
}

// How soon a change is told, other things being quiet: to be read, and judged
// only as far as a busy machine allows.
func TestWatch_tellsSoon(t *testing.T) {
	server := redistest.Start(t)
	s, other := open(t, patient[string](server.Addr)), open(t, patient[string](server.Addr))
	standstill.Rounds(t, brief, func(t testing.TB) {
		told := make(chan time.Time, 1000)
		s.Notify(func(string) { told <- time.Now() }, func() {})
		var took []time.Duration
		for i := range 300 {
			set(t, other, "key", fmt.Sprint(i))
			_, watched, err := s.Watch(t.Context(), "key")
			require.NoError(t, err)
			require.True(t, watched)
			require.NoError(t, other.Invalidate(t.Context(), "key"))
			confirmed := time.Now()
			took = append(took, (<-told).Sub(confirmed))
		}
		slices.Sort(took)
		t.Logf("told %v (half), %v (99 %%) after the change was confirmed", took[150], took[297])
		require.Less(t, took[150], 50*time.Millisecond)
	})
}

// Raising the epoch of every slot tells each watcher once of each of its keys.
func TestWatch_tellsOfInvalidateAll(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	s, other := open(t, patient[string](server.Addr)), open(t, patient[string](server.Addr))
	n := keepNear(s)
	for i := range 300 {
		set(t, other, fmt.Sprint(i), "old")
		n.holds(t, fmt.Sprint(i), "old")
	}
	before := s.Stats().Changes
	require.Equal(t, 300, s.Stats().Watched)
	require.NoError(t, other.InvalidateAll(t.Context()))
	eventually(t, func() error {
		if left := s.Stats().Watched; left > 0 {
			return fmt.Errorf("%d left", left)
		}
		return nil
	})
	require.EqualValues(t, 300, s.Stats().Changes-before)
	require.Zero(t, s.Stats().Losses)
}

func TestWatch_isBounded(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	opts := patient[string](server.Addr)
	opts.MaxWatched = 2
	s := open(t, opts)
	keepNear(s)
	for i := range 4 {
		set(t, s, fmt.Sprint(i), "v")
		r, watched, err := s.Watch(t.Context(), fmt.Sprint(i))
		require.NoError(t, err)
		require.Equal(t, "v", r.Value)
		require.Equal(t, i < 2, watched)
	}
	opts.MaxWatched = -1
	off := open(t, opts)
	keepNear(off)
	_, watched, err := off.Watch(t.Context(), "0")
	require.NoError(t, err)
	require.False(t, watched)
}
