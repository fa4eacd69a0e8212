package model

import (
	"math/rand/v2"
	"sync"
	"time"

	"github.com/earlybird-cache/earlybird"
	"github.com/earlybird-cache/earlybird/store"
	"github.com/earlybird-cache/earlybird/storetest"
)

// Tier is what the caches of a fleet share, and how they reach it.
type Tier struct {
	Caches  int // 0, 1: one cache, and no tier
	NearTTL time.Duration
	MaxWait time.Duration
	Outage  earlybird.Outage

	Latency, Jitter, Budget time.Duration
	Losing                  float64 // share of messages that are lost, in each direction
	Delaying                float64 // share of requests that come when nobody waits for the reply any more

	Trouble  float64 // share of trouble in what clients do
	Troubles []Verb
	Cuts     time.Duration // how long a cache is cut off at most
}

// mostDelay is how late a request comes at most.
const mostDelay = 250 * time.Millisecond

// lag is how long what is known of a value can be on its way, out and back.
func (t Tier) lag() time.Duration {
	lag := 2*(t.Latency+t.Jitter) + time.Microsecond
	if t.Delaying > 0 {
		lag += mostDelay
	}
	return lag
}

func (t Tier) addTo(o *earlybird.Options[Value]) {
	if t.Caches > 1 {
		o.NearTTL, o.MaxWait, o.Outage = t.NearTTL, t.MaxWait, t.Outage
	}
}

// tier is that of a run.
type tier struct {
	Tier
	history *History
	server  *storetest.Memory[Value]
	clients []*storetest.Client[Value]

	mu    sync.Mutex
	r     *rand.Rand
	saved func()
}

func newTier(h *History, s Script) *tier {
	t := &tier{Tier: s.Profile.Tier, history: h, r: rand.New(rand.NewPCG(s.Seed, 2)), saved: func() {}}
	t.server = storetest.NewMemory(storetest.Options[Value]{
		Latency: t.Latency, Jitter: t.Jitter, Budget: t.Budget, Rand: t.draw, Fault: t.fault,
	})
	return t
}

func (t *tier) draw() float64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.r.Float64()
}

// client returns what the next cache has of the tier.
func (t *tier) client() store.Store[Value] {
	c := t.server.Client()
	t.clients = append(t.clients, c)
	return &witness{Store: c, cache: c.ID(), history: t.history}
}

// fault is what becomes of a message.
func (t *tier) fault(call storetest.Call) storetest.Fault {
	if call.Method == "Invalidate" {
		t.history.trouble(Trouble{Verb: again, Cache: call.Client})
	}
	switch x := t.draw(); {
	case x < t.Losing:
		return storetest.Fault{LoseRequest: true}
	case x < 2*t.Losing:
		return storetest.Fault{LoseReply: true}
	case x < 2*t.Losing+t.Delaying:
		return storetest.Fault{Delay: t.Budget + time.Duration(t.draw()*float64(mostDelay-t.Budget))}
	}
	return storetest.Fault{}
}

// again is the trouble that a client sends an Invalidate, be it the first time or
// because an earlier one failed.
const again Verb = "invalidates in the tier"

// befall does what the tier is to suffer.
func (t *tier) befall(o Op) {
	t.history.trouble(Trouble{Verb: o.Verb, Cache: o.N, Keys: o.Keys})
	switch o.Verb {
	case Cut:
		t.server.Cut(o.N)
	case Heal:
		t.server.Heal()
	case Evict:
		t.server.Evict(o.Keys[0])
	case EvictLease:
		t.server.EvictLease(o.Keys[0])
	case Lose:
		t.server.Lose()
	case Save:
		t.save(t.server.Replicate())
	case FailOver:
		t.failOver()
	}
}

func (t *tier) save(saved func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.saved = saved
}

func (t *tier) failOver() {
	t.mu.Lock()
	saved := t.saved
	t.mu.Unlock()
	saved()
}

func (t *tier) close() {
	if t == nil {
		return
	}
	for _, c := range t.clients {
		_ = c.Close()
	}
}
