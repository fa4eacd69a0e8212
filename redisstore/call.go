package redisstore

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/rueidis"

	"github.com/earlybird-cache/earlybird/internal/tally"
	"github.com/earlybird-cache/earlybird/store"
)

// call is one exchange with the server of a slot: some commands in one write.
type call struct {
	tier    *tier
	client  *client
	lane    *lane
	slot    uint16
	ctx     context.Context
	callers bool // ctx is the caller's: when it ends, that is not the tier's fault
}

// begin admits a call about slot, which must be made with do, or gives an error
// at once.
func (t *tier) begin(ctx context.Context, slot uint16, budget time.Duration) (call, error) {
	return t.admit(ctx, slot, budget, false)
}

// admit is begin for a call that may be urgent: others wait for what it ends, or
// must not find what it takes away.
func (t *tier) admit(ctx context.Context, slot uint16, budget time.Duration, urgent bool) (call, error) {
	if err := t.usable(ctx); err != nil {
		return call{}, err
	}
	c := t.link.client.Load()
	if c == nil {
		return call{}, errNotConnected
	}
	now := t.now()
	l := t.laneOf(c, slot)
	if !l.admits(now, urgent) {
		return call{}, errOpen
	}
	if t.inFlight.Add(1) > int64(t.MaxInFlight) {
		t.inFlight.Add(-1)
		return call{}, errTooMany
	}
	x := call{tier: t, client: c, lane: l, slot: slot}
	x.ctx, x.callers = t.within(ctx, l, now, budget)
	return x, nil
}

// within returns the caller's context if it ends by itself before the budget
// does, else one that ends with the budget. A mere cancellation is not waited
// for: to notice it would cost every hit a timer of its own.
func (t *tier) within(ctx context.Context, l *lane, now int64, budget time.Duration) (_ context.Context, callers bool) {
	if d, ok := ctx.Deadline(); ok && time.Until(d) < budget {
		return ctx, true
	}
	if budget == t.Timeout {
		return l.reads.context(now, budget), false
	}
	return l.writes.context(now, budget), false
}

// do sends the commands and returns a reply to each. An error is one of the way
// there or back; a server's error replies are among the replies.
func (x call) do(commands ...rueidis.Completed) ([]rueidis.RedisResult, error) {
	var replies []rueidis.RedisResult
	if x.lane.doubt.Load() {
		replies = x.carefully(commands)
	} else {
		replies = x.client.DoMulti(x.ctx, commands...)
		x.tier.inFlight.Add(-1)
	}
	if replies == nil {
		return nil, x.failed(x.ctx.Err())
	}
	if err := firstError(replies); err != nil {
		return nil, x.failed(err)
	}
	x.lane.succeed()
	return replies, nil
}

// doubt makes the next call of each lane a careful one: it may have to connect.
func (t *tier) doubt() {
	for i := range t.lanes {
		t.lanes[i].doubt.Store(true)
	}
}

// carefully is for a server that may be gone: the client library waits for a
// connection that another call is making, however long. It returns nil when the
// context ends first.
func (x call) carefully(commands []rueidis.Completed) []rueidis.RedisResult {
	answer := make(chan []rueidis.RedisResult, 1)
	go func() { // ends when the library gives up, at the latest when it is closed
		defer x.tier.inFlight.Add(-1)
		answer <- x.client.DoMulti(x.ctx, commands...)
	}()
	select {
	case replies := <-answer:
		return replies
	case <-x.ctx.Done():
		return nil
	}
}

// failed turns an error of the way into one of the tier and counts it against
// the lane, unless it is the caller's doing.
func (x call) failed(err error) error {
	if x.excused() == nil {
		x.blame(err)
	}
	return x.reason(err)
}

// excused returns why a failure is nobody's fault.
func (x call) excused() error {
	switch {
	case x.tier.ctx.Err() != nil:
		return store.ErrClosed
	case x.callers:
		return x.ended()
	}
	return nil
}

// ended returns why the call's context is over. It can be before it says so: the
// client library gives the connection the same deadline, and of two timers either
// may be the first to run.
func (x call) ended() error {
	if d, ok := x.ctx.Deadline(); ok && !time.Now().Before(d) {
		return context.DeadlineExceeded
	}
	return x.ctx.Err()
}

// blame counts a failure against the lane.
func (x call) blame(err error) {
	if x.lane.fail(x.slot) {
		x.tier.opened(x.lane, err)
	}
}

// reason is the error of a call that failed with err on its way.
func (x call) reason(err error) error {
	switch excuse := x.excused(); {
	case excuse != nil:
		return excuse
	case x.ended() != nil:
		return tally.ErrNoAnswer
	}
	return fmt.Errorf("%w: %w", store.ErrUnavailable, err)
}

// run runs a script for a user's key and returns its reply.
func (t *tier) run(ctx context.Context, s script, k keys, budget time.Duration, args ...string) (rueidis.RedisMessage, error) {
	x, err := t.admit(ctx, k.slot, budget, s.ends)
	if err != nil {
		return rueidis.RedisMessage{}, err
	}
	replies, err := x.do(s.command(x.client.B(), k, args...))
	if err != nil {
		return rueidis.RedisMessage{}, err
	}
	if isUnknown(replies[0]) {
		if x, err = t.admit(ctx, k.slot, budget, s.ends); err != nil {
			return rueidis.RedisMessage{}, err
		}
		if replies, err = x.do(s.full(x.client.B(), k, args...)); err != nil {
			return rueidis.RedisMessage{}, err
		}
	}
	m, err := replies[0].ToMessage()
	return m, refusal(err)
}
