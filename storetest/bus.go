package storetest

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/earlybird-cache/earlybird/internal/bus"
	"github.com/earlybird-cache/earlybird/store"
)

var _ store.Bus = (*Client[int])(nil)

// Listen is that of store.Bus.
func (c *Client[V]) Listen(from string, heard func(store.Fact), gap func()) {
	c.bus.Listen(from, heard, gap)
}

// Hears is that of store.Bus.
func (c *Client[V]) Hears() bool { return c.bus.Hears() }

// Place is that of store.Bus.
func (c *Client[V]) Place() string { return c.bus.Place() }

// Listeners is that of store.Bus.
func (c *Client[V]) Listeners() int { return c.bus.Listeners() }

// Tell is that of store.Bus.
func (c *Client[V]) Tell(ctx context.Context, f store.Fact) error { return c.bus.Tell(ctx, f) }

// facts is what the server has of the bus.
type facts struct {
	era     int
	seq     uint64
	log     []bus.Message // the last of them
	members map[string]bus.Member
	more    chan struct{} // closed when there is more
}

// loseLocked is what a restart does to it.
func (f *facts) loseLocked() { *f = facts{era: f.era + 1, more: f.more} }

func (f *facts) placeLocked() bus.Place {
	return bus.Place{Era: "era " + strconv.Itoa(f.era), Seq: f.seq}
}

// busServer is the server, seen from a client.
type busServer[V any] struct{ c *Client[V] }

func (s busServer[V]) ask(ctx context.Context, method string, step func(f *facts)) error {
	return s.c.exchange(ctx, method, "", func() { step(&s.c.mem.facts) })
}

func (s busServer[V]) Hear(ctx context.Context, name string, round uint64, at bus.Place) (bus.Place, error) {
	now := new(bus.Place)
	err := s.ask(ctx, "Hear", func(f *facts) {
		if *now = f.placeLocked(); now.Era != at.Era {
			return
		}
		if f.members == nil {
			f.members = make(map[string]bus.Member)
		}
		f.members[name] = bus.Member{Name: name, Seq: at.Seq, Round: round}
	})
	if err != nil {
		return bus.Place{}, err
	}
	return *now, nil
}

// readAtOnce is how many messages are read at once.
const readAtOnce = 16

func (s busServer[V]) Read(ctx context.Context, at bus.Place, wait time.Duration) ([]bus.Message, error) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	for {
		type reply struct {
			found []bus.Message
			more  chan struct{}
		}
		r := new(reply)
		err := s.ask(ctx, "Read", func(f *facts) {
			i, _ := slices.BinarySearchFunc(f.log, at.Seq+1, func(m bus.Message, seq uint64) int { return int(m.Seq) - int(seq) })
			if at.Era == f.placeLocked().Era {
				r.found = slices.Clone(f.log[i:min(i+readAtOnce, len(f.log))])
			}
			if f.more == nil {
				f.more = make(chan struct{})
			}
			r.more = f.more
		})
		if err != nil {
			return nil, err
		}
		if len(r.found) > 0 {
			return r.found, nil
		}
		select {
		case <-r.more:
		case <-timer.C:
			return nil, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (s busServer[V]) Tell(ctx context.Context, messages []string) (bus.Place, error) {
	at := new(bus.Place)
	err := s.ask(ctx, "Tell", func(f *facts) {
		for _, m := range messages {
			f.seq++
			f.log = append(f.log, bus.Message{Seq: f.seq, Data: m})
		}
		if over := len(f.log) - s.c.mem.opts.MaxFacts; over > 0 {
			f.log = slices.Clone(f.log[over:])
		}
		if f.more != nil {
			close(f.more)
			f.more = nil
		}
		*at = f.placeLocked()
	})
	if err != nil {
		return bus.Place{}, err
	}
	return *at, nil
}

func (s busServer[V]) Members(ctx context.Context) (string, []bus.Member, error) {
	type reply struct {
		era     string
		members []bus.Member
	}
	r := new(reply)
	err := s.ask(ctx, "Members", func(f *facts) {
		r.era = f.placeLocked().Era
		for _, m := range f.members {
			r.members = append(r.members, m)
		}
	})
	if err != nil {
		return "", nil, err
	}
	return r.era, r.members, nil
}

func (s busServer[V]) Drop(ctx context.Context, members []bus.Member) error {
	return s.ask(ctx, "Drop", func(f *facts) {
		for _, m := range members {
			if f.members[m.Name] == m {
				delete(f.members, m.Name)
			}
		}
	})
}

func (s busServer[V]) Leave(ctx context.Context, name string) error {
	return s.ask(ctx, "Leave", func(f *facts) { delete(f.members, name) })
}
