package earlybird_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird"
	"github.com/earlybird-cache/earlybird/hotkeys"
	"github.com/earlybird-cache/earlybird/internal/redistest"
	"github.com/earlybird-cache/earlybird/internal/standstill"
	"github.com/earlybird-cache/earlybird/redisstore"
)

// Within 2s of becoming hot a key that is read 10,000 times a second is read in
// process, although nothing else is.
func TestFleetHot_aPromotedKeyIsReadInProcess(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	f := start(t, 1, named, earlybird.Options[string]{NearTTL: earlybird.Off}, patient[string](server.Addr))
	c := f.caches[0]
	const rate, readers = 10_000, 50
	read := func(d time.Duration) (reads, asked int, paused time.Duration) {
		watch := standstill.Begin()
		var crowd sync.WaitGroup
		var n atomic.Int64
		before := server.Calls()["mget"]
		for range readers {
			crowd.Go(func() {
				began, mine := time.Now(), 0
				for now := began; now.Sub(began) < d; now = time.Now() {
					for ; mine < int(now.Sub(began).Seconds()*rate/readers); mine++ {
						get(t, c, "hot")
					}
					time.Sleep(time.Second * readers / rate)
				}
				n.Add(int64(mine))
			})
		}
		crowd.Wait()
		return int(n.Load()), server.Calls()["mget"] - before, watch.Longest()
	}
	_, cold, _ := read(100 * time.Millisecond)
	require.Positive(t, cold, "it is not hot yet")
	if reads, _, _ := read(2 * time.Second); reads < rate { // of twice as many
		t.Skip("the machine is too slow to read so often")
	}
	for range 10 {
		reads, asked, paused := read(500 * time.Millisecond)
		t.Logf("%d of %d reads asked the server, standstill %v", asked, reads, paused)
		if asked >= reads/20 && paused > 50*time.Millisecond {
			continue // a key that nobody reads for a while is not hot
		}
		require.Less(t, asked, reads/20)
		break
	}
	eventually(t, func() error {
		read(50 * time.Millisecond)
		if hot := c.Hot(); len(hot) != 1 || hot[0].State != hotkeys.Promoted || !hot[0].Watched {
			return fmt.Errorf("not promoted and watched: %+v", hot)
		}
		return nil
	})
}

// hotFleet are instances that all read one hot key, over and over, each as often as
// it likes.
type hotFleet struct {
	*instances[string]
	version atomic.Int64   // at the origin
	history sync.Map       // when that was, by version
	behind  []atomic.Int64 // how long after it an instance began a read that got what was before, at most, ns
	stop    chan struct{}
	readers sync.WaitGroup
}

// hotLife bounds how long a copy in memory is believed that is told of no change.
const hotLife = time.Second

// newHotFleet has each of tiers read by one instance.
func newHotFleet(t *testing.T, opts earlybird.Options[string], tiers ...redisstore.Options[string]) *hotFleet {
	h := &hotFleet{behind: make([]atomic.Int64, len(tiers)), stop: make(chan struct{})}
	opts.Hot.Life = hotLife
	opts.Ramp = earlybird.Off
	h.instances = start(t, 0, func(string) (string, error) { return strconv.FormatInt(h.version.Load(), 10), nil }, opts, tiers[0])
	h.delay = 2 * time.Millisecond
	for _, tier := range tiers {
		opts.HotKeys = newTracker(t, 50)
		h.join(t, opts, tier)
	}
	for i, c := range h.caches {
		h.readers.Go(func() { h.read(t, i, c) })
	}
	t.Cleanup(func() {
		close(h.stop)
		h.readers.Wait()
	})
	for _, c := range h.caches {
		eventually(t, func() error {
			if hot := c.Hot(); len(hot) == 0 || !hot[0].Watched {
				return errors.New("the key is not hot and watched")
			}
			return nil
		})
	}
	return h
}

func (h *hotFleet) read(t *testing.T, i int, c *earlybird.Cache[string]) {
	for {
		select {
		case <-h.stop:
			return
		case <-time.After(2 * time.Millisecond):
		}
		began := time.Now()
		v, err := c.Get(context.Background(), "hot")
		if err != nil {
			t.Errorf("a read failed: %v", err)
			return
		}
		got, _ := strconv.ParseInt(v, 10, 64)
		if at, ok := h.history.Load(got + 1); ok { // the first change that was not seen
			behind := &h.behind[i]
			behind.Store(max(behind.Load(), int64(began.Sub(at.(time.Time)))))
		}
	}
}

