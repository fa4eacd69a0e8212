package main

import (
	"context"
	"fmt"
	"time"

	rediscache "github.com/go-redis/cache/v9"
	"github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"

	"github.com/earlybird-cache/earlybird/redisstore"
	"github.com/earlybird-cache/earlybird/store"
)

// sharedTier is one way to keep values on a server.
type sharedTier[V any] struct {
	get   func(key string) (V, error)
	set   func(key string, v V) error
	close func()
}

// sharedBudget is one that a busy machine keeps to.
const sharedBudget = 10 * time.Second

// openStore opens ours, as it comes but for the budget.
func openStore[V any](s *server, _ values[V]) (sharedTier[V], error) {
	tier, err := redisstore.New(redisstore.Options[V]{Addrs: []string{s.addr}, Timeout: sharedBudget, ConnectTimeout: sharedBudget})
	if err != nil {
		return sharedTier[V]{}, err
	}
	ctx := context.Background()
	return sharedTier[V]{
		get: func(key string) (V, error) {
			r, err := tier.Get(ctx, key)
			if err == nil && r.Kind != store.Value {
				err = fmt.Errorf("%v", r.Kind)
			}
			return r.Value, err
		},
		set: func(key string, v V) error {
			_, err := tier.Set(ctx, key, store.Record[V]{Kind: store.Value, Value: v, Life: ttl})
			return err
		},
		close: func() { _ = tier.Close() }, // always nil
	}, nil
}

// byDefault are the client library's own settings, with a few connections.
func byDefault(addr string) rueidis.ClientOption {
	return rueidis.ClientOption{InitAddress: []string{addr}}
}

// likeStore are those of our store, with one connection.
func likeStore(addr string) rueidis.ClientOption {
	return rueidis.ClientOption{
		InitAddress: []string{addr}, DisableRetry: true, PipelineMultiplex: -1,
		ReadBufferEachConn: 64 << 10, WriteBufferEachConn: 64 << 10,
	}
}

// openBare opens the least that answers how long a value will live: two commands
// in one write, without a deadline, a breaker or anything to be verified.
func openBare[V any](options func(addr string) rueidis.ClientOption) func(*server, values[V]) (sharedTier[V], error) {
	return func(s *server, v values[V]) (sharedTier[V], error) {
		c, err := rueidis.NewClient(options(s.addr))
		if err != nil {
			return sharedTier[V]{}, err
		}
		ctx := context.Background()
		return sharedTier[V]{
			get: func(key string) (got V, err error) {
				replies := c.DoMulti(ctx, c.B().Pttl().Key(key).Build(), c.B().Get().Key(key).Build())
				if left, err := replies[0].ToInt64(); err != nil || left < 0 {
					return got, fmt.Errorf("a life of %d: %w", left, err)
				}
				data, err := replies[1].AsBytes()
				if err != nil {
					return got, err
				}
				return v.decode(data)
			},
			set: func(key string, value V) error {
				data, err := v.encode(value)
				if err != nil {
					return err
				}
				return c.Do(ctx, c.B().Set().Key(key).Value(rueidis.BinaryString(data)).Px(ttl).Build()).Error()
			},
			close: c.Close,
		}, nil
	}
}

// openRedisCache opens go-redis/cache without its local cache: it stores structs
// as MessagePack, and does not ask how long a value will live.
func openRedisCache[V any](s *server, _ values[V]) (sharedTier[V], error) {
	client := redis.NewClient(&redis.Options{Addr: s.addr})
	c, ctx := rediscache.New(&rediscache.Options{Redis: client}), context.Background()
	return sharedTier[V]{
		get: func(key string) (v V, err error) {
			err = c.Get(ctx, key, &v)
			return v, err
		},
		set: func(key string, v V) error {
			return c.Set(&rediscache.Item{Ctx: ctx, Key: key, Value: v, TTL: ttl})
		},
		close: func() { _ = client.Close() }, // nothing runs any more
	}, nil
}
