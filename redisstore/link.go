package redisstore

import (
	"context"
	"crypto/tls"
	"errors"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/rueidis"
)

// link is the way to the servers: the client library, once it has found them.
// That a server is down when the program starts is no reason not to start.
type link struct {
	place   place
	limit   int64 // on what one reply may take
	options rueidis.ClientOption
	dialer  func(ctx context.Context, network, addr string) (net.Conn, error)
	crowded func() bool // more than one call is on its way
	refused func(error)
	moved   func() // called when a slot is found to be another server's
	gone    func() // called when a connection has ended

	elsewhere atomic.Uint64 // commands that were sent on to another server

	client  atomic.Pointer[client]
	ctx     context.Context
	stop    context.CancelFunc
	done    sync.WaitGroup
	first   chan struct{} // closed once the first attempt has ended
	lastErr atomic.Pointer[error]

	mu    sync.Mutex
	conns map[*guarded]struct{}
}

// client is a connected client library.
type client struct {
	rueidis.Client
	cluster  bool
	tracking bool // the server tells what changes
}

// connect tries until it succeeds. connected is called then.
func (l *link) connect(connected func()) {
	once := sync.OnceFunc(func() { close(l.first) })
	defer once()
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, longestPause) {
		c, err := l.attempt()
		if err == nil {
			l.client.Store(c)
			if l.ctx.Err() == nil {
				connected()
			}
			return
		}
		l.lastErr.Store(&err)
		once()
		if !sleep(l.ctx, jittered(pause)) {
			return
		}
	}
}

// attempt connects once. Some servers refuse to tell what changes; those are
// taken as they are.
func (l *link) attempt() (*client, error) {
	for _, tracking := range []bool{true, false} {
		opts := l.options
		if !tracking {
			opts.DisableCache, opts.OnInvalidations = true, nil
		}
		c, err := rueidis.NewClient(opts)
		if err == nil {
			return &client{Client: c, cluster: c.Mode() == rueidis.ClientModeCluster, tracking: tracking}, nil
		}
		if !errors.Is(err, rueidis.ErrNoCache) {
			return nil, err
		}
	}
	return nil, rueidis.ErrNoCache
}

// dial makes a connection that is guarded and known.
func (l *link) dial(ctx context.Context, addr string, d *net.Dialer, _ *tls.Config) (net.Conn, error) {
	if err := l.ctx.Err(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, d.Timeout)
	defer cancel()
	defer context.AfterFunc(l.ctx, cancel)()
	dial := l.dialer
	if dial == nil {
		dial = d.DialContext
	}
	conn, err := dial(ctx, l.place.network, addr)
	if err != nil {
		return nil, err
	}
	if conn, err = l.secure(ctx, conn, addr); err != nil {
		return nil, err
	}
	return l.adopt(conn), nil
}

// secure adds TLS if there is to be any.
func (l *link) secure(ctx context.Context, conn net.Conn, addr string) (net.Conn, error) {
	if l.place.tls == nil {
		return conn, nil
	}
	config := l.place.tls
	if config.ServerName == "" && !config.InsecureSkipVerify {
		host, _, _ := net.SplitHostPort(addr)
		config = config.Clone()
		config.ServerName = strings.Trim(host, "[]")
	}
	secured := tls.Client(conn, config)
	if err := secured.HandshakeContext(ctx); err != nil {
		conn.Close()
		return nil, err
	}
	return secured, nil
}

// adopt guards conn and keeps count of it.
func (l *link) adopt(conn net.Conn) net.Conn {
	var g *guarded
	g = guard(conn, l.limit, l.crowded, l.refused, func() {
		l.gone()
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.conns, g)
	})
	g.elsewhere = l.sentOn
	l.mu.Lock()
	l.conns[g] = struct{}{}
	l.mu.Unlock()
	if l.ctx.Err() != nil { // closed meanwhile
		g.Close()
	}
	return g
}

// sentOn is for a command that another server has to answer. The library sends
// it there by itself, and nobody else would learn of it.
func (l *link) sentOn(forGood bool) {
	l.elsewhere.Add(1)
	if forGood {
		l.moved()
	}
}

// close ends the client. The library says goodbye to each server and would wait
// for its answer; after a moment the connections are closed over its head.
func (l *link) close() {
	l.stop()
	l.done.Wait()
	if c := l.client.Load(); c != nil {
		gone := make(chan struct{})
		go func() { defer close(gone); c.Close() }()
		sleepOr(gone, 100*time.Millisecond)
		defer func() { <-gone }()
	}
	l.mu.Lock()
	var left []*guarded
	for g := range l.conns {
		left = append(left, g)
	}
	l.mu.Unlock()
	for _, g := range left {
		g.Close()
	}
}

// sleepOr waits for done, but not longer than d.
func sleepOr(done <-chan struct{}, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-done:
	}
}

// sleep reports whether d went by before ctx ended.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// jittered returns between half of d and one and a half of it.
func jittered(d time.Duration) time.Duration {
	return d/2 + time.Duration(rand.Float64()*float64(d))
}
