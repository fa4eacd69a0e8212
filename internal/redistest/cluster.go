package redistest

import (
	"fmt"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Cluster is a Redis Cluster.
type Cluster struct {
	Masters  []*Server // in the order of their slots
	Replicas []*Server // of the masters, one each, or none

	t testing.TB
}

// StartCluster starts a Cluster of masters that share the slots evenly, cut where
// redis-cli would cut them, with a replica each if asked for. A node may be silent for 15s before the others call
// it dead, or busy machines would fail over by themselves; give FastFailover for
// less.
func StartCluster(t testing.TB, masters int, replicas bool, args ...string) *Cluster {
	t.Helper()
	c := &Cluster{t: t}
	args = append([]string{
		"--cluster-enabled", "yes", "--cluster-node-timeout", "15000",
		"--cluster-require-full-coverage", "no", "--cluster-replica-validity-factor", "0",
	}, args...)
	for range masters {
		c.Masters = append(c.Masters, launch(t, args...))
		if replicas {
			c.Replicas = append(c.Replicas, launch(t, args...))
		}
	}
	for _, s := range c.nodes() {
		s.await()
	}
	c.join()
	return c
}

// FastFailover has a node called dead that is silent for half a second.
var FastFailover = []string{"--cluster-node-timeout", "500"}

func (c *Cluster) nodes() []*Server {
	return append(c.Masters[:len(c.Masters):len(c.Masters)], c.Replicas...)
}

// Addrs returns the addresses of all nodes.
func (c *Cluster) Addrs() (addrs []string) {
	for _, s := range c.nodes() {
		addrs = append(addrs, s.Addr)
	}
	return addrs
}

// join makes one Cluster of the nodes.
func (c *Cluster) join() {
	c.t.Helper()
	n := len(c.Masters)
	for i, s := range c.nodes() {
		s.Do("CLUSTER", "SET-CONFIG-EPOCH", strconv.Itoa(i+1))
	}
	for i, s := range c.Masters {
		s.Do("CLUSTER", "ADDSLOTSRANGE", strconv.Itoa(cut(i, n)), strconv.Itoa(cut(i+1, n)-1))
	}
	host, port, err := net.SplitHostPort(c.Masters[0].Addr)
	require.NoError(c.t, err)
	for _, s := range c.nodes()[1:] {
		s.Do("CLUSTER", "MEET", host, port)
	}
	c.await("all must know each other", func(s *Server) bool {
		return strings.Contains(s.Do("CLUSTER", "INFO"), fmt.Sprintf("cluster_known_nodes:%d", len(c.nodes())))
	})
	for i, s := range c.Replicas {
		id := c.Masters[i].Do("CLUSTER", "MYID")
		c.eventually("a replica must find its master", func() bool {
			_, err := s.Try("CLUSTER", "REPLICATE", id)
			return err == nil
		})
	}
	c.await("the cluster must be well", func(s *Server) bool {
		info := s.Do("CLUSTER", "INFO")
		return strings.Contains(info, "cluster_state:ok") && strings.Contains(info, "cluster_slots_assigned:16384")
	})
	for _, s := range c.Replicas {
		c.eventually("a replica must be in step", func() bool {
			return strings.Contains(s.Do("INFO", "replication"), "master_link_status:up")
		})
	}
}

// MasterOf returns the master that has a slot, as things were at the start.
func (c *Cluster) MasterOf(slot uint16) *Server {
	i := 0
	for int(slot) >= cut(i+1, len(c.Masters)) {
		i++
	}
	return c.Masters[i]
}

// cut returns the first slot of master i of n.
func cut(i, n int) int { return (2*i*16384 + n) / (2 * n) }

// await waits until ok for every node.
func (c *Cluster) await(what string, ok func(*Server) bool) {
	c.t.Helper()
	for _, s := range c.nodes() {
		c.eventually(what, func() bool { return ok(s) })
	}
}

func (c *Cluster) eventually(what string, ok func() bool) {
	c.t.Helper()
	for deadline := time.Now().Add(30 * time.Second); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			c.t.Fatal(what)
		}
	}
}
