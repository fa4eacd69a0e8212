package redistest

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"
)

// Need returns the path of redis-server. A test that needs one and finds none
// fails: a suite that skips what it is for would pass for ever.
func Need(t testing.TB) string {
	t.Helper()
	for _, name := range []string{"redis-server", "valkey-server"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv("EARLYBIRD_NO_REDIS") != "" {
		t.Skip("EARLYBIRD_NO_REDIS is set")
	}
	t.Fatal("redis-server is not installed. Run `make test`, or install it yourself " +
		"(Debian: apt-get install redis-server; macOS: brew install redis), " +
		"or set EARLYBIRD_NO_REDIS=1 to leave out the tests that need it.")
	return ""
}

// Server is a redis-server process.
type Server struct {
	Addr string

	t    testing.TB
	path string
	args []string
	cmd  *exec.Cmd
	out  strings.Builder
}

// Start starts a server on a free port, with further arguments such as
// "--maxmemory", "10mb". It is killed when the test ends.
func Start(t testing.TB, args ...string) *Server {
	t.Helper()
	s := launch(t, args...)
	s.await()
	return s
}

func launch(t testing.TB, args ...string) *Server {
	t.Helper()
	port := freePort(t)
	s := &Server{t: t, path: Need(t), Addr: net.JoinHostPort("127.0.0.1", port)}
	s.args = append([]string{
		"--port", port, "--bind", "127.0.0.1", "--dir", t.TempDir(),
		"--save", "", "--appendonly", "no", "--daemonize", "no", "--repl-diskless-sync-delay", "0",
	}, args...)
	t.Cleanup(s.Kill)
	s.run()
	return s
}

// freePort returns a port that was free a moment ago, and whose port for the
// Cluster's own talk, 10,000 higher, exists.
func freePort(t testing.TB) string {
	for range 100 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		port := l.Addr().(*net.TCPAddr).Port
		require.NoError(t, l.Close())
		if port <= 55535 {
			if l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port+10000)); err == nil {
				l.Close()
				return strconv.Itoa(port)
			}
		}
	}
	t.Fatal("no free port")
	return ""
}

func (s *Server) run() {
	s.cmd = exec.Command(s.path, s.args...)
	s.cmd.Stdout, s.cmd.Stderr = &s.out, &s.out
	require.NoError(s.t, s.cmd.Start())
}

// await waits until the server answers.
func (s *Server) await() {
	s.t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for {
		conn, err := net.DialTimeout("tcp", s.Addr, time.Second)
		if err == nil {
			conn.Close()
			return
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("redis-server does not come up:\n%s", s.out.String())
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// Kill ends the process at once, as kill -9 does.
func (s *Server) Kill() {
	if s.cmd == nil || s.cmd.ProcessState != nil {
		return
	}
	s.cmd.Process.Kill()
	s.cmd.Wait()
}

// Restart starts a killed server again, on the same port, with what it has saved:
// nothing, unless it was told to SAVE.
func (s *Server) Restart() {
	s.t.Helper()
	s.Kill()
	s.run()
	s.await()
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
func (s *Server) Try(args ...string) (string, error) {
	m, err := s.do(args...)
	if rueidis.IsRedisNil(err) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	if n, err := m.ToInt64(); err == nil {
		return strconv.FormatInt(n, 10), nil
	}
	if m.IsArray() {
		parts, err := m.AsStrSlice()
		return strings.Join(parts, "\n"), err
	}
	return m.ToString()
}

// do asks on a connection of its own, which leaves no trace in what the test
// looks at but the command itself.
func (s *Server) do(args ...string) (rueidis.RedisMessage, error) {
	c, err := rueidis.NewClient(rueidis.ClientOption{
		InitAddress: []string{s.Addr}, ForceSingleClient: true, DisableCache: true,
		ClientSetInfo: rueidis.DisableClientSetInfo, PipelineMultiplex: -1,
	})
	if err != nil {
		return rueidis.RedisMessage{}, err
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	return c.Do(ctx, c.B().Arbitrary(args[0]).Args(args[1:]...).Build()).ToMessage()
}

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
