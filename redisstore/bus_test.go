//go:build unix

package redisstore_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird/internal/redistest"
	"github.com/earlybird-cache/earlybird/internal/standstill"
	"github.com/earlybird-cache/earlybird/redisstore"
	"github.com/earlybird-cache/earlybird/store"
)

// guard is what learns by a bus which ids there are. While a gap is open it
// refuses nothing.
type guard struct {
	*redisstore.Store[string]
	mu    sync.Mutex
	knows map[string]bool
	open  bool
	gaps  int
}

func guardOn(s *redisstore.Store[string], from string) *guard {
	g := &guard{Store: s, knows: make(map[string]bool)}
	s.Listen(from, func(f store.Fact) {
		g.mu.Lock()
		defer g.mu.Unlock()
		for _, key := range f.Keys {
			g.knows[key] = true
		}
	}, func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.open = true
		g.gaps++
	})
	return g
}

// repair closes the guard again, as a scan does that has found all ids.
func (g *guard) repair(ids ...string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.open = false
	for _, id := range ids {
		g.knows[id] = true
	}
}

// refuses asks first, and looks after.
func (g *guard) refuses(id string) bool {
	if !g.Hears() {
		return false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return !g.open && !g.knows[id]
}

func (g *guard) gapsNow() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.gaps
}

// works makes g refuse strangers.
func (g *guard) works(t testing.TB) {
	t.Helper()
	eventually(t, func() error {
		g.repair()
		if !g.refuses("stranger") {
			return fmt.Errorf("it is open: hears %v", g.Hears())
		}
		return nil
	})
}

func tell(ctx context.Context, s store.Bus, ids ...string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	return s.Tell(ctx, store.Fact{Kind: "created", Keys: ids})
}

// Whatever becomes of a member's connection or of the server: once a Tell has
// returned no guard refuses the id, a member that is cut off soon refuses
// nothing, and later it works again.
func TestBus_isKeptThroughFailures(t *testing.T) {
	t.Parallel()
	type fate struct {
		begin, end func(*redistest.Server, *redistest.Proxy)
		deaf       bool // cut off long enough to notice
		gap        bool // nobody can know what was missed
	}
	for name, fate := range map[string]fate{
		"server killed":     {func(s *redistest.Server, _ *redistest.Proxy) { s.Kill() }, func(s *redistest.Server, _ *redistest.Proxy) { s.Restart() }, true, true},
		"server stopped":    {func(s *redistest.Server, _ *redistest.Proxy) { s.Stop() }, func(s *redistest.Server, _ *redistest.Proxy) { s.Continue() }, true, false},
		"partition":         {func(_ *redistest.Server, p *redistest.Proxy) { p.BlackHole(true) }, func(_ *redistest.Server, p *redistest.Proxy) { p.BlackHole(false); p.Break() }, true, false},
		"slow network":      {func(_ *redistest.Server, p *redistest.Proxy) { p.Delay(1500 * time.Millisecond) }, func(_ *redistest.Server, p *redistest.Proxy) { p.Delay(0) }, true, false},
		"broken connection": {func(_ *redistest.Server, p *redistest.Proxy) { p.Break() }, nil, false, false},
		"log deleted":       {func(s *redistest.Server, _ *redistest.Proxy) { s.Do("DEL", "eb:f:{"+busTag+"}") }, nil, false, true},
		"table deleted":     {func(s *redistest.Server, _ *redistest.Proxy) { s.Do("DEL", "eb:m:{"+busTag+"}") }, nil, false, true},
		"flushed":           {func(s *redistest.Server, _ *redistest.Proxy) { s.Do("FLUSHALL") }, nil, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := redistest.Start(t)
			proxy := redistest.NewProxy(t, server.Addr)
			all := []*guard{guardOn(open(t, brisk(proxy.Addr)), ""), guardOn(open(t, brisk(server.Addr)), ""), guardOn(open(t, brisk(server.Addr)), "")}
			for _, g := range all {
				g.works(t)
			}
			victim, gaps := all[0], all[0].gapsNow()
			check := func(id string) {
				t.Helper()
				for i, g := range all {
					require.False(t, g.refuses(id), "%d refuses %s", i, id)
				}
			}
			require.NoError(t, tell(t.Context(), all[1], "before"))
			check("before")

			fate.begin(server, proxy)
			defer server.Continue()
			told := make(chan error, 2)
			for i, g := range all[1:] {
				go func() {
					id := fmt.Sprint("during ", i)
					err := tell(t.Context(), g, id)
					for i, g := range all {
						if err == nil && g.refuses(id) {
							err = fmt.Errorf("%d refuses %s", i, id)
						}
					}
					told <- err
				}()
			}
			if fate.deaf {
				eventually(t, func() error {
					if victim.Hears() {
						return errors.New("it thinks that it hears")
					}
					return nil
				})
				require.True(t, victim.Stats().Deaf)
			}
			if name == "partition" || name == "slow network" { // the others go on without it
				require.NoError(t, <-told)
				require.NoError(t, <-told)
				began := time.Now()
				require.NoError(t, tell(t.Context(), all[1], "after it was dropped"))
				t.Logf("then telling takes %v", time.Since(began))
				told <- nil
				told <- nil
			}
			if fate.end != nil {
				fate.end(server, proxy)
			}
			require.NoError(t, <-told)
			require.NoError(t, <-told)
			eventually(t, func() error {
				if !victim.Hears() {
					return errors.New("it does not hear")
				}
				return nil
			})
			for _, id := range []string{"before", "during 0", "during 1"} {
				check(id)
			}
			if fate.gap {
				eventually(t, func() error {
					if victim.gapsNow() == gaps {
						return errors.New("no gap")
					}
					return nil
				})
			} else {
				require.Equal(t, gaps, victim.gapsNow(), "all was still there")
			}
			for _, g := range all {
				g.works(t)
			}
			for i, g := range all {
				id := fmt.Sprint("after ", i)
				require.NoError(t, tell(t.Context(), g, id))
				check(id)
			}
		})
	}
}

