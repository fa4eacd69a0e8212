package bus_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird/store"
	"github.com/earlybird-cache/earlybird/storetest"
)

// origin is where ids are committed.
type origin struct {
	mu  sync.Mutex
	ids map[string]bool
}

// guard is what learns by a bus which ids there are. A gap it repairs at once, by
// a scan of the origin.
type guard struct {
	*storetest.Client[string]
	mu    sync.Mutex
	knows map[string]bool
}

func newGuard(c *storetest.Client[string], o *origin, from string, knows map[string]bool) *guard {
	g := &guard{Client: c, knows: knows}
	c.Listen(from, func(f store.Fact) {
		g.mu.Lock()
		defer g.mu.Unlock()
		for _, key := range f.Keys {
			g.knows[key] = true
		}
	}, func() {
		o.mu.Lock()
		scan := maps.Clone(o.ids)
		o.mu.Unlock()
		g.mu.Lock()
		defer g.mu.Unlock()
		g.knows = scan
	})
	return g
}

// snapshot returns what g knows, and the place from which to go on.
func (g *guard) snapshot() (place string, knows map[string]bool) {
	place = g.Place()
	g.mu.Lock()
	defer g.mu.Unlock()
	return place, maps.Clone(g.knows)
}

// refuses asks first, and looks after.
func (g *guard) refuses(id string) bool {
	if !g.Hears() {
		return false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return !g.knows[id]
}

// chaos is a fleet on a tier that fails in all ways it can.
type chaos struct {
	*testing.T
	mem    *storetest.Memory[string]
	origin origin
	rng    *rand.Rand // of whoever holds mu

	mu     sync.Mutex
	guards []*guard
	told   []string
	failed int
	asked  int // by somebody who hears
}

func (c *chaos) draw(n int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.rng.IntN(n)
}

// fault loses and delays messages, some for longer than a lease.
func (c *chaos) fault(storetest.Call) storetest.Fault {
	switch c.draw(300) {
	case 0:
		return storetest.Fault{LoseRequest: true}
	case 1:
		return storetest.Fault{LoseReply: true}
	case 2:
		return storetest.Fault{Delay: time.Duration(c.draw(3000)) * time.Millisecond}
	}
	return storetest.Fault{}
}

// create commits an id, tells it, and sees that nobody refuses it then.
func (c *chaos) create(who int, id string) {
	c.mu.Lock()
	g := c.guards[who%len(c.guards)]
	c.mu.Unlock()
	c.origin.mu.Lock()
	c.origin.ids[id] = true
	c.origin.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), 6*time.Second)
	defer cancel()
	if err := g.Tell(ctx, store.Fact{Keys: []string{id}}); err != nil {
		c.mu.Lock()
		c.failed++
		c.mu.Unlock()
		return
	}
	c.mu.Lock()
	c.told = append(c.told, id)
	c.mu.Unlock()
	c.check(id)
}

func (c *chaos) check(id string) {
	c.mu.Lock()
	guards := append([]*guard(nil), c.guards...)
	c.mu.Unlock()
	for _, g := range guards {
		hears := g.Hears()
		if g.refuses(id) {
			c.Errorf("guard %d refuses %s, which was told", g.ID(), id)
		}
		if hears {
			c.mu.Lock()
			c.asked++
			c.mu.Unlock()
		}
	}
}

// replace ends one instance, with or without a farewell, and begins another,
// with what a third one knows or with nothing.
func (c *chaos) replace() {
	i, warm := c.draw(len(c.guards)), c.draw(len(c.guards)+2)
	from, knows := "", make(map[string]bool)
	if warm < len(c.guards) {
		from, knows = c.guards[warm].snapshot()
	}
	g := newGuard(c.mem.Client(), &c.origin, from, knows)
	c.mu.Lock()
	old := c.guards[i]
	c.guards[i] = g
	c.mu.Unlock()
	if c.draw(2) == 0 {
		c.mem.Cut(old.ID()) // it can not say goodbye
	}
	old.Close()
}

func (c *chaos) strike() {
	switch p := c.draw(100); {
	case p < 50:
		c.mem.Cut(c.guards[c.draw(len(c.guards))].ID())
	case p < 85:
		c.mem.Heal()
	case p < 90:
		c.mem.Lose()
	default:
		c.replace()
	}
}

// Whatever fails, no guard that hears refuses an id whose Tell has returned.
func TestBus_whoHearsHasHeard(t *testing.T) {
	rounds := 2
	if testing.Short() {
		rounds = 1
	}
	for range rounds {
		seed := rand.Uint64()
		synctest.Test(t, func(t *testing.T) {
			c := &chaos{T: t, rng: rand.New(rand.NewPCG(seed, 0)), origin: origin{ids: make(map[string]bool)}}
			c.mem = storetest.NewMemory(storetest.Options[string]{
				Latency: time.Millisecond, Jitter: 10 * time.Millisecond, MaxFacts: 25, Fault: c.fault,
			})
			for range 5 {
				c.guards = append(c.guards, newGuard(c.mem.Client(), &c.origin, "", make(map[string]bool)))
			}
			var all sync.WaitGroup
			end := time.Now().Add(90 * time.Second)
			for who := range 8 {
				all.Go(func() {
					for i := 0; time.Now().Before(end); i++ {
						c.create(who, fmt.Sprint(who, "/", i))
						time.Sleep(time.Duration(c.draw(int(300 * time.Millisecond))))
					}
				})
			}
			for range 4 {
				all.Go(func() {
					for time.Now().Before(end) {
						c.mu.Lock()
						told := c.told
						c.mu.Unlock()
						if n := len(told); n > 0 {
							c.check(told[max(0, n-1-c.draw(50))])
						}
						time.Sleep(time.Duration(c.draw(int(40 * time.Millisecond))))
					}
				})
			}
			all.Go(func() {
				for time.Now().Before(end) {
					c.strike()
					time.Sleep(time.Duration(c.draw(int(2 * time.Second))))
				}
			})
			all.Wait()
			if t.Failed() {
				t.Logf("seed %d", seed)
			}
			require.Greater(t, len(c.told), 200)
			require.Greater(t, c.asked, 2000)
			t.Logf("%d told, %d failed, %d answers by who hears", len(c.told), c.failed, c.asked)
			c.mem.Heal()
			for _, g := range c.guards {
				g.Close()
			}
		})
	}
}
