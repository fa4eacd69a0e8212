package redisstore_test

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird/internal/redistest"
	"github.com/earlybird-cache/earlybird/redisstore"
)

func TestClose_leavesNothingBehind(t *testing.T) {
	server := redistest.Start(t)
	dead := redistest.Start(t)
	dead.Kill()
	cycle := func() {
		for _, addr := range []string{server.Addr, dead.Addr} {
			s, err := redisstore.New(brisk(addr))
			require.NoError(t, err)
			s.Get(t.Context(), "key")
			s.Invalidate(t.Context(), "key")
			require.NoError(t, s.Close())
			require.NoError(t, s.Close())
		}
	}
	cycle()
	before := runtime.NumGoroutine()
	for range 50 {
		cycle()
	}
	eventually(t, func() error {
		if n := runtime.NumGoroutine(); n > before+5 {
			return fmt.Errorf("%d goroutines, %d before", n, before)
		}
		return nil
	})
}

func TestClose_returnsWhateverTheServerDoes(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	s, err := redisstore.New(brisk(server.Addr))
	require.NoError(t, err)
	set(t, s, "key", "v")
	server.Stop()
	defer server.Continue()
	waiting := make(chan error, 10)
	for range cap(waiting) {
		go func() { _, err := s.Get(context.Background(), "key"); waiting <- err }()
	}
	require.Error(t, s.Invalidate(t.Context(), "key"))
	began := time.Now()
	require.NoError(t, s.Close())
	require.Less(t, time.Since(began), soon)
	for range cap(waiting) {
		require.Error(t, <-waiting)
	}
	require.EqualValues(t, 1, s.Stats().GivenUp)
}
