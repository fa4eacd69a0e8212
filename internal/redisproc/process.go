// Package redisproc runs Redis servers as processes of their own, for tests and
// for the simulator.
package redisproc

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os/exec"
	"strconv"
	"sync"
	"time"
)

// ErrNotInstalled is the error of Find.
var ErrNotInstalled = errors.New("redis-server is not installed " +
	"(Debian: apt-get install redis-server; macOS: brew install redis)")

// Find returns the path of redis-server, or of valkey-server.
func Find() (string, error) {
	for _, name := range []string{"redis-server", "valkey-server"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", ErrNotInstalled
}

// Process is a server that was started. Its methods, but for Do, are not safe for
// concurrent use.
type Process struct {
	Addr string // host:port, the same after Restart

	path string
	args []string
	mark net.PacketConn // see freePort
	cmd  *exec.Cmd
	out  output
}

// Launch starts a server on a free port of this machine, with its files in dir and
// with further arguments such as "--maxmemory", "10mb". It keeps nothing on disk by
// itself. Await says when it answers. Kill it.
func Launch(dir string, args ...string) (*Process, error) {
	path, err := Find()
	if err != nil {
		return nil, err
	}
	port, mark, err := freePort()
	if err != nil {
		return nil, err
	}
	p := &Process{path: path, Addr: net.JoinHostPort("127.0.0.1", port), mark: mark}
	p.args = append([]string{
		"--port", port, "--bind", "127.0.0.1", "--dir", dir,
		"--save", "", "--appendonly", "no", "--daemonize", "no", "--repl-diskless-sync-delay", "0",
	}, args...)
	return p, p.run()
}

// freePort returns a port that is free, and whose port for the Cluster's own talk,
// 10,000 higher, is too. Both are below those that systems give to whoever does not
// care, such as every connection that is made before the server is up.
//
// Whoever else looks for one, in this process or in another, must not find it before
// the server is up, nor while it is down. The mark says so: it holds the port of the
// same number that is UDP's, of which a server has no use, until it is closed or
// forgotten.
func freePort() (port string, mark net.PacketConn, err error) {
	for range 100 {
		n := 10_000 + rand.IntN(10_000)
		mark, err := net.ListenPacket("udp", fmt.Sprintf("127.0.0.1:%d", n))
		if err != nil {
			continue
		}
		if isFree(n) && isFree(n+10_000) {
			return strconv.Itoa(n), mark, nil
		}
		mark.Close()
	}
	return "", nil, errors.New("no free port")
}

func isFree(port int) bool {
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		return false
	}
	l.Close()
	return true
}

func (p *Process) run() error {
	p.cmd = exec.Command(p.path, p.args...)
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.out
	return p.cmd.Start()
}

// Await waits until the server accepts connections, for 20s at most.
func (p *Process) Await() error {
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(2 * time.Millisecond) {
		conn, err := net.DialTimeout("tcp", p.Addr, time.Second)
		if err == nil {
			return conn.Close()
		}
	}
	return fmt.Errorf("%s does not come up:\n%s", p.path, p.out.String())
}

// Kill ends the process at once, as kill -9 does. Killing it again does nothing.
func (p *Process) Kill() {
	if p.cmd == nil || p.cmd.Process == nil || p.cmd.ProcessState != nil {
		return
	}
	p.cmd.Process.Kill()
	p.cmd.Wait()
}

// Restart starts a killed server again on the same port, with what it was told to
// save, if anything, and waits for it.
func (p *Process) Restart() error {
	p.Kill()
	if err := p.run(); err != nil {
		return err
	}
	return p.Await()
}

// output is what the server prints.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(b)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}
