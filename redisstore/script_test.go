package redisstore_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird/internal/redistest"
)

func TestStore_flushedScriptsAreSentAgain(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	s := open(t, patient[string](server.Addr))
	for i := range 3 {
		server.Do("SCRIPT", "FLUSH")
		claim, err := s.Acquire(t.Context(), "key", 0, long)
		require.NoError(t, err)
		server.Do("SCRIPT", "FLUSH")
		require.NoError(t, s.Publish(t.Context(), claim.Lease, value("v")))
		server.Do("SCRIPT", "FLUSH")
		_, err = s.Set(t.Context(), "key", value("w"))
		require.NoError(t, err)
		server.Do("SCRIPT", "FLUSH")
		require.NoError(t, s.Fail(t.Context(), claim.Lease, long))
		server.Do("SCRIPT", "FLUSH")
		require.NoError(t, s.Invalidate(t.Context(), "key", "other", fmt.Sprint(i)))
		server.Do("SCRIPT", "FLUSH")
		require.NoError(t, s.InvalidateAll(t.Context()))
	}
	require.Zero(t, s.Stats().Acquires.Errors()+s.Stats().Invalidations.Errors())
}
