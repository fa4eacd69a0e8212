package main

import (
	"context"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"github.com/redis/rueidis"

	"github.com/earlybird-cache/earlybird/internal/redisproc"
)

// server is a redis-server of the bench's own, on the loopback.
type server struct {
	addr    string
	process *redisproc.Process
	dir     string
	asks    rueidis.Client // what it has used
}

// redisServer is what its version is listed as.
const redisServer = "redis-server"

// serverVersion returns the version of the server, "" if there is none.
func serverVersion() string {
	path, err := redisproc.Find()
	if err != nil {
		return ""
	}
	out, err := exec.Command(path, "--version").Output()
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

func startServer() (_ *server, err error) {
	s := new(server)
	defer func() {
		if err != nil {
			s.stop()
		}
	}()
	if s.dir, err = os.MkdirTemp("", "earlybird-bench"); err != nil {
		return nil, err
	}
	if s.process, err = redisproc.Launch(s.dir); err != nil {
		return nil, err
	}
	if err = s.process.Await(); err != nil {
		return nil, err
	}
	s.addr = s.process.Addr
	s.asks, err = rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{s.addr}, ForceSingleClient: true, DisableCache: true})
	return s, err
}

func (s *server) stop() {
	if s.asks != nil {
		s.asks.Close()
	}
	if s.process != nil {
		s.process.Kill()
	}
	_ = os.RemoveAll(s.dir) // there is nothing in it
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
