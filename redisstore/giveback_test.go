package redisstore_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird/internal/redistest"
	"github.com/earlybird-cache/earlybird/internal/standstill"
	"github.com/earlybird-cache/earlybird/store"
)

// What was granted while a server is coming back can be published: a lease whose
// publish is refused would keep the whole fleet waiting until it ends.
func TestPublish_whileTheServerComesBack(t *testing.T) {
	t.Parallel()
	standstill.Rounds(t, brief, func(t testing.TB) {
		server := redistest.Start(t)
		s := open(t, brisk(server.Addr))
		set(t, s, "warm", "v")
		server.Kill()
		outage(t, s)
		server.Restart()
		granted := 0
		for began := time.Now(); time.Since(began) < 20*time.Second && granted < 20; {
			c, err := s.Acquire(t.Context(), fmt.Sprint("key", granted), 0, long)
			if err != nil {
				time.Sleep(time.Millisecond)
				continue
			}
			require.Equal(t, store.Granted, c.Outcome)
			require.NoError(t, s.Publish(t.Context(), c.Lease, value("v")))
			granted++
		}
		require.Equal(t, 20, granted)
	})
}

// A load that ended during an outage does not keep others waiting after it.
func TestFail_isMadeUpFor(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	s, other := open(t, brisk(server.Addr)), open(t, patient[string](server.Addr))
	set(t, s, "warm", "v")
	lease := grant(t, s, "key")
	server.Stop()
	outage(t, s)
	require.ErrorIs(t, s.Publish(t.Context(), lease, value("v")), store.ErrUnavailable)
	require.ErrorIs(t, s.Fail(t.Context(), lease, 0), store.ErrUnavailable)
	server.Continue()
	grant(t, other, "key")
}
