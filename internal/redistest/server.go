package redistest

import (
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird/internal/redisproc"
)

// Need returns the path of redis-server. A test that needs one and finds none
// fails: a suite that skips what it is for would pass for ever.
func Need(t testing.TB) string {
	t.Helper()
	path, err := redisproc.Find()
	switch {
	case err == nil:
	case os.Getenv("EARLYBIRD_NO_REDIS") != "":
		t.Skip("EARLYBIRD_NO_REDIS is set")
	default:
		t.Fatalf("%v. `make test` installs it; EARLYBIRD_NO_REDIS=1 leaves out the tests that need it.", err)
	}
	return path
}

// Server is a redis-server process.
type Server struct {
	Addr string

	t       testing.TB
	process *redisproc.Process
}

// Start starts a server on a free port, with further arguments such as
// "--maxmemory", "10mb". It is killed when the test ends.
func Start(t testing.TB, args ...string) *Server {
	t.Helper()
	Need(t)
	p, err := redisproc.Launch(t.TempDir(), args...)
	require.NoError(t, err)
	t.Cleanup(p.Kill)
	require.NoError(t, p.Await())
	return &Server{Addr: p.Addr, t: t, process: p}
}

// Kill ends the process at once, as kill -9 does.
func (s *Server) Kill() { s.process.Kill() }

// Restart starts a killed server again, on the same port, with what it has saved:
// nothing, unless it was told to SAVE.
func (s *Server) Restart() {
	s.t.Helper()
	require.NoError(s.t, s.process.Restart())
}

// Stop stops the process without ending it, as SIGSTOP does: its port still
// accepts, and nobody answers. It skips the test where that cannot be done.
func (s *Server) Stop() {
	s.t.Helper()
	err := s.process.Stop()
	if errors.Is(err, errors.ErrUnsupported) {
		s.t.Skip("processes cannot be stopped on this system")
	}
	require.NoError(s.t, err)
}

// Continue lets a stopped process go on.
func (s *Server) Continue() {
	s.t.Helper()
	require.NoError(s.t, s.process.Continue())
}

// Do runs a command and returns its reply, nil as "". It fails the test on an
// error.
func (s *Server) Do(args ...string) string {
	s.t.Helper()
	reply, err := s.Try(args...)
	require.NoError(s.t, err, "%q", args)
	return reply
}

// Try is Do for a command that may fail.
func (s *Server) Try(args ...string) (string, error) { return s.process.Do(args...) }

// Calls returns how often each command was called, by INFO commandstats.
func (s *Server) Calls() map[string]int {
	s.t.Helper()
	calls := map[string]int{}
	for line := range strings.Lines(s.Do("INFO", "commandstats")) {
		name, rest, ok := strings.Cut(strings.TrimSpace(line), ":calls=")
		n, _, _ := strings.Cut(rest, ",")
		if count, err := strconv.Atoi(n); ok && err == nil {
			calls[strings.TrimPrefix(name, "cmdstat_")] = count
		}
	}
	return calls
}
