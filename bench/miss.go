package main

import (
	"context"
	"time"
)

// misses opens a trial of reads of keys that were never seen before, in a cache
// with a tenth of the usual room, so that each value stored pushes another one
// out.
func misses(make kind) opener {
	return func(w *workload) (*trial, error) {
		o, room := w.origin(), max(w.products/10, 1)
		c, err := make(setup{room: room, origin: o})
		if err != nil {
			return nil, err
		}
		t := &trial{keys: w.distinct(), do: c.get, count: o.keys.Load, each: 1, close: c.close}
		for r := t.keys.reader(); room > 0; room-- {
			t.do(r.next())
		}
		c.settled()
		return t, nil
	}
}

func openFloor(w *workload) (*trial, error) {
	ctx, o := context.Background(), w.origin()
	return &trial{
		keys:  w.distinct(),
		count: o.keys.Load,
		each:  1,
		do: func(key string) (string, bool) {
			v, err := detached(ctx, o, key)
			return v, err == nil
		},
	}, nil
}

// detached is the least that a load must be if its caller is to be free to
// leave, and the load to go on until its own time is up.
func detached(ctx context.Context, o *origin, key string) (string, error) {
	type outcome struct {
		value string
		err   error
	}
	const timeout = 10 * time.Second
	own, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout)
	done := make(chan outcome, 1)
	go func() {
		defer cancel()
		v, err := o.load(own, key)
		done <- outcome{v, err}
	}()
	select {
	case o := <-done:
		return o.value, o.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}
