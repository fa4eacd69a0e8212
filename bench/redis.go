package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/redis/rueidis"
)

// server is a redis-server of the bench's own, on the loopback.
type server struct {
	addr string
	cmd  *exec.Cmd
	asks rueidis.Client // what it has used
}

var errNoServer = errors.New("redis-server is not installed: install it, or leave the row out with -rows")

// serverPath is "" if there is none.
func serverPath() string {
	for _, name := range []string{"redis-server", "valkey-server"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// redisServer is what its version is listed as.
const redisServer = "redis-server"

// serverVersion returns the version of the server, "" if there is none.
func serverVersion() string {
	out, err := exec.Command(serverPath(), "--version").Output()
	if err != nil {
		return ""
	}
	for word := range strings.FieldsSeq(string(out)) {
		if v, ok := strings.CutPrefix(word, "v="); ok {
			return v
		}
	}
	return strings.TrimSpace(string(out))
}

func startServer() (*server, error) {
	path := serverPath()
	if path == "" {
		return nil, errNoServer
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	s := &server{
		addr: net.JoinHostPort("127.0.0.1", port),
		cmd:  exec.Command(path, "--port", port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"),
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(2 * time.Millisecond) {
		if s.asks, err = rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{s.addr}, ForceSingleClient: true, DisableCache: true}); err == nil {
			return s, nil
		}
		if time.Now().After(deadline) {
			s.kill()
			return nil, fmt.Errorf("redis-server does not come up: %w", err)
		}
	}
}

// freePort returns a port that was free a moment ago.
func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, err
}

func (s *server) stop() {
	s.asks.Close()
	s.kill()
}

func (s *server) kill() {
	_ = s.cmd.Process.Kill() // fails if it has ended already
	_ = s.cmd.Wait()         // it was killed
}

// cpu returns the processor time, in ns, that the server has used so far.
func (s *server) cpu() int64 {
	info, err := s.asks.Do(context.Background(), s.asks.B().Info().Section("cpu").Build()).ToString()
	if err != nil {
		return 0
	}
	var used float64 // seconds
	for line := range strings.Lines(info) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		if name == "used_cpu_sys" || name == "used_cpu_user" {
			x, _ := strconv.ParseFloat(value, 64)
			used += x
		}
	}
	return int64(used * 1e9)
}
