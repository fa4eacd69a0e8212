package redisstore_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird/internal/redistest"
	"github.com/earlybird-cache/earlybird/internal/standstill"
	"github.com/earlybird-cache/earlybird/redisstore"
	"github.com/earlybird-cache/earlybird/store"
)

func spread(t testing.TB, s *redisstore.Store[string], key string, n int) {
	t.Helper()
	eventually(t, func() error { return s.Spread(t.Context(), key, n) })
}

func copyOf(t testing.TB, s *redisstore.Store[string], key string, i, n int) store.Copy[string] {
	t.Helper()
	c, err := s.GetCopy(t.Context(), key, i, n)
	require.NoError(t, err)
	return c
}

// Of the reads of a key of three copies, no server of three gets much more than a
// third. They are counted by the servers.
func TestGetCopy_spreadsReads(t *testing.T) {
	t.Parallel()
	c := redistest.StartCluster(t, 3, false)
	s := open(t, patient[string](c.Addrs()...))
	const n, reads = 3, 300
	for _, key := range []string{"", "key", "k#1", "{tag}k", "}", "12706", "b"} {
		set(t, s, key, "v")
		spread(t, s, key, n)
		for _, m := range c.Masters {
			m.Do("CONFIG", "RESETSTAT")
		}
		for i := range reads {
			r := copyOf(t, s, key, i%n, n)
			if r.Kind == store.Missing { // ended; a reader asks the base
				require.NoError(t, finds(t, s, key, "v"))
			}
			if r.Due {
				spread(t, s, key, n)
			}
		}
		var most, all int
		for _, m := range c.Masters {
			calls := m.Calls()
			asked := calls["get"] + calls["mget"]
			most, all = max(most, asked), all+asked
		}
		share := float64(most) / float64(all)
		t.Logf("%q: the busiest server gets %.3f of the reads", key, share)
		require.LessOrEqual(t, share, 0.40, "%q", key)
		require.GreaterOrEqual(t, all, reads)
	}
}

// hold keeps back what is written to one server while it holds.
type hold struct {
	addr string
	mu   sync.Mutex
	free chan struct{} // nil: nothing is held
}

type heldConn struct {
	net.Conn
	*hold
}

func (h *hold) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, addr)
	if err == nil && addr == h.addr {
		return heldConn{conn, h}, nil
	}
	return conn, err
}

func (c heldConn) Write(p []byte) (int, error) {
	c.mu.Lock()
	free := c.free
	c.mu.Unlock()
	if free != nil {
		<-free
	}
	return c.Conn.Write(p)
}

// begin holds, and returns what ends it.
func (h *hold) begin() (end func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.free = make(chan struct{})
	return sync.OnceFunc(func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		close(h.free)
		h.free = nil
	})
}

// far returns the key "key" and the server of its copy 1 of 3.
func far(c *redistest.Cluster) *redistest.Server {
	base := c.MasterOf(redisstore.SlotOf("key"))
	for _, m := range c.Masters {
		if m != base && m == c.MasterOf(redisstore.SlotOfCopy("key", 1, 3)) {
			return m
		}
	}
	return nil
}

// What was read of the base before a change and is written after it stores
// nothing: tombstones stay tombstones, and what is new stays new.
func TestSpread_lateRevivesNothing(t *testing.T) {
	t.Parallel()
	c := redistest.StartCluster(t, 3, false)
	other := open(t, patient[string](c.Addrs()...))
	for name, change := range map[string]func(){
		"invalidated":     func() { require.NoError(t, other.Invalidate(t.Context(), "key")) },
		"all invalidated": func() { require.NoError(t, other.InvalidateAll(t.Context())) },
		"set":             func() { _, err := other.Set(t.Context(), "key", value("new")); require.NoError(t, err) },
		"set and spread": func() {
			_, err := other.Set(t.Context(), "key", value("new"))
			require.NoError(t, err)
			require.NoError(t, other.Spread(t.Context(), "key", 3))
		},
	} {
		t.Run(name, func(t *testing.T) {
			standstill.Rounds(t, 5*brief, func(t testing.TB) {
				h := &hold{addr: far(c).Addr}
				opts := patient[string](c.Addrs()...)
				opts.Dial = h.dial
				s := open(t, opts)
				set(t, s, "key", "old")
				require.NoError(t, finds(t, s, "key", "old"))
				copyOf(t, s, "key", 1, 3) // so that it is connected
				for _, m := range c.Masters {
					m.Do("CONFIG", "RESETSTAT")
				}
				release := h.begin()
				defer release()
				done := make(chan error)
				go func() { done <- s.Spread(context.Background(), "key", 3) }()
				eventually(t, func() error { // it has read the base
					if other := copyOf(t, other, "key", 2, 3); other.Value != "old" {
						return fmt.Errorf("found %+v", other)
					}
					return nil
				})
				change()
				release()
				require.NoError(t, <-done)
				for i := range 3 {
					require.NotEqual(t, "old", copyOf(t, other, "key", i, 3).Value, "copy %d", i)
				}
			})
		})
	}
}

