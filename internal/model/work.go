package model

import (
	"context"
	"time"
)

// work takes the time that p says. It returns an error only if p heeds ctx and
// ctx ends.
func (o *origin) work(ctx context.Context, p Plan) error {
	var over <-chan struct{}
	if p.Heed {
		over = ctx.Done()
	}
	if p.Take > 0 { // receiving from timers that are over crashes under -race: golang.org/issue/78156
		timer := time.NewTimer(p.Take)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-over:
			return ctx.Err()
		}
	}
	if !p.Gate {
		return nil
	}
	select {
	case <-o.gate(p.Key):
		return nil
	case <-over:
		return ctx.Err()
	}
}

// gate returns a channel that the next release of key closes.
func (o *origin) gate(key string) <-chan struct{} {
	o.mu.Lock()
	defer o.mu.Unlock()
	g := make(chan struct{})
	if o.open {
		close(g)
	} else {
		o.gates[key] = append(o.gates[key], g)
	}
	return g
}
