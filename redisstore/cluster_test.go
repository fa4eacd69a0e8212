package redisstore_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird/internal/redistest"
	"github.com/earlybird-cache/earlybird/redisstore"
	"github.com/earlybird-cache/earlybird/store"
)

// A dead master takes its slots away and no others, and comes back as its
// replica.
func TestStore_survivesAFailover(t *testing.T) {
	t.Parallel()
	for name, strike := range map[string]func(*redistest.Server){"killed": (*redistest.Server).Kill, "stopped": (*redistest.Server).Stop} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := redistest.StartCluster(t, 3, true, "--cluster-node-timeout", "60000")
			s := open(t, brisk(c.Addrs()...))
			victim, dead, alive := c.Masters[0], "", ""
			for i := range 100 {
				key := fmt.Sprint("key", i)
				set(t, s, key, "before")
				if tagOf(t, victim, key) != "evicted" {
					dead = key
				} else {
					alive = key
				}
			}
			require.NotEmpty(t, dead)
			require.NotEmpty(t, alive)
			if name == "stopped" {
				defer victim.Continue()
			}
			strike(victim)
			failed, served := 0, 0
			try := func() (err error) {
				inTime(t, 2*soon, func() {
					if finds(t, s, alive, "before") == nil {
						served++
					}
					_, err = s.Set(t.Context(), dead, value("after"))
				})
				if err != nil {
					failed++
				}
				return err
			}
			require.Error(t, try(), "nobody has found it dead yet")
			for served == 0 {
				require.Less(t, failed, 100, "the other masters are left alone")
				require.Error(t, try())
			}
			c.FailFast(victim)
			eventually(t, try)
			t.Logf("%d failed, %d served by the others meanwhile, %+v", failed, served, s.Stats())
			eventually(t, func() error { return finds(t, s, dead, "after") })
			eventually(t, func() error { return finds(t, s, alive, "before") })
			eventually(t, func() error {
				if s.Stats().Open > 0 {
					return errors.New("still open")
				}
				return nil
			})
		})
	}
}

// Of many keys, those on a dead server fail and no others do.
func TestStore_manyKeysOfWhichSomeAreOutOfReach(t *testing.T) {
	t.Parallel()
	c := redistest.StartCluster(t, 3, false)
	s := open(t, patient[string](c.Addrs()...))
	var keys []string
	lost := map[string]bool{}
	for i := range 300 {
		key := fmt.Sprint("key", i)
		set(t, s, key, key)
		keys = append(keys, key)
		lost[key] = c.MasterOf(redisstore.SlotOf(key)) == c.Masters[0]
	}
	c.Masters[0].Kill()
	for range 3 { // while it is found out, and after
		for i, r := range s.GetMany(t.Context(), keys) {
			if lost[keys[i]] {
				require.ErrorIs(t, r.Err, store.ErrUnavailable, keys[i])
				continue
			}
			require.NoError(t, r.Err, keys[i])
			require.Equal(t, keys[i], r.Value)
		}
	}
	var pending *store.PendingError
	require.ErrorAs(t, s.Invalidate(t.Context(), keys...), &pending)
	require.Empty(t, pending.Lost)
	require.Len(t, pending.Keys, len(slices.DeleteFunc(slices.Clone(keys), func(key string) bool { return !lost[key] })))
	for _, key := range pending.Keys {
		require.True(t, lost[key], key)
	}
	for i, r := range s.GetMany(t.Context(), keys) {
		if !lost[keys[i]] {
			require.NoError(t, r.Err, keys[i])
			require.Equal(t, store.Missing, r.Kind, keys[i])
		}
	}
}

func TestStore_followsASlotThatMoves(t *testing.T) {
	t.Parallel()
	c := redistest.StartCluster(t, 3, true)
	s := open(t, patient[string](c.Addrs()...))
	for i := range 30 {
		set(t, s, fmt.Sprint(i), "v")
	}
	for _, replica := range c.Replicas {
		replica.Do("CLUSTER", "FAILOVER")
	}
	for i := range 30 {
		eventually(t, func() error { return finds(t, s, fmt.Sprint(i), "v") })
		eventually(t, func() error { return s.Invalidate(t.Context(), fmt.Sprint(i)) })
		eventually(t, func() error {
			r, err := s.Get(t.Context(), fmt.Sprint(i))
			require.Equal(t, store.Missing, r.Kind)
			return err
		})
	}
}

func TestNew_oneNodeOfAClusterIsEnough(t *testing.T) {
	t.Parallel()
	c := redistest.StartCluster(t, 3, false)
	opts := patient[string]()
	opts.URL = "redis://" + c.Masters[1].Addr
	s := open(t, opts)
	for i := range 50 {
		set(t, s, fmt.Sprint(i), "v")
		require.NoError(t, finds(t, s, fmt.Sprint(i), "v"))
	}
	require.Equal(t, 64, s.Stats().Parts)
}

// A Cluster behind what looks like one server, as some proxies do, takes no script
// about many slots, and forgets everything all the same.
func TestStore_clusterThatDoesNotSaySo(t *testing.T) {
	t.Parallel()
	server := redistest.StartCluster(t, 1, false).Masters[0]
	server.Do("ACL", "SETUSER", "default", "-cluster")
	s := open(t, patient[string](server.Addr))
	for i := range 10 {
		set(t, s, fmt.Sprint(i), "v")
	}
	require.Equal(t, 1, s.Stats().Parts)
	require.NoError(t, s.InvalidateAll(t.Context()))
	for i := range 10 {
		require.NoError(t, finds(t, s, fmt.Sprint(i), ""))
	}
}