// A change that a copy's server does not hear of is pending. This store sees none
// of the key's copies then, others see the old one no longer than it lives; the
// base is as well as ever.
func TestInvalidate_ofACopyOutOfReach(t *testing.T) {
	t.Parallel()
	c := redistest.StartCluster(t, 3, false)
	for name, change := range map[string]func(s *redisstore.Store[string]) error{
		"Invalidate": func(s *redisstore.Store[string]) error { return s.Invalidate(t.Context(), "key", "cold") },
		"Set": func(s *redisstore.Store[string]) error {
			g, err := s.Set(t.Context(), "key", value("new"))
			require.NotZero(t, g)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			standstill.Rounds(t, brief, func(t testing.TB) {
				h := &hold{addr: far(c).Addr}
				opts := brisk(c.Addrs()...)
				opts.Dial = h.dial
				s, other := open(t, opts), open(t, patient[string](c.Addrs()...))
				set(t, other, "key", "old")
				eventually(t, func() error { return finds(t, s, "key", "old") })
				eventually(t, func() error {
					_, err := s.GetCopy(t.Context(), "key", 1, 3)
					return err
				})
				spread(t, other, "key", 3)
				copied := time.Now()
				release := h.begin()
				defer release()
				var err error
				inTime(t, soon, func() { err = change(s) })
				var pending *store.PendingError
				require.ErrorAs(t, err, &pending)
				require.Equal(t, []string{"key"}, pending.Keys)
				require.Empty(t, pending.Lost)
				require.Equal(t, 1, s.Stats().Pending)

				require.Equal(t, store.Missing, copyOf(t, s, "key", 2, 3).Kind)
				require.NotEqual(t, "old", copyOf(t, other, "key", 2, 3).Value, "copies in reach are told")
				_, err = s.Set(t.Context(), "key", value("new"))
				require.ErrorAs(t, err, &pending, "its copies are still owed")
				require.NoError(t, finds(t, s, "key", "new"), "but the base has taken it")
				for copyOf(t, other, "key", 1, 3).Value == "old" {
					require.Less(t, time.Since(copied), store.CopyLife+soon)
					time.Sleep(5 * time.Millisecond)
				}
				release()
				eventually(t, func() error {
					if n := s.Stats().Pending; n > 0 {
						return fmt.Errorf("%d pending", n)
					}
					return nil
				})
				spread(t, other, "key", 3)
				eventually(t, func() error {
					c, err := s.GetCopy(t.Context(), "key", 1, 3)
					if err == nil && c.Value != "new" {
						err = fmt.Errorf("found %q", c.Value)
					}
					return err
				})
			})
		})
	}
}

