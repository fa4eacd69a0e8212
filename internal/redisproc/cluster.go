package redisproc

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// Cluster is a Redis Cluster.
type Cluster struct {
	Masters  []*Process // in the order of their slots
	Replicas []*Process // of the masters, one each, or none
}

// StartCluster starts a Cluster of masters that share the slots evenly, cut where
// redis-cli would cut them, with a replica each if asked for, and waits until it is
// well. A node may be silent for 15s before the others call it dead, or busy machines
// would fail over by themselves; args may say less. Kill it.
func StartCluster(dir string, masters int, replicas bool, args ...string) (*Cluster, error) {
	c := &Cluster{}
	args = append([]string{
		"--cluster-enabled", "yes", "--cluster-node-timeout", "15000",
		"--cluster-require-full-coverage", "no", "--cluster-replica-validity-factor", "0",
	}, args...)
	err := c.launch(dir, masters, replicas, args)
	if err == nil {
		err = c.join()
	}
	if err != nil {
		c.Kill()
		return nil, err
	}
	return c, nil
}

func (c *Cluster) launch(dir string, masters int, replicas bool, args []string) error {
	kinds := []*[]*Process{&c.Masters}
	if replicas {
		kinds = append(kinds, &c.Replicas)
	}
	for i := range masters * len(kinds) {
		own := filepath.Join(dir, strconv.Itoa(i))
		if err := os.Mkdir(own, 0o700); err != nil {
			return err
		}
		p, err := Launch(own, args...)
		if err != nil {
			return err
		}
		nodes := kinds[i%len(kinds)]
		*nodes = append(*nodes, p)
	}
	for _, p := range c.Nodes() {
		if err := p.Await(); err != nil {
			return err
		}
	}
	return nil
}

// Kill ends all its processes at once.
func (c *Cluster) Kill() {
	for _, p := range c.Nodes() {
		p.Kill()
	}
}

// Nodes returns the masters, then the replicas.
func (c *Cluster) Nodes() []*Process {
	return append(c.Masters[:len(c.Masters):len(c.Masters)], c.Replicas...)
}

// MasterOf returns which of n masters has a slot at the start.
func MasterOf(slot uint16, n int) (i int) {
	for int(slot) >= cut(i+1, n) {
		i++
	}
	return i
}

// cut returns the first slot of master i of n.
func cut(i, n int) int { return (2*i*16384 + n) / (2 * n) }

// join makes one Cluster of the nodes.
func (c *Cluster) join() error {
	for _, step := range []func() error{c.number, c.meet, c.replicate, c.settle} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// number gives each node its place in the order of configurations, and each master
// its slots.
func (c *Cluster) number() error {
	for i, p := range c.Nodes() {
		if _, err := p.Do("CLUSTER", "SET-CONFIG-EPOCH", strconv.Itoa(i+1)); err != nil {
			return err
		}
	}
	n := len(c.Masters)
	for i, p := range c.Masters {
		if _, err := p.Do("CLUSTER", "ADDSLOTSRANGE", strconv.Itoa(cut(i, n)), strconv.Itoa(cut(i+1, n)-1)); err != nil {
			return err
		}
	}
	return nil
}

func (c *Cluster) meet() error {
	host, port, err := net.SplitHostPort(c.Masters[0].Addr)
	if err != nil {
		return err
	}
	nodes := c.Nodes()
	for _, p := range nodes[1:] {
		if _, err := p.Do("CLUSTER", "MEET", host, port); err != nil {
			return err
		}
	}
	known := fmt.Sprintf("cluster_known_nodes:%d\r", len(nodes))
	for _, p := range nodes {
		if err := p.until("all know each other", says(known), "CLUSTER", "INFO"); err != nil {
			return err
		}
	}
	return nil
}

func (c *Cluster) replicate() error {
	for i, p := range c.Replicas {
		id, err := c.Masters[i].Do("CLUSTER", "MYID")
		if err != nil {
			return err
		}
		if err := p.until("a replica finds its master", says(""), "CLUSTER", "REPLICATE", id); err != nil {
			return err
		}
	}
	return nil
}

func (c *Cluster) settle() error {
	for _, p := range c.Nodes() {
		if err := p.until("the cluster is well", says("cluster_state:ok", "cluster_slots_assigned:16384"), "CLUSTER", "INFO"); err != nil {
			return err
		}
	}
	for _, p := range c.Replicas {
		if err := p.until("a replica is in step", says("master_link_status:up"), "INFO", "replication"); err != nil {
			return err
		}
	}
	return nil
}

// says is whether a reply has all of some texts in it.
func says(texts ...string) func(reply string) bool {
	return func(reply string) bool {
		for _, text := range texts {
			if !strings.Contains(reply, text) {
				return false
			}
		}
		return true
	}
}

// until repeats a command until its reply is right, for 30s at most. An error is a
// reply that is not.
func (p *Process) until(what string, right func(reply string) bool, args ...string) error {
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		reply, err := p.Do(args...)
		switch {
		case err == nil && right(reply):
			return nil
		case time.Now().After(deadline):
			return errors.Join(fmt.Errorf("waited in vain until %s", what), err)
		}
	}
}
