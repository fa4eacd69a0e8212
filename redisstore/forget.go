package redisstore

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/rueidis"

	"github.com/earlybird-cache/earlybird/internal/burial"
	"github.com/earlybird-cache/earlybird/internal/tally"
	"github.com/earlybird-cache/earlybird/store"
)

// Invalidate is that of [store.Store].
func (s *Store[V]) Invalidate(ctx context.Context, names ...string) error {
	t := s.tier
	ctx = context.WithoutCancel(ctx)
	if err := t.usable(ctx); err != nil {
		return err
	}
	mark := t.overdue.Mark()
	failed, owed, err := t.forget(ctx, names, t.WriteTimeout)
	t.tally.Call(tally.Invalidate, err)
	if err == store.ErrClosed {
		return err
	}
	t.overdue.Confirm(without(names, failed), mark)
	if len(failed)+len(owed) == 0 {
		return nil
	}
	e := &store.PendingError{Lost: t.overdue.Add(failed), Err: err}
	e.Keys = without(failed, e.Lost)
	for _, o := range owed {
		o.tell(e)
	}
	return e
}

// without returns those of names that are not among the others.
func without(names, others []string) []string {
	if len(others) == 0 {
		return names
	}
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(others, name) })
}

// forget invalidates names in batches, the bases first and then their copies. It
// returns the names of which the base failed, what copies are owed, and why for
// one of them.
func (t *tier) forget(ctx context.Context, names []string, budget time.Duration) (failed []string, owed []owed, err error) {
	for some := range slices.Chunk(names, batch) {
		bad, splits, why := t.forgetSome(ctx, some, budget)
		if failed = append(failed, bad...); why != nil {
			err = why
		}
		if o, why := t.buryOrOwe(ctx, splits); why != nil {
			owed, err = append(owed, o), why
		}
	}
	return failed, owed, err
}

// forgetNow makes up for an overdue invalidation.
func (t *tier) forgetNow(ctx context.Context, name string) error {
	mark := t.overdue.Mark()
	failed, _, err := t.forget(ctx, []string{name}, t.Timeout)
	if len(failed) > 0 {
		return err
	}
	t.overdue.Confirm([]string{name}, mark)
	return nil
}

// forgetAgain is for the ladder.
func (t *tier) forgetAgain(ctx context.Context, names []string) (failed []string) {
	failed, _, _ = t.forget(ctx, names, t.WriteTimeout)
	return failed
}

// forgetSome invalidates the bases of names and returns which of them may have
// copies.
func (t *tier) forgetSome(ctx context.Context, names []string, budget time.Duration) (failed []string, splits []burial.Split, err error) {
	keep := strconv.FormatInt(milliseconds(t.Tombstone), 10)
	work := make([]job, len(names))
	for i, name := range names {
		work[i] = job{keys: t.namespace.changeKeysOf(name), args: []string{keep}}
	}
	replies, errs := t.runMany(ctx, invalidateScript, work, budget)
	for i, name := range names {
		s, why := splitOf(name, replies[i], errs[i])
		if why != nil {
			failed, err = append(failed, name), why
		} else if len(s.Of) > 0 {
			splits = append(splits, s)
		}
	}
	return failed, splits, err
}

// job is one run of a script among many.
type job struct {
	keys keys
	args []string
}

// runMany runs a script for each of the jobs, in one write for each server, and
// returns its replies and what went wrong with each.
func (t *tier) runMany(ctx context.Context, s script, work []job, budget time.Duration) ([]rueidis.RedisMessage, []error) {
	replies, errs := t.sendMany(ctx, work, budget, func(b rueidis.Builder, j job) rueidis.Completed {
		return s.command(b, j.keys, j.args...)
	})
	var again []job
	var which []int
	for i, err := range errs {
		if err == errUnknown {
			again, which = append(again, work[i]), append(which, i)
		}
	}
	if len(again) > 0 {
		full, fullErrs := t.sendMany(ctx, again, budget, func(b rueidis.Builder, j job) rueidis.Completed {
			return s.full(b, j.keys, j.args...)
		})
		for n, i := range which {
			replies[i], errs[i] = full[n], fullErrs[n]
		}
	}
	return replies, errs
}

