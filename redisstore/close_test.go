package redisstore_test

import (
	"fmt"
	"runtime"
	"testing"

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
