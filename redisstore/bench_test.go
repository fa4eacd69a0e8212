package redisstore_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/redis/rueidis"
	"github.com/stretchr/testify/require"

	"github.com/earlybird-cache/earlybird/internal/redistest"
	"github.com/earlybird-cache/earlybird/redisstore"
	"github.com/earlybird-cache/earlybird/store"
)

// What does a hit cost beside the two commands it is made of, by the same client
// library with the same settings?
//
//	go test ./redisstore -run '^$' -bench Hit -benchtime 2s -cpu 2
func BenchmarkHit(b *testing.B) {
	server := redistest.Start(b)
	s := open(b, redisstore.Options[string]{Addrs: []string{server.Addr}, Timeout: time.Second})
	value := strings.Repeat("x", 256)
	_, err := s.Set(b.Context(), "key", store.Record[string]{Kind: store.Value, Value: value, Life: time.Hour})
	require.NoError(b, err)
	bare, err := rueidis.NewClient(rueidis.ClientOption{
		InitAddress: []string{server.Addr}, DisableRetry: true,
		OnInvalidations:    func([]rueidis.RedisMessage) {},
		ReadBufferEachConn: 64 << 10, WriteBufferEachConn: 64 << 10, PipelineMultiplex: -1,
	})
	require.NoError(b, err)
	defer bare.Close()
	require.NoError(b, bare.Do(b.Context(), bare.B().Set().Key("bare").Value(value).Px(time.Hour).Build()).Error())

	b.Run("store", crowd(func(ctx context.Context) error {
		_, err := s.Get(ctx, "key")
		return err
	}))
	b.Run("bare", crowd(func(ctx context.Context) error {
		replies := bare.DoMulti(ctx, bare.B().Pttl().Key("bare").Build(), bare.B().Get().Key("bare").Build())
		_, err := replies[1].AsBytes()
		return err
	}))
	b.Run("bareWithDeadline", crowd(func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		replies := bare.DoMulti(ctx, bare.B().Pttl().Key("bare").Build(), bare.B().Get().Key("bare").Build())
		_, err := replies[1].AsBytes()
		return err
	}))
}

// crowd calls f from 128 goroutines at once on two cores.
func crowd(f func(context.Context) error) func(b *testing.B) {
	return func(b *testing.B) {
		b.ReportAllocs()
		b.SetParallelism(64)
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if err := f(context.Background()); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
}