// runApart is runMany for jobs of which none should wait for the server of another,
// as those for copies of one key should not: a lane's jobs go by themselves.
func (t *tier) runApart(ctx context.Context, s script, work []job, budget time.Duration) ([]rueidis.RedisMessage, []error) {
	replies, errs := make([]rueidis.RedisMessage, len(work)), make([]error, len(work))
	byLane := make(map[uint16][]int)
	for i, j := range work {
		byLane[j.keys.slot/(slots/lanes)] = append(byLane[j.keys.slot/(slots/lanes)], i)
	}
	var all sync.WaitGroup
	for _, which := range byLane {
		all.Go(func() {
			some := make([]job, len(which))
			for n, i := range which {
				some[n] = work[i]
			}
			its, why := t.runMany(ctx, s, some, budget)
			for n, i := range which {
				replies[i], errs[i] = its[n], why[n]
			}
		})
	}
	all.Wait()
	return replies, errs
}

// sendMany is for changes, which are urgent: one that is refused would be tried
// again a minute later, and until then others find what is to be forgotten.
func (t *tier) sendMany(ctx context.Context, work []job, budget time.Duration, command func(rueidis.Builder, job) rueidis.Completed) ([]rueidis.RedisMessage, []error) {
	messages, errs := make([]rueidis.RedisMessage, len(work)), make([]error, len(work))
	var calls []call
	var sent []int
	var commands []rueidis.Completed
	for i, j := range work {
		x, err := t.join(ctx, j.keys.slot, budget, true, calls)
		if err != nil {
			errs[i] = err
			continue
		}
		calls, sent = append(calls, x), append(sent, i)
		commands = append(commands, command(x.client.B(), j))
	}
	if len(calls) == 0 {
		return messages, errs
	}
	replies, failed := doMany(calls, commands)
	for n, i := range sent {
		if errs[i] = failed[n]; errs[i] == nil {
			messages[i], errs[i] = message(replies[n])
		}
	}
	return messages, errs
}

// message is the reply of a script.
func message(r rueidis.RedisResult) (rueidis.RedisMessage, error) {
	if isUnknown(r) {
		return rueidis.RedisMessage{}, errUnknown
	}
	m, err := r.ToMessage()
	return m, refusal(err)
}

// InvalidateAll is that of [store.Store]. It raises the epoch of each slot that
// has one, by short scripts: one for each slot in a Cluster, which takes no more,
// and else one for each 256.
func (s *Store[V]) InvalidateAll(ctx context.Context) error {
	t := s.tier
	if err := t.usable(ctx); err != nil {
		return err
	}
	mark := t.overdue.Mark()
	err := t.flush(ctx)
	t.tally.Call(tally.Invalidate, err)
	if err == nil {
		t.overdue.ConfirmAll(mark)
	}
	return err
}

func (t *tier) flush(ctx context.Context) error {
	if c := t.link.client.Load(); c == nil || !c.cluster {
		err := t.flushBy(ctx, batch)
		if err == nil || !strings.Contains(err.Error(), "CROSSSLOT") {
			return err
		} // else a Cluster is behind what looks like one server
	}
	return t.flushBy(ctx, 1)
}

// flushBy voids all slots, so many of them by one script.
func (t *tier) flushBy(ctx context.Context, each int) error {
	for from := 0; from < slots; from += batch {
		work := make([]job, 0, batch/each)
		for slot := from; slot < from+batch; slot += each {
			work = append(work, job{keys: t.namespace.slotKeysOf(slot, slot+each)})
		}
		if err := t.flushSome(ctx, work); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// flushSome voids the bases of some slots, and then their copies.
func (t *tier) flushSome(ctx context.Context, work []job) error {
	replies, errs := t.runMany(ctx, flushScript, work, t.WriteTimeout)
	var splits []burial.Split
	for i := range work {
		some, err := t.splitsOf(replies[i], errs[i])
		if err != nil {
			return err
		}
		splits = append(splits, some...)
	}
	_, err := t.bury(ctx, splits)
	return err
}
