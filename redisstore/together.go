package redisstore

import (
	"context"
	"slices"
	"time"

	"github.com/redis/rueidis"
)

// join is begin for a call that travels with others, and counts as one with
// them.
func (t *tier) join(ctx context.Context, slot uint16, budget time.Duration, others []call) (call, error) {
	if len(others) == 0 {
		return t.begin(ctx, slot, budget)
	}
	x := others[0]
	x.slot, x.lane = slot, t.laneOf(x.client, slot)
	if !x.lane.admits(t.now(), false) {
		return call{}, errOpen
	}
	return x, nil
}

// doMany is do for calls that travel together, each with as many commands. The
// error of a call is one of its way; a lane is blamed once for all of them.
func doMany(calls []call, commands []rueidis.Completed) ([]rueidis.RedisResult, []error) {
	replies := calls[0].send(calls, commands)
	each := len(commands) / len(calls)
	errs := make([]error, len(calls))
	var blamed [lanes]*lane
	n := 0
	for i, x := range calls {
		err := firstError(replies[i*each : (i+1)*each])
		if err == nil {
			x.lane.succeed()
			continue
		}
		errs[i] = x.reason(err)
		if x.excused() == nil && !slices.Contains(blamed[:n], x.lane) {
			x.blame(err)
			blamed[n] = x.lane
			n++
		}
	}
	return replies, errs
}

// firstError returns the first error of the way among replies.
func firstError(replies []rueidis.RedisResult) error {
	for i := range replies {
		if err := replies[i].NonRedisError(); err != nil {
			return err
		}
	}
	return nil
}

// send sends the commands of calls, of which x is the first.
func (x call) send(calls []call, commands []rueidis.Completed) []rueidis.RedisResult {
	for i := range calls {
		if calls[i].lane.doubt.Load() {
			if replies := x.carefully(commands); replies != nil {
				return replies
			}
			return lost(len(commands), x.ctx.Err())
		}
	}
	defer x.tier.inFlight.Add(-1)
	return x.client.DoMulti(x.ctx, commands...)
}

// lost is n replies that did not come.
func lost(n int, err error) []rueidis.RedisResult {
	replies := make([]rueidis.RedisResult, n)
	for i := range replies {
		replies[i] = rueidis.NewErrorResult(err)
	}
	return replies
}
