package main

import (
	"context"
	"time"

	"github.com/earlybird-cache/earlybird"
)

// openMiss is a miss in a cache with a tenth of the usual room, so that each
// value stored pushes another one out.
func openMiss(w *workload) (*trial, error) {
	room := max(w.products/10, 1)
	c, err := earlybird.New(load, earlybird.Options[string]{TTL: ttl, MaxEntries: room})
	if err != nil {
		return nil, err
	}
	t := asking(c, nil, func(s earlybird.Stats) uint64 { return s.Loaded })
	t.keys = w.distinct()
	for r := t.keys.reader(); room > 0; room-- {
		t.do(r.next())
	}
	return t, nil
}

func openFloor(w *workload) (*trial, error) {
	ctx := context.Background()
	return &trial{
		keys: w.distinct(),
		do: func(key string) (string, bool) {
			v, err := detached(ctx, key)
			return v, err == nil
		},
	}, nil
}

// detached is the least that a load must be if its caller is to be free to
// leave, and the load to go on until its own time is up.
func detached(ctx context.Context, key string) (string, error) {
	type outcome struct {
		value string
		err   error
	}
	const timeout = 10 * time.Second
	own, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout)
	done := make(chan outcome, 1)
	go func() {
		defer cancel()
		v, err := load(own, key)
		done <- outcome{v, err}
	}()
	select {
	case o := <-done:
		return o.value, o.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}
