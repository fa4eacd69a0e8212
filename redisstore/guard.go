package redisstore

import (
	"errors"
	"fmt"
	"net"
	"runtime"
	"sync/atomic"
)

// guarded is a connection that lets through only replies which the client
// library can survive. The library trusts its server: a length of 2^40 makes it
// allocate that, a negative one or a reply nobody asked for makes it panic, on a
// goroutine where nobody can recover. A server that is not Redis at all, or a
// proxy gone wrong, must cost a connection and no more.
//
// It looks at the headers that pass by and skips what they announce, so its cost
// does not grow with the size of values.
type guarded struct {
	net.Conn
	waiting  atomic.Int64 // requests without a reply
	requests scanner      // of the one goroutine that writes
	replies  scanner      // of the one that reads
	refused  func(error)
	onClose  func()
	crowded  func() bool // more than one call is on its way

	elsewhere func(forGood bool) // told of each command that another server has to answer; may be nil
	closed    atomic.Bool
}

// smallWrite is about ten hits.
const smallWrite = 1 << 10

// errProtocol is within the error of a connection that broke the protocol.
var errProtocol = errors.New("reply breaks the protocol")

func guard(conn net.Conn, limit int64, crowded func() bool, refused func(error), onClose func()) *guarded {
	g := &guarded{Conn: conn, crowded: crowded, refused: refused, onClose: onClose}
	g.requests = scanner{limit: 1 << 62, starts: func(byte) error { g.waiting.Add(1); return nil }}
	g.replies = scanner{limit: limit, ends: g.reply}
	return g
}

// Write counts the requests before they are on their way.
//
// The library writes as soon as there is a request, and what else comes while it
// writes goes into the next write. When the callers run on few processors, that
// is one write for each of them, which costs more than all the rest: so a small
// one lets those first who are about to ask too. It does not wait for anybody.
func (g *guarded) Write(p []byte) (int, error) {
	if err := g.requests.scan(p); err != nil {
		return 0, err
	}
	if len(p) < smallWrite && g.crowded() {
		runtime.Gosched()
	}
	return g.Conn.Write(p)
}

// Read returns what was read only if all of it may be.
func (g *guarded) Read(p []byte) (int, error) {
	n, err := g.Conn.Read(p)
	if bad := g.replies.scan(p[:n]); bad != nil {
		g.refused(bad)
		g.Close()
		return 0, bad
	}
	return n, err
}

// reply takes away one request for each reply. Pushes are not asked for.
func (g *guarded) reply(kind byte) error {
	if kind != '>' && g.waiting.Add(-1) < 0 {
		return fmt.Errorf("%w: nobody asked for it", errProtocol)
	}
	if kind == '-' && g.elsewhere != nil {
		switch moved := g.replies.wordIs("MOVED"); {
		case moved, g.replies.wordIs("ASK"):
			g.elsewhere(moved)
		}
	}
	return nil
}

// Close closes the connection.
func (g *guarded) Close() error {
	if !g.closed.Swap(true) {
		g.onClose()
	}
	return g.Conn.Close()
}