// change changes the key on instance i.
func (h *hotFleet) change(t *testing.T, i int) {
	v := h.version.Add(1)
	if v%4 == 0 {
		require.NoError(t, h.caches[i].Set(t.Context(), "hot", strconv.FormatInt(v, 10)))
	} else {
		require.NoError(t, h.caches[i].Invalidate(t.Context(), "hot"))
	}
	h.history.Store(v, time.Now())
}

// sees waits until instance i reads what is at the origin.
func (h *hotFleet) sees(t *testing.T, i int) {
	want := strconv.FormatInt(h.version.Load(), 10)
	eventually(t, func() error {
		if v := get(t, h.caches[i], "hot"); v != want {
			return fmt.Errorf("version %s, not %s", v, want)
		}
		return nil
	})
}

// latest returns for how long after a change instance i has served what was before,
// since it was asked the last time.
func (h *hotFleet) latest(i int) time.Duration { return time.Duration(h.behind[i].Swap(0)) }

// Whichever instance changes a hot key, the others have it well within 50ms.
func TestFleetHot_changesAreToldInTime(t *testing.T) {
	for _, near := range []time.Duration{10 * time.Second, earlybird.Off} {
		t.Run(fmt.Sprint("near ", near), func(t *testing.T) {
			onEach(t, func(t *testing.T, servers []*redistest.Server) {
				tier := patient[string](addrs(servers)...)
				h := newHotFleet(t, earlybird.Options[string]{NearTTL: near}, tier, tier, tier)
				// The servers may stand still, too, and nobody watches them: one round in
				// time will do. Without the word it would take most of hotLife.
				late := time.Hour
				for round := 0; round < 10 && late >= 50*time.Millisecond; round++ {
					behind := h.behindChanges(t, 30)
					late = behind[len(behind)*99/100-1]
					t.Logf("behind, but for standstills: half %v, 99 in 100 %v, most %v", behind[len(behind)/2], late, behind[len(behind)-1])
				}
				require.Less(t, late, 50*time.Millisecond)
			})
		})
	}
}

// behindChanges makes so many changes, on one instance after the other, and returns
// how long after each the others served what was before, the longest last.
func (h *hotFleet) behindChanges(t *testing.T, changes int) (behind []time.Duration) {
	for n := range changes {
		watch, changing := standstill.Begin(), n%len(h.caches)
		h.change(t, changing)
		time.Sleep(30 * time.Millisecond)
		paused := watch.Longest()
		for i := range h.caches {
			if d := h.latest(i); i == changing {
				require.LessOrEqual(t, d, time.Duration(0), "who changes it has it at once")
			} else {
				behind = append(behind, max(0, d-paused))
			}
		}
	}
	slices.Sort(behind)
	return behind
}

// However the way to the server breaks, nobody serves what another has changed for
// longer than it takes to notice that, and a copy of a connection that is lost is
// asked about at once.
func TestFleetHot_lostWordIsNotWaitedFor(t *testing.T) {
	const notices = 1100 * time.Millisecond // as redisstore says, with some to spare
	for name, cut := range map[string]struct {
		begin func(server *redistest.Server, p *redistest.Proxy) (end func())
		bound time.Duration // how long an instance that is cut off serves what it has
	}{
		"reconnect": {func(_ *redistest.Server, p *redistest.Proxy) func() {
			p.Break()
			return func() {}
		}, 0},
		"deaf": {func(_ *redistest.Server, p *redistest.Proxy) func() {
			p.Deafen(true)
			return func() { p.Deafen(false); p.Break() }
		}, notices},
		"black hole": {func(_ *redistest.Server, p *redistest.Proxy) func() {
			p.BlackHole(true)
			return func() { p.BlackHole(false); p.Break() }
		}, notices},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := redistest.Start(t)
			proxy := redistest.NewProxy(t, server.Addr)
			h := newHotFleet(t, earlybird.Options[string]{NearTTL: earlybird.Off}, patient[string](server.Addr), brisk[string](proxy.Addr))
			watch := standstill.Begin()
			end := cut.begin(server, proxy)
			h.change(t, 0)
			h.sees(t, 1)
			behind, paused := h.latest(1), watch.Longest()
			t.Logf("behind for %v, standstill %v", behind, paused)
			require.LessOrEqual(t, behind, cut.bound+budget+2*paused+100*time.Millisecond)
			end()
			var n atomic.Int64
			eventually(t, func() error { return wellAgain(t, h.caches[1], &n) })
			h.change(t, 0)
			h.sees(t, 1)
		})
	}
}

