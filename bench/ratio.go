package main

import (
	"context"
	"fmt"
)

// rooms are the capacities at which hit ratios are measured. rooms of a loop are
// those that it hardly fits in.
var (
	rooms     = []room{0.001, 0.01, 0.05, 0.10, 0.25}
	loopRooms = []room{0.50, 0.75, 0.90, 0.95, 0.99}
)

var (
	ratioSubjects = []subject{
		{name: "earlybird", sample: replayed(newEarlybird)},
		{name: "otter", sample: replayed(newOtter)},
		{name: "theine", sample: replayed(newTheine)},
		{name: "ristretto", sample: replayed(newRistretto)},
		{name: "lru", sample: replayed(newLRU)},
		{name: "optimum", sample: foreseen},
	}
	ratioRow = row{
		name: "ratio", base: "otter", once: true, subjects: ratioSubjects,
		columns: hitRatios(rooms), variants: plan.streams,
	}
	loopRow = row{
		name: "ratio-loop", base: "otter", once: true, subjects: ratioSubjects,
		columns: hitRatios(loopRooms), variants: plan.loop,
	}
)

// hitRatios is the columns of the hit ratio in each room, and of how many
// percentage points it is above the base's.
func hitRatios(rooms []room) (columns []column) {
	for _, r := range rooms {
		hits := r.String()
		columns = append(columns, of(hits, hits, 2), column{
			head: "± at " + hits, decimals: 2,
			of: func(it, base sample) float64 { return it[hits] - base[hits] },
		})
	}
	return columns
}

// replayed returns the measurement of hit ratios, in percent, in each room. One
// goroutine reads, and waits until eviction has caught up after each miss.
func replayed(make kind) func(context.Context, *workload) (sample, error) {
	return inRooms(func(reqs requests, room int) (hits int, err error) {
		o := newOrigin()
		c, err := make(setup{room: room, origin: o, alone: true})
		if err != nil {
			return 0, err
		}
		defer c.end()
		keys := reqs.Keys()
		for i := range reqs.Len() {
			key, asked := keys[reqs.At(i)], o.keys.Load()
			if _, ok := c.get(key); !ok {
				return 0, fmt.Errorf("no value for %q", key)
			}
			if o.keys.Load() == asked {
				hits++
				continue
			}
			c.settled()
		}
		return hits, nil
	})
}

// foreseen is the most that any cache could hit.
var foreseen = inRooms(func(reqs requests, room int) (int, error) { return optimum(reqs, room), nil })

// inRooms measures the hits of the workload's requests in each of its rooms.
func inRooms(hits func(reqs requests, room int) (int, error)) func(context.Context, *workload) (sample, error) {
	return func(ctx context.Context, w *workload) (sample, error) {
		s := make(sample)
		for _, r := range w.rooms {
			if err := ctx.Err(); err != nil {
				return nil, fmt.Errorf("interrupted: %w", err)
			}
			n, err := hits(w.requests, r.of(len(w.requests.Keys())))
			if err != nil {
				return nil, err
			}
			s[r.String()] = 100 * float64(n) / float64(w.requests.Len())
		}
		return s, nil
	}
}

// streams are the traces given, and what is drawn.
func (p plan) streams() (all []variant) {
	for _, t := range p.traces {
		all = append(all, replaying(t.name, rooms, func() requests { return t }))
	}
	for _, pop := range []popularity{0.9, 1.01} {
		all = append(all, replaying(pop.String(), rooms, func() requests {
			return drawZipf(p.requests, p.keys[0], pop)
		}))
	}
	return append(all, replaying("scan ten times as fast as Zipf 1 over 1000 keys", rooms, func() requests {
		return drawScan(p.requests)
	}))
}

func (p plan) loop() []variant {
	const rounds = 20
	n := max(p.requests/rounds, 1)
	return []variant{replaying(fmt.Sprintf("loop over %d keys", n), loopRooms, func() requests {
		return drawLoop(p.requests, n)
	})}
}

func replaying(label string, rooms []room, reqs func() requests) variant {
	return variant{label, func() *workload { return &workload{requests: reqs(), rooms: rooms} }}
}
