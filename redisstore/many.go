package redisstore

import (
	"context"

	"github.com/redis/rueidis"

	"github.com/earlybird-cache/earlybird/internal/tally"
	"github.com/earlybird-cache/earlybird/store"
)

// GetMany is that of [store.Store]: one round trip for each server and each 256
// keys.
func (s *Store[V]) GetMany(ctx context.Context, names []string) []store.Reply[V] {
	replies := make([]store.Reply[V], len(names))
	for from := 0; from < len(names); from += batch {
		to := min(from+batch, len(names))
		s.getSome(ctx, names[from:to], replies[from:to])
	}
	return replies
}

// getSome fills in the replies about a batch of keys. Each counts for its own
// lane; those whose lane is open are not asked for.
func (s *Store[V]) getSome(ctx context.Context, names []string, replies []store.Reply[V]) {
	calls := make([]call, 0, len(names))
	asked := make([]int, 0, len(names))
	void := make([]bool, len(names))
	var commands []rueidis.Completed
	for i, name := range names {
		void[i] = s.tier.overdue.Has(name)
		k := s.tier.namespace.readKeysOf(name)
		x, err := s.tier.join(ctx, k.slot, s.tier.Timeout, false, calls)
		if err != nil {
			replies[i].Err = err
			continue
		}
		calls, asked = append(calls, x), append(asked, i)
		b := x.client.B()
		commands = append(commands, askLife(b, k), askValue(b, k))
	}
	if len(calls) > 0 {
		results, errs := doMany(calls, commands)
		for n, i := range asked {
			if replies[i].Err = errs[n]; errs[n] == nil {
				replies[i].Record, replies[i].Err = s.record(names[i], results[2*n], results[2*n+1])
			}
		}
	}
	var err error
	for i := range replies {
		if replies[i].Err == nil {
			replies[i].Record = s.seen(replies[i].Record, void[i])
		} else {
			err = replies[i].Err
		}
	}
	s.tier.tally.Call(tally.Get, err)
}