// A server that dies, and comes back with nothing, or that stands still, costs the
// readers of a hot key no more than that: they go on, and see the next change.
func TestFleetHot_serverGoesAndComesBack(t *testing.T) {
	for name, begin := range map[string]func(*redistest.Server) (end func()){
		"killed": func(s *redistest.Server) func() {
			s.Kill()
			return s.Restart
		},
		"stopped": func(s *redistest.Server) func() {
			s.Stop()
			return s.Continue
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := redistest.Start(t)
			h := newHotFleet(t, earlybird.Options[string]{NearTTL: earlybird.Off}, brisk[string](server.Addr), brisk[string](server.Addr))
			watch := standstill.Begin()
			h.version.Add(1) // what is loaded from here on has it, and nobody is told
			end := begin(server)
			_ = h.caches[0].Invalidate(t.Context(), "hot") // it is pending, and holds here
			require.Equal(t, "1", get(t, h.caches[0], "hot"))
			h.history.Store(int64(1), time.Now())
			h.sees(t, 1) // from the origin: what it has had is of a connection that was lost
			time.Sleep(50 * time.Millisecond)
			behind, paused := h.latest(1), watch.Longest()
			t.Logf("behind for %v, standstill %v", behind, paused)
			require.Less(t, behind, hotLife+time.Second+2*budget+paused)
			end()
			for i, c := range h.caches {
				var n atomic.Int64
				eventually(t, func() error { return wellAgain(t, c, &n) })
				eventually(t, func() error {
					get(t, c, "hot")
					if hot := c.Hot(); len(hot) == 0 || !hot[0].Watched {
						return fmt.Errorf("instance %d: the key is not watched", i)
					}
					return nil
				})
			}
			for n := range 10 {
				h.latest(1 - n%2)
				watch := standstill.Begin()
				h.change(t, n%2)
				h.sees(t, 1-n%2)
				behind := h.latest(1 - n%2)
				require.Less(t, behind, hotLife+watch.Longest())
			}
		})
	}
}

// Copies of a split key lie on three masters of a Cluster. Once a change has returned
// nobody is given what was before, from whichever copy; and keys of users that are
// spelt like a copy are keys like others.
func TestFleetHot_splitKeysChangeEverywhere(t *testing.T) {
	t.Parallel()
	servers := sharedCluster(t)
	var db rows
	lookalikes := []string{"k#0", "k#1", "k#2", "k@1", "1/3:k", "c:1/3:{k}k", "{k}k"}
	for _, key := range lookalikes {
		db.Store(key, "value of "+key)
	}
	db.Store("k", "v0")
	const threshold = 50
	opts := earlybird.Options[string]{
		NearTTL: earlybird.Off, Instances: 4, Ramp: earlybird.Off,
		Hot: hotkeys.Rule{Life: earlybird.Off, ServerReads: 20},
	}
	f := start(t, 0, db.value, opts, patient[string](addrs(servers)...))
	f.delay = time.Millisecond
	for range 4 {
		opts.HotKeys = newTracker(t, threshold)
		f.join(t, opts, patient[string](addrs(servers)...))
	}
	read := func(d time.Duration, want string) {
		var readers sync.WaitGroup
		for _, c := range f.caches {
			readers.Go(func() {
				for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(3 * time.Millisecond) {
					if v := get(t, c, "k"); v != want {
						t.Errorf("%s, not %s", v, want)
					}
				}
			})
		}
		readers.Wait()
	}
	for deadline := time.Now().Add(time.Minute); ; {
		read(100*time.Millisecond, "v0")
		split := 0
		for _, c := range f.caches {
			if hot := c.Hot(); len(hot) == 1 && hot[0].State == hotkeys.Split && hot[0].Copies == 3 {
				split++
			}
		}
		if split == 4 {
			break
		}
		require.True(t, time.Now().Before(deadline), "%d of 4 have split the key", split)
	}
	found := func() (n uint64) {
		for _, s := range f.stores {
			n += s.Stats().CopiesFound
		}
		return n
	}
	before, deadline := found(), time.Now().Add(time.Minute)
	for n := 0; n < 20 || found() <= before+20; n++ {
		require.True(t, time.Now().Before(deadline), "no copies are read")
		v := fmt.Sprint("v", n+1)
		db.Store("k", v)
		if n%2 == 0 {
			require.NoError(t, f.caches[n%4].Set(t.Context(), "k", v))
		} else {
			require.NoError(t, f.caches[n%4].Invalidate(t.Context(), "k"))
		}
		read(30*time.Millisecond, v)
		for _, key := range lookalikes {
			require.Equal(t, "value of "+key, get(t, f.caches[n%4], key))
		}
	}
	loads := f.loadsOf("k#1")
	require.NoError(t, f.caches[0].Invalidate(t.Context(), "k"))
	get(t, f.caches[1], "k#1")
	require.Equal(t, loads, f.loadsOf("k#1"), "k is not k#1")
	require.Zero(t, f.stats().TierErrors)
}
