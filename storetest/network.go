package storetest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/earlybird-cache/earlybird/internal/tally"
	"github.com/earlybird-cache/earlybird/store"
)

// Call is one call on its way to the server.
type Call struct {
	Client int // the clients of a Memory are numbered from 0

	// Method is one of store.Store, store.Watcher, store.Splitter or store.Blobs; Notify is a
	// message to a watcher, PutCopies and BuryCopies are the second parts of
	// Spread and of changes; Hear, Read, Tell, Members, Drop and Leave are
	// messages of the bus.
	Method string

	Key string // the first of several
}

// Fault is what becomes of a call's messages. The zero value lets them pass.
type Fault struct {
	// Delay is added to what the request takes. A request that takes longer than
	// its caller waits is carried out all the same when it arrives.
	Delay time.Duration

	// Of a Notify either loss is that of the connection: it falls silent, and
	// the client notices that after Options.Heartbeat.
	LoseRequest bool // the server hears nothing
	LoseReply   bool // the server does it, the client hears nothing

	// Err is what the server answers instead of doing anything.
	Err error
}

// network is who is cut off.
type network struct {
	mu  sync.Mutex
	cut map[int]bool
}

// Cut cuts clients off from the server: their messages and its replies are lost
// until Heal. What they watch they take for lost after Options.Heartbeat.
func (m *Memory[V]) Cut(clients ...int) {
	m.cut(clients)
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range clients {
		m.clients[c].fallSilent()
	}
}

func (m *Memory[V]) cut(clients []int) {
	m.net.mu.Lock()
	defer m.net.mu.Unlock()
	if m.net.cut == nil {
		m.net.cut = make(map[int]bool)
	}
	for _, c := range clients {
		m.net.cut[c] = true
	}
}

// fault returns what becomes of a message.
func (c *Client[V]) fault(method, key string) Fault {
	if c.mem.opts.Fault == nil {
		return Fault{}
	}
	return c.mem.opts.Fault(Call{Client: c.id, Method: method, Key: key})
}

// Heal ends what Cut did, for all clients.
func (m *Memory[V]) Heal() {
	m.net.mu.Lock()
	defer m.net.mu.Unlock()
	clear(m.net.cut)
}

func (m *Memory[V]) isCut(client int) bool {
	m.net.mu.Lock()
	defer m.net.mu.Unlock()
	return m.net.cut[client]
}

func unavailable(method string, err error) error {
	return fmt.Errorf("%w: %s: %w", store.ErrUnavailable, method, err)
}

// exchange sends a call to the server, where step is its effect, and waits for
// the reply.
func (c *Client[V]) exchange(ctx context.Context, method, key string, step func()) error {
	if err := c.usable(ctx); err != nil {
		return err
	}
	fault := c.fault(method, key)
	ctx, cancel := context.WithTimeoutCause(ctx, c.mem.opts.Budget, tally.ErrNoAnswer)
	defer cancel()

	reply := make(chan error, 1)
	if !c.launch(func() { c.travel(fault, method, step, reply) }) {
		return store.ErrClosed
	}
	select {
	case err := <-reply:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-c.closing.Done():
		return store.ErrClosed
	}
}

// launch runs f behind the caller, unless the client is closed.
func (c *Client[V]) launch(f func()) bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	if c.closing.Err() != nil {
		return false
	}
	c.messages.Go(f)
	return true
}

// travel is the way of a request to the server and of its reply back. It goes
// on if the caller no longer waits, as messages do.
func (c *Client[V]) travel(fault Fault, method string, step func(), reply chan<- error) {
	if !c.sleep(c.oneWay() + fault.Delay) {
		return
	}
	if fault.LoseRequest || c.mem.isCut(c.id) {
		return
	}
	if fault.Err != nil {
		reply <- unavailable(method, fault.Err)
		return
	}
	c.mem.mu.Lock()
	step()
	c.mem.mu.Unlock()
	if c.sleep(c.oneWay()) && !fault.LoseReply && !c.mem.isCut(c.id) {
		reply <- nil
	}
}

func (c *Client[V]) oneWay() time.Duration {
	o := c.mem.opts
	if o.Jitter <= 0 {
		return o.Latency
	}
	u := rand.Float64
	if o.Rand != nil {
		u = o.Rand
	}
	return o.Latency + time.Duration(u()*float64(o.Jitter))
}

// sleep reports whether the client is still open after d.
func (c *Client[V]) sleep(d time.Duration) bool {
	if d <= 0 {
		return c.closing.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-c.closing.Done():
		return false
	}
}
