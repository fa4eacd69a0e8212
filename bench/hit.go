package main

import (
	"fmt"
	"strings"
)

// hits opens a trial of reads that find their values in a full cache.
func hits(make kind) opener {
	return func(w *workload) (*trial, error) {
		o := w.origin()
		c, err := make(setup{room: w.products, origin: o})
		if err != nil {
			return nil, err
		}
		t := &trial{do: c.get, count: o.keys.Load, close: c.close}
		return t, t.ready(w, c)
	}
}

// ready warms the trial, whose cache is c, and gives it the popular keys to read.
func (t *trial) ready(w *workload, c *cache) error {
	t.keys = w.popular()
	err := c.stock(w.products, w.origin().value)
	if err == nil {
		err = t.warm(w.products, c)
	}
	if err != nil {
		t.end()
	}
	return err
}

// warm reads all products until a pass over them loads nothing, so that the
// cache holds them all, or as many as it ever will.
func (t *trial) warm(products int, c *cache) error {
	const passes = 5
	for range passes {
		loaded := counter(t.count)
		for i := range products {
			if key := keyOf(i); !t.holds(key) {
				return fmt.Errorf("no value for %q", key)
			}
		}
		c.settled()
		if loaded() == 0 {
			break
		}
	}
	return nil
}

func (t *trial) holds(key string) bool {
	v, ok := t.do(key)
	return ok && strings.HasPrefix(v, key[valueAt:])
}
