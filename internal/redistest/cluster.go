package redistest

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird/internal/redisproc"
)

// Cluster is a Redis Cluster.
type Cluster struct {
	Masters  []*Server // in the order of their slots
	Replicas []*Server // of the masters, one each, or none
}

// StartCluster is redisproc.StartCluster for a test, at whose end the Cluster is
// killed. Give FastFailover if masters are to be found dead soon, or call FailFast
// when they are.
func StartCluster(t testing.TB, masters int, replicas bool, args ...string) *Cluster {
	t.Helper()
	Need(t)
	p, err := redisproc.StartCluster(t.TempDir(), masters, replicas, args...)
	require.NoError(t, err)
	t.Cleanup(p.Kill)
	return &Cluster{Masters: servers(t, p.Masters), Replicas: servers(t, p.Replicas)}
}

func servers(t testing.TB, processes []*redisproc.Process) (all []*Server) {
	for _, p := range processes {
		all = append(all, &Server{Addr: p.Addr, t: t, process: p})
	}
	return all
}

// FastFailover has a node called dead that is silent for half a second.
var FastFailover = []string{"--cluster-node-timeout", "500"}

// FailFast is FastFailover from now on, now that dead is. A Cluster that did so from
// the start could fail over by itself on a busy machine.
func (c *Cluster) FailFast(dead *Server) {
	dead.t.Helper()
	for _, s := range append(c.Masters[:len(c.Masters):len(c.Masters)], c.Replicas...) {
		if s != dead {
			s.Do("CONFIG", "SET", "cluster-node-timeout", "500")
		}
	}
}

// Addrs returns the addresses of all nodes.
func (c *Cluster) Addrs() (addrs []string) {
	for _, s := range append(c.Masters[:len(c.Masters):len(c.Masters)], c.Replicas...) {
		addrs = append(addrs, s.Addr)
	}
	return addrs
}

// MasterOf returns the master that has a slot, as things were at the start.
func (c *Cluster) MasterOf(slot uint16) *Server {
	return c.Masters[redisproc.MasterOf(slot, len(c.Masters))]
}
