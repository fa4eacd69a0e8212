package earlybird_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird/internal/model"
	"github.com/earlybird-cache/earlybird/internal/redistest"
	"github.com/earlybird-cache/earlybird/redisstore"
	"github.com/earlybird-cache/earlybird/store"
)

// TestModel_redis lets changes and reads collide on caches that share a real
// server, in real time.
func TestModel_redis(t *testing.T) {
	server := redistest.Start(t)
	var stores []store.Store[int64]
	for range 3 {
		s, err := redisstore.New(redisstore.Options[int64]{
			Addrs: []string{server.Addr}, Timeout: 2 * time.Second, // the machine may be busy
		})
		require.NoError(t, err)
		defer s.Close()
		stores = append(stores, s)
	}
	lasts := time.Duration(soaked(2, 60)) * time.Second
	require.NoError(t, model.RageTogether(seed(t), lasts, 50*time.Millisecond, stores))
	for _, s := range stores {
		if n := s.Stats().Gets.Errors(); n > 0 {
			t.Logf("%d questions were not answered in time", n)
		}
	}
}
