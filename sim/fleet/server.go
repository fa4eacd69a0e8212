package fleet

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/redis/rueidis"

	"github.com/earlybird-cache/earlybird/internal/redisproc"
)

// server is the Redis of a run, and a connection to it beside those of the caches,
// for questions about it.
type server struct {
	url     string
	about   string             // for people; without a password
	process *redisproc.Process // nil for one that was there before, and for a Cluster
	cluster *redisproc.Cluster // nil likewise
	dir     string
	client  rueidis.Client
}

// dial starts a server, or a Cluster, or uses that at a URL. Close it.
func dial(ctx context.Context, redis string, cluster bool) (s *server, err error) {
	s = &server{url: redis}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	if redis == Auto {
		err := s.start(cluster)
		if errors.Is(err, redisproc.ErrNotInstalled) {
			err = fmt.Errorf("%w; or say with -redis URL which server to use", err)
		}
		if err != nil {
			return s, err
		}
	}
	o, err := rueidis.ParseURL(s.url)
	if err != nil {
		return s, err
	}
	o.DisableCache, o.Dialer.Timeout = true, 2*time.Second
	if s.client, err = rueidis.NewClient(o); err != nil {
		return s, fmt.Errorf("no answer from the server at %s: %w", strings.Join(o.InitAddress, ", "), err)
	}
	nodes, err := s.infos(ctx, "server")
	if err != nil {
		return s, err
	}
	s.about = fmt.Sprintf("%s at %s", versionOf(nodes[0]), strings.Join(o.InitAddress, ", "))
	if len(nodes) > 1 {
		s.about += fmt.Sprintf(", a cluster of %d masters", len(nodes))
	}
	return s, nil
}

// masters is how many a Cluster of ours has, and as many replicas.
const masters = 3

func (s *server) start(cluster bool) (err error) {
	if s.dir, err = os.MkdirTemp("", "sim-fleet-"); err != nil {
		return err
	}
	if cluster {
		if s.cluster, err = redisproc.StartCluster(s.dir, masters, true); err != nil {
			return err
		}
		s.url = "redis://" + s.cluster.Masters[0].Addr
		return nil
	}
	if s.process, err = redisproc.Launch(s.dir); err != nil {
		return err
	}
	s.url = "redis://" + s.process.Addr
	return s.process.Await()
}

func (s *server) close() {
	if s.client != nil {
		s.client.Close()
	}
	if s.process != nil {
		s.process.Kill()
	}
	if s.cluster != nil {
		s.cluster.Kill()
	}
	if s.dir != "" {
		os.RemoveAll(s.dir)
	}
}

// versionOf reads what the server is from its INFO.
func versionOf(info string) string {
	for _, is := range []struct{ field, name string }{{"valkey_version:", "Valkey"}, {"redis_version:", "Redis"}} {
		if _, rest, ok := strings.Cut(info, is.field); ok {
			return is.name + " " + strings.TrimSpace(strings.SplitN(rest, "\n", 2)[0])
		}
	}
	return "a server of unknown version"
}

// infos asks each node for a section of its INFO.
func (s *server) infos(ctx context.Context, section string) (all []string, err error) {
	for addr, node := range s.client.Nodes() {
		text, err := info(ctx, addr, node, section)
		if err != nil {
			return nil, err
		}
		all = append(all, text)
	}
	if len(all) == 0 {
		return nil, errors.New("the server has no nodes")
	}
	return all, nil
}

func info(ctx context.Context, addr string, node rueidis.Client, section string) (string, error) {
	text, err := node.Do(ctx, node.B().Info().Section(section).Build()).ToString()
	if err != nil {
		err = fmt.Errorf("INFO of the server at %s: %w", addr, err)
	}
	return text, err
}

// commands are calls of a server's commands by their names.
type commands map[string]int

// commands returns how often each command was called so far, on all nodes.
func (s *server) commands(ctx context.Context) (commands, error) {
	all, err := s.infos(ctx, "commandstats")
	sum := commands{}
	for _, info := range all {
		sum.add(info)
	}
	return sum, err
}

// byMaster is commands for each master.
func (s *server) byMaster(ctx context.Context) (map[string]commands, error) {
	all := map[string]commands{}
	for addr, node := range s.client.Nodes() {
		role, err := info(ctx, addr, node, "replication")
		if err != nil {
			return nil, err
		}
		if !strings.Contains(role, "role:master") {
			continue
		}
		stats, err := info(ctx, addr, node, "commandstats")
		if err != nil {
			return nil, err
		}
		all[addr] = commands{}
		all[addr].add(stats)
	}
	return all, nil
}

// add adds what INFO commandstats says.
func (c commands) add(info string) {
	for line := range strings.Lines(info) {
		name, rest, _ := strings.Cut(strings.TrimPrefix(line, "cmdstat_"), ":calls=")
		count, _, _ := strings.Cut(rest, ",")
		if n, err := strconv.Atoi(count); err == nil && name != "info" { // our own
			c[name] += n
		}
	}
}

// since returns what was called after before.
func (c commands) since(before commands) commands {
	diff := maps.Clone(c)
	for name, n := range before {
		diff[name] -= n
	}
	maps.DeleteFunc(diff, func(_ string, n int) bool { return n <= 0 })
	return diff
}

// roundTrips returns how many questions of redisstores the calls were. Each of them,
// but for those about copies of hot keys, has exactly one MGET in it, within a script
// or beside other commands that are sent with it.
func (c commands) roundTrips() int { return c["mget"] }

// all returns how many commands the calls were.
func (c commands) all() (n int) {
	for _, calls := range c {
		n += calls
	}
	return n
}

// sweep deletes the keys of a namespace from a server that will go on without us.
func (s *server) sweep(namespace string) error {
	if s.process != nil || s.cluster != nil {
		return nil
	}
	prefix := namespace + ":"
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	for _, node := range s.client.Nodes() {
		if err := s.sweepNode(ctx, node, prefix); err != nil {
			return fmt.Errorf("keys that begin with %s are left on the server: %w", prefix, err)
		}
	}
	return nil
}

func (s *server) sweepNode(ctx context.Context, node rueidis.Client, prefix string) error {
	for cursor := uint64(0); ; {
		page, err := node.Do(ctx, node.B().Scan().Cursor(cursor).Match(prefix+"*").Count(1000).Build()).AsScanEntry()
		if err != nil {
			return err
		}
		for _, key := range page.Elements { // one by one, for each goes to the node of its slot
			if err := s.client.Do(ctx, s.client.B().Unlink().Key(key).Build()).Error(); err != nil {
				return err
			}
		}
		if cursor = page.Cursor; cursor == 0 {
			return nil
		}
	}
}
