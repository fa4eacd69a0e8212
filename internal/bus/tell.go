package bus

import (
	"context"
	"time"

	"github.com/earlybird-cache/earlybird/store"
)

// batch is how many messages of a fact are told in one step.
const batch = 32

// low is a member that is behind, and since when it says the same.
type low struct {
	Member
	since time.Time
}

// Tell is that of store.Bus.
func (b *Bus) Tell(ctx context.Context, f store.Fact) error {
	messages, err := messagesOf(f)
	if err != nil {
		return err
	}
	var at Place
	for len(messages) > 0 {
		n := min(len(messages), batch)
		if at, err = b.append(ctx, messages[:n]); err != nil {
			return err
		}
		messages = messages[n:]
	}
	if err := b.settle(ctx, at); err != nil {
		return err
	}
	b.told.Add(1)
	return nil
}

// append appends messages to the log, however often it has to try.
func (b *Bus) append(ctx context.Context, messages []string) (Place, error) {
	var why error
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, wait) {
		if err := b.ended(ctx, why); err != nil {
			return Place{}, err
		}
		at, err := b.server.Tell(ctx, messages)
		if err == nil {
			b.see(at.Era)
			return at, nil
		}
		why = err
		b.sleep(ctx, pause)
	}
}

// settle waits until everybody has heard what is before at, or does not hear.
func (b *Bus) settle(ctx context.Context, at Place) error {
	told := time.Now()
	for pause := 500 * time.Microsecond; ; pause = min(pause*3/2, 10*time.Millisecond) {
		if b.allHeard(ctx, at) || time.Since(told) >= patience {
			return nil
		}
		if err := b.ended(ctx, nil); err != nil {
			return err
		}
		b.sleep(ctx, min(pause, patience-time.Since(told)))
	}
}

// allHeard reports whether all members have heard what is before at, and there is
// nobody else whose lease has not ended. Of those who tell at the same time one
// asks for all.
func (b *Bus) allHeard(ctx context.Context, at Place) bool {
	if b.polling.TryLock() {
		b.poll(ctx, at)
		b.polling.Unlock()
	}
	low := b.low.Load()
	return low != nil && low.Era == at.Era && low.Seq >= at.Seq
}

// poll finds out up to where all have heard, and drops members that do not move.
func (b *Bus) poll(ctx context.Context, at Place) {
	era, members, err := b.server.Members(ctx)
	if err != nil || time.Since(b.see(era)) < patience {
		return
	}
	seen := make(map[string]low, len(members))
	all := Place{Era: era, Seq: 1<<64 - 1}
	var still []Member
	for _, m := range members {
		l := low{Member: m, since: time.Now()}
		if before := b.lows[m.Name]; before.Member == m {
			l.since = before.since
		}
		seen[m.Name] = l
		all.Seq = min(all.Seq, m.Seq)
		if m.Seq < at.Seq && time.Since(l.since) > Lease {
			still = append(still, m)
		}
	}
	b.lows = seen
	if len(members) == 0 {
		all.Seq = at.Seq
	}
	b.low.Store(&all)
	if len(still) > 0 {
		b.server.Drop(ctx, still)
	}
}
