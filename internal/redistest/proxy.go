package redistest

import (
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Proxy is a bad network in front of a server.
type Proxy struct {
	Addr string

	target string
	delay  atomic.Int64
	hole   atomic.Bool
	deaf   atomic.Bool
	mu     sync.Mutex
	conns  map[net.Conn]struct{}
	all    sync.WaitGroup
}

// NewProxy returns a proxy of the server at target, which is closed when the
// test ends.
func NewProxy(t testing.TB, target string) *Proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := &Proxy{Addr: l.Addr().String(), target: target, conns: make(map[net.Conn]struct{})}
	p.all.Go(func() { p.serve(l) })
	t.Cleanup(func() {
		l.Close()
		p.Break()
		p.all.Wait()
	})
	return p
}

// Delay makes every packet of the server's wait.
func (p *Proxy) Delay(d time.Duration) { p.delay.Store(int64(d)) }

// BlackHole swallows everything, in both directions, without closing anything.
func (p *Proxy) BlackHole(on bool) { p.hole.Store(on) }

// Deafen swallows what the server says; what is said to it still arrives.
func (p *Proxy) Deafen(on bool) { p.deaf.Store(on) }

// Break closes all connections.
func (p *Proxy) Break() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		c.Close()
	}
}

func (p *Proxy) serve(l net.Listener) {
	for {
		client, err := l.Accept()
		if err != nil {
			return
		}
		server, err := net.Dial("tcp", p.target)
		if err != nil {
			client.Close()
			continue
		}
		p.mu.Lock()
		p.conns[client], p.conns[server] = struct{}{}, struct{}{}
		p.mu.Unlock()
		p.all.Go(func() { p.pass(server, client, false) })
		p.all.Go(func() { p.pass(client, server, true) })
	}
}

// pass carries what from says to to, until one of them is closed.
func (p *Proxy) pass(to, from net.Conn, fromServer bool) {
	defer func() {
		to.Close()
		from.Close()
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.conns, from)
	}()
	b := make([]byte, 32<<10)
	for {
		n, err := from.Read(b)
		if d := p.delay.Load(); fromServer && d > 0 {
			time.Sleep(time.Duration(d))
		}
		lost := p.hole.Load() || fromServer && p.deaf.Load()
		if n > 0 && !lost {
			if _, err := to.Write(b[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}
