package earlybird_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird"
	"github.com/earlybird-cache/earlybird/internal/redistest"
	"github.com/earlybird-cache/earlybird/redisstore"
	"github.com/earlybird-cache/earlybird/store"
)

// What does a read that the shared tier answers cost beside the tier's own Get? No
// copy near ever serves: there are many keys, and room for few.
//
//	go test . -run '^$' -bench SharedHit -benchtime 2s -cpu 2
func BenchmarkSharedHit(b *testing.B) {
	const keys = 1 << 13
	s, err := redisstore.New(redisstore.Options[string]{Addrs: []string{redistest.Start(b).Addr}, Timeout: time.Second})
	require.NoError(b, err)
	defer s.Close()
	names := make([]string, keys)
	for i := range names {
		names[i] = fmt.Sprint("user:", i)
		_, err := s.Set(b.Context(), names[i], store.Record[string]{Kind: store.Value, Value: strings.Repeat("x", 256), Life: time.Hour})
		require.NoError(b, err)
	}
	c, err := earlybird.New(func(context.Context, string) (string, error) {
		return "", earlybird.ErrNotFound
	}, earlybird.Options[string]{TTL: time.Hour, MaxEntries: 16, Store: s})
	require.NoError(b, err)
	defer c.Close()

	run := func(name string, get func(ctx context.Context, key string) error, of func(context.Context) (context.Context, context.CancelFunc)) {
		b.Run(name, func(b *testing.B) {
			var n atomic.Uint64
			b.ReportAllocs()
			b.SetParallelism(32)
			b.RunParallel(func(pb *testing.PB) {
				ctx, cancel := of(context.Background())
				defer cancel()
				for i := n.Add(1 << 32); pb.Next(); i++ {
					if err := get(ctx, names[i*0x9e3779b97f4a7c15>>51]); err != nil {
						b.Error(err)
						return
					}
				}
			})
		})
	}
	background := func(ctx context.Context) (context.Context, context.CancelFunc) { return ctx, func() {} }
	run("store", func(ctx context.Context, key string) error { _, err := s.Get(ctx, key); return err }, background)
	run("cache", func(ctx context.Context, key string) error { _, err := c.Get(ctx, key); return err }, background)
	run("cacheWithCancel", func(ctx context.Context, key string) error { _, err := c.Get(ctx, key); return err }, context.WithCancel)
}
