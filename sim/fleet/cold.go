package fleet

import (
	"context"
	"fmt"
	"sync"
)

// ColdRow is what became of crowds at keys that no cache had.
type ColdRow struct {
	Name         string   `json:"name"`
	Keys         int      `json:"keys"` // one crowd each
	Reads        int      `json:"reads"`
	Errors       int      `json:"errors"`
	LoadsPerKey  float64  `json:"loads_per_key"`
	MostAtOnce   int      `json:"most_at_once"` // loads of one key
	Latency               // of reads, since the crowd came
	Woken        int      `json:"woken"` // reads that waited for the load of another instance
	WakeUp       Latency  `json:"wake_up"`
	TripsPerRead float64  `json:"round_trips_per_read"`
	Commands     commands `json:"server_commands"`
	FirstError   string   `json:"first_error,omitempty"`

	about string
}

// crowds is how many come to a fleet, one after the other.
const crowds = 20

var coldRungs = []rung{
	{name: alone.name, about: alone.about, alone: true},
	{name: "no lease", about: "a shared tier; whoever finds nothing loads", set: early.set},
	{name: "lease", about: "one loads, and the others are told by the server: earlybird with its defaults"},
}

func coldReads(s Setup) int { return len(coldRungs) * (crowds + 1) * s.Readers }

// playCold sends crowds to cold keys.
func playCold(ctx context.Context, r *run) error {
	for _, x := range coldRungs {
		row, err := r.playColdRung(ctx, x)
		if err != nil {
			return err
		}
		r.report.Cold = append(r.report.Cold, row)
	}
	return nil
}

func (r *run) playColdRung(ctx context.Context, x rung) (row ColdRow, err error) {
	var unwatched, watched tally
	err = r.with(x, func(c *caches) error {
		c.crowd(ctx, r, "first", &unwatched)
		from := c.origin.now()
		before, err := r.server.commands(ctx)
		if err != nil {
			return err
		}
		for i := range crowds {
			c.crowd(ctx, r, fmt.Sprintf("cold:%d", i), &watched)
		}
		after, err := r.server.commands(ctx)
		called := after.since(before)
		calls := c.origin.between(from, c.origin.now())
		row = ColdRow{
			Name: x.name, about: x.about, Keys: crowds, Reads: watched.reads, Errors: watched.errors, FirstError: watched.firstError(),
			LoadsPerKey: float64(len(calls)) / crowds, MostAtOnce: mostAtOnce(calls, byKey),
			Latency: watched.latency(), Woken: len(watched.woke), WakeUp: watched.wakeUp(),
			TripsPerRead: float64(called.roundTrips()) / float64(max(1, watched.reads)), Commands: called,
		}
		return err
	})
	if err == nil {
		err = ctx.Err()
	}
	return row, err
}

// crowd has all readers come for key at once, and waits for them.
func (c *caches) crowd(ctx context.Context, r *run, key string, t *tally) {
	var ready, gone sync.WaitGroup
	come := make(chan struct{})
	ready.Add(r.setup.Readers)
	due := c.origin.now()
	for i := range r.setup.Readers {
		gone.Go(func() {
			ready.Done()
			<-come
			t.add(c.read(ctx, due, i%len(c.cache), key))
			r.played.Add(1)
		})
	}
	ready.Wait()
	due = c.origin.now()
	close(come)
	gone.Wait()
}