// Nonsense in what is noted of a slot makes nothing fail, and is overwritten.
func TestSpread_damagedNotes(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	s := open(t, patient[string](server.Addr))
	set(t, s, "key", "v")
	tag := tagOf(t, server, "key")
	note := "eb:s:{" + tag + "}"
	name := "eb:v:{" + tag + "}key"
	pack := func(lua string) string {
		return server.Do("EVAL", "return cmsgpack.pack("+strings.ReplaceAll(lua, "NAME", "'"+name+"'")+")", "0")
	}
	for _, nonsense := range []string{
		"", "nonsense", "\xff", "\x81", strings.Repeat("\x91", 1000),
		pack("1"), pack("{1, 2, 3}"), pack("{[NAME] = 1}"), pack("{[NAME] = {}}"), pack("{[NAME] = {g = 'x', of = {}}}"),
		pack("{[NAME] = {g = 1, of = 7}}"), pack("{[NAME] = {g = 9e15, of = {[3] = 9e15}}}"), pack("{[NAME] = {g = 1.5, of = {[3] = 1e300}}}"),
		pack("{[NAME] = {g = 1, of = {[1e9] = 9e15, [-1] = 9e15, [2.5] = 9e15, x = 9e15, [3] = 'x', [4] = -1}}}"),
		pack("{other = {g = 1, of = {[2] = 9e15}}, [5] = 6}"),
	} {
		spoil := func() { server.Do("SET", note, nonsense) }
		if nonsense == "" {
			spoil = func() { server.Do("DEL", note); server.Do("LPUSH", note, "no string") }
		}
		spoil()
		require.NoError(t, s.Invalidate(t.Context(), "key"), "%q", nonsense)
		spoil()
		require.NoError(t, s.InvalidateAll(t.Context()), "%q", nonsense)
		spoil()
		_, err := s.Set(t.Context(), "key", value("v"))
		require.NoError(t, err, "%q", nonsense)
		spoil()
		standstill.Rounds(t, store.CopyLife/4, func(t testing.TB) {
			require.NoError(t, s.Spread(t.Context(), "key", 3))
			require.Equal(t, "v", copyOf(t, s, "key", 1, 3).Value, "%q", nonsense)
		})
		require.NoError(t, s.Invalidate(t.Context(), "key"))
		require.Equal(t, store.Missing, copyOf(t, s, "key", 1, 3).Kind, "%q", nonsense)
		server.Do("DEL", note)
	}
}

// A copy that is damaged is missing, is counted, and is made again.
func TestGetCopy_damaged(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	s := open(t, patient[string](server.Addr))
	set(t, s, "key", "v")
	baseName := server.Do("KEYS", "eb:v:*")
	var name, whole string
	eventually(t, func() error { // a copy does not live long
		spread(t, s, "key", 2)
		if name = server.Do("KEYS", "eb:r1/2:*"); name != "" {
			whole = server.Do("GET", name)
		}
		if whole == "" {
			return errors.New("no copy")
		}
		return nil
	})
	base := server.Do("GET", baseName)
	damages := []string{"", whole + "x", base, strings.Repeat("\xff", 200)}
	for n := range len(whole) {
		flipped := []byte(whole)
		flipped[n] ^= byte(1 << (n % 8))
		damages = append(damages, whole[:n], string(flipped))
	}
	for _, damage := range damages {
		before := s.Stats().Damaged
		server.Do("SET", name, damage, "PX", "60000")
		c := copyOf(t, s, "key", 1, 2)
		require.Equal(t, store.Missing, c.Kind, "%q", damage)
		require.True(t, c.Due)
		require.Greater(t, s.Stats().Damaged, before, "%q", damage)
	}
	server.Do("SET", name, whole) // without an end
	require.Equal(t, store.Missing, copyOf(t, s, "key", 1, 2).Kind)
	server.Do("SET", baseName, whole, "PX", "60000")
	require.NoError(t, finds(t, s, "key", ""), "a copy is no base")
	server.Do("DEL", name)
	server.Do("LPUSH", name, "x")
	_, err := s.GetCopy(t.Context(), "key", 1, 2)
	require.ErrorIs(t, err, store.ErrUnavailable)
	set(t, s, "key", "new")
	eventually(t, func() error {
		spread(t, s, "key", 2)
		if c := copyOf(t, s, "key", 1, 2); c.Value != "new" {
			return fmt.Errorf("found %+v", c)
		}
		return nil
	})
	for raw := range strings.SplitSeq(server.Do("KEYS", "*"), "\n") {
		require.NotEqual(t, "-1", server.Do("PTTL", raw), "everything ends by itself: %s", raw)
	}
}

// However many keep asking for it, copies are made now and then only.
func TestSpread_isRare(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	a, b := open(t, patient[string](server.Addr)), open(t, patient[string](server.Addr))
	set(t, a, "key", "v")
	server.Do("CONFIG", "RESETSTAT")
	began := time.Now()
	for range 300 {
		spread(t, a, "key", 3)
		spread(t, b, "key", 3)
	}
	stored := server.Calls()["set"] / 3 // a note and two copies
	require.Positive(t, stored)
	require.LessOrEqual(t, stored, 1+int(time.Since(began)/(store.CopyLife/4)))
}
