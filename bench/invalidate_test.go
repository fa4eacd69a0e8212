package main

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

func TestChange_isSeenByReaders(t *testing.T) {
	for name, make := range map[string]kind{"earlybird": newEarlybird, "otter": newOtter, "theine": newTheine} {
		o := newOrigin()
		c, err := make(setup{room: fewKeys, origin: o})
		require.NoError(t, err)
		defer c.end()
		for _, what := range []change{someKeys, everything} {
			if name == "theine" && what.every == everything.every {
				continue // it cannot
			}
			c.get(keyOf(0))
			loaded := counter(o.keys.Load)
			c.get(keyOf(0))
			require.Zero(t, loaded(), name)
			what.do(c, smallWorkload(), 0)
			c.get(keyOf(0))
			require.EqualValues(t, 1, loaded(), name)
		}
	}
}

func TestChange_isMadeAgainAndAgainUntilStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var changes atomic.Int64
		dropped := 0
		stop := everything.start(&cache{dropAll: func() { dropped++ }}, nil, &changes)
		time.Sleep(time.Second + everything.every/2)
		stop()
		time.Sleep(time.Second)
		require.Equal(t, 10, dropped)
		require.EqualValues(t, 10, changes.Load())
	})
}

func TestSet_isHeld(t *testing.T) {
	for _, make := range []kind{newEarlybird, newOtter, newTheine, newSturdyc, newRistretto, newHotLRU, newMap} {
		o := newOrigin()
		c, err := make(setup{room: 100, origin: o})
		require.NoError(t, err)
		defer c.end()
		for _, value := range []string{"old", "new"} {
			require.True(t, c.set(keyOf(0), value))
			c.settled()
			v, ok := c.get(keyOf(0))
			require.True(t, ok)
			require.Equal(t, value, v)
		}
		require.Zero(t, o.keys.Load())
		require.Equal(t, 1, c.held())
	}
}