// busTag is the tag of the bus of namespace eb.
var busTag = redisstore.BusTag

// Who was cut off for so long that the log does not go back so far knows it.
func TestBus_trimmedLogIsAGap(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	proxy := redistest.NewProxy(t, server.Addr)
	opts := brisk(server.Addr)
	opts.MaxFacts = 100
	there := open(t, opts)
	opts.Addrs = []string{proxy.Addr}
	g := guardOn(open(t, opts), "")
	g.works(t)
	gaps := g.gapsNow()
	place := g.Place()
	proxy.BlackHole(true)
	require.NoError(t, tell(t.Context(), there, "first"))
	var all sync.WaitGroup
	for i := range 50 {
		all.Go(func() {
			for j := range 20 {
				if err := tell(t.Context(), there, fmt.Sprint(i, "/", j)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	require.False(t, g.refuses("first"))
	proxy.BlackHole(false)
	proxy.Break()
	eventually(t, func() error {
		if !g.Hears() {
			return errors.New("it does not hear")
		}
		return nil
	})
	require.False(t, g.refuses("first"))
	require.Greater(t, g.gapsNow(), gaps)

	late := guardOn(open(t, opts), place)
	eventually(t, func() error {
		if !late.Hears() {
			return errors.New("it does not hear")
		}
		return nil
	})
	require.Equal(t, 1, late.gapsNow())
}

// A failover may lose what was told last; nobody is left who does not know that.
func TestBus_failoverIsAGap(t *testing.T) {
	t.Parallel()
	c := redistest.StartCluster(t, 3, true)
	a, b := guardOn(open(t, brisk(c.Addrs()...)), ""), guardOn(open(t, brisk(c.Addrs()...)), "")
	a.works(t)
	b.works(t)
	require.NoError(t, tell(t.Context(), a, "before"))
	gaps := b.gapsNow()
	for i := range c.Masters {
		eventually(t, func() error {
			if strings.Contains(c.Replicas[i].Do("INFO", "replication"), "role:master") {
				return nil
			}
			_, err := c.Replicas[i].Try("CLUSTER", "FAILOVER", "TAKEOVER")
			return errors.Join(err, errors.New("still a replica"))
		})
	}
	for i := range 20 {
		id := fmt.Sprint(i)
		require.NoError(t, tell(t.Context(), a, id))
		require.False(t, a.refuses(id))
		require.False(t, b.refuses(id))
	}
	eventually(t, func() error {
		if b.gapsNow() == gaps || !b.Hears() {
			return errors.New("no gap")
		}
		return nil
	})
	a.works(t)
	b.works(t)
	require.NoError(t, tell(t.Context(), b, "after"))
	require.False(t, a.refuses("after"))
}

const listenerVar = "EARLYBIRD_TEST_LISTENER"

// TestBusListener is run by the test below in a process of its own, to be
// stopped. For each id that it reads it answers whether it would refuse it.
func TestBusListener(t *testing.T) {
	addr, ok := os.LookupEnv(listenerVar)
	if !ok {
		t.Skip("for TestBus_stoppedProcessRefusesNothingNew")
	}
	g := guardOn(open(t, brisk(addr)), "")
	g.works(t)
	fmt.Println("ready")
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		hears := g.Hears()
		fmt.Println("answer", lines.Text(), g.refuses(lines.Text()), hears)
		if lines.Text() == "stranger" {
			g.repair()
		}
	}
}

// A process that stood still has heard nothing, and does not know that it did.
func TestBus_stoppedProcessRefusesNothingNew(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	cmd := exec.Command(os.Args[0], "-test.run", "^TestBusListener$", "-test.timeout", "120s")
	cmd.Env = append(os.Environ(), listenerVar+"="+server.Addr)
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	cmd.Stderr = os.Stderr
	require.NoError(t, cmd.Start())
	defer cmd.Wait()
	defer cmd.Process.Kill()
	defer in.Close()
	lines := bufio.NewScanner(out)
	next := func(prefix string) string {
		for lines.Scan() {
			if rest, ok := strings.CutPrefix(lines.Text(), prefix); ok {
				return rest
			}
		}
		require.Fail(t, "the process ended")
		return ""
	}
	next("ready")
	s := open(t, brisk(server.Addr))
	require.NoError(t, tell(t.Context(), s, "warm"))
	worked := 0
	for i := range 6 {
		id := fmt.Sprint("id", i)
		require.NoError(t, cmd.Process.Signal(syscall.SIGSTOP))
		time.Sleep(time.Duration(i%3) * 100 * time.Millisecond)
		began := time.Now()
		require.NoError(t, tell(t.Context(), s, id))
		t.Logf("telling took %v", time.Since(began))
		io.WriteString(in, id+"\n")
		require.NoError(t, cmd.Process.Signal(syscall.SIGCONT))
		require.True(t, strings.HasPrefix(next("answer "+id), " false"), "it refuses %s", id)
		eventually(t, func() error { // and soon it hears again
			io.WriteString(in, "stranger\n")
			if answer := next("answer stranger "); answer != "true true" {
				return errors.New(answer)
			}
			worked++
			return nil
		})
	}
	require.Equal(t, 6, worked)
}

// Telling takes as long as the messages do, and not longer for one who has gone
// without a word, but the first time.
func TestTell_takesAsLongAsTheMessages(t *testing.T) {
	standstill.Rounds(t, 5*brief, func(t testing.TB) {
		server := redistest.Start(t)
		proxy := redistest.NewProxy(t, server.Addr)
		var all []*guard
		for range 4 {
			g := guardOn(open(t, patient[string](server.Addr)), "")
			g.works(t)
			all = append(all, g)
		}
		gone := guardOn(open(t, brisk(proxy.Addr)), "")
		gone.works(t)
		took := func() time.Duration {
			began := time.Now()
			require.NoError(t, tell(t.Context(), all[0], "id"))
			return time.Since(began)
		}
		time.Sleep(1200 * time.Millisecond)
		var times []time.Duration
		for range 100 {
			times = append(times, took())
			time.Sleep(7 * time.Millisecond)
		}
		slices.Sort(times)
		t.Logf("5 instances: %v (half), %v (99 %%)", times[50], times[99])
		require.Less(t, times[50], 300*time.Millisecond)
		proxy.BlackHole(true)
		first := took()
		second := took()
		t.Logf("one is gone: %v, then %v", first, second)
		require.Greater(t, first, 300*time.Millisecond, "his lease must end")
		require.Less(t, first, 3*time.Second)

		var told atomic.Int32
		var tellers sync.WaitGroup
		began := time.Now()
		for _, g := range all {
			for range 8 {
				tellers.Go(func() {
					for time.Since(began) < time.Second {
						if tell(t.Context(), g, "id") == nil {
							told.Add(1)
						}
					}
				})
			}
		}
		tellers.Wait()
		t.Logf("32 at once tell %d a second", told.Load())
	})
}

// A server that talks nonsense is no bus, and harms nobody.
func TestBus_survivesGarbage(t *testing.T) {
	t.Parallel()
	for _, garbage := range []string{
		":1\r\n", "*0\r\n", "*2\r\n:1\r\n:2\r\n", "*2\r\n$1\r\ne\r\n$1\r\nx\r\n", "*2\r\n$0\r\n\r\n$1\r\n1\r\n", "_\r\n", "-ERR no\r\n",
		"*3\r\n$1\r\ne\r\n$1\r\nm\r\n$3\r\nx:y\r\n", "%1\r\n$1\r\nk\r\n*1\r\n:1\r\n", "*2\r\n$1\r\ne\r\n$20\r\n99999999999999999999\r\n",
	} {
		fake := redistest.NewFake(t, func([]string) string { return garbage })
		g := guardOn(open(t, brisk(fake.Addr)), "")
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		err := g.Tell(ctx, store.Fact{Keys: []string{"k"}})
		cancel()
		require.ErrorIs(t, err, context.DeadlineExceeded, "%q", garbage)
		require.False(t, g.Hears(), "%q", garbage)
	}
}
