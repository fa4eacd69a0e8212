package model

import (
	"context"
	"maps"
	"runtime"
	"time"

	"github.com/earlybird-cache/earlybird"
)

// batch is a call of LoadMany, and its part for each key, which the history has
// as a Load.
type batch struct {
	origin branch
	parts  []*Load
	first  Plan   // the first key's: how the call as a whole fares
	broken answer // of the parts for which the call has no more than its own error
	half   bool   // it has more for every second one
	values map[string]Value
	errors map[string]error
}

// loadMany is the cache's Options.LoadMany. The first key's plan says how long
// it takes, what it reads before and whether it breaks, each key's plan how that
// key fares.
func (o branch) loadMany(ctx context.Context, keys []string) (map[string]Value, error) {
	b := o.beginBatch(ctx, keys)
	l := b.parts[0]
	if err := o.depend(ctx, l, b.first); err != nil {
		b.broken = answer{outcome: Lacked, fault: &Fault{l.ID, err}}
	} else if err := o.work(ctx, b.first); err != nil {
		b.broken = answer{outcome: Failed, fault: &Fault{l.ID, err}}
	} else if b.half = b.first.Half; b.half {
		b.broken = answer{outcome: Failed, fault: &Fault{l.ID, errDown}}
	}
	for i := range b.parts {
		b.end(ctx, i)
	}
	switch l.Outcome {
	case Panicked:
		panic(l.Fault)
	case Exited:
		runtime.Goexit()
	}
	b.values["k9999"] = Value{Key: "k9999"} // for which nobody asked
	switch {
	case b.broken.fault != nil:
		return b.values, b.broken.fault
	case len(b.errors) > 0:
		return b.values, &earlybird.ManyError{Errors: maps.Clone(b.errors)}
	}
	return b.values, nil
}

func (o branch) beginBatch(ctx context.Context, keys []string) *batch {
	b := &batch{origin: o, values: make(map[string]Value), errors: make(map[string]error)}
	for i, key := range keys {
		l := o.newLoad(ctx, key)
		if i > 0 {
			l.Call = b.parts[0].ID
		}
		o.history.beginLoad(l)
		b.parts = append(b.parts, l)
	}
	b.first = o.plan(keys[0])
	return b
}

// end ends the part for the ith key, and puts it into what the call returns.
func (b *batch) end(ctx context.Context, i int) {
	l := b.parts[i]
	a, leftOut := b.part(i)
	switch {
	case leftOut, a.outcome == Panicked, a.outcome == Exited, b.broken.fault != nil && a.fault == b.broken.fault:
	case a.fault != nil:
		b.errors[l.Key] = a.fault
	default:
		b.values[l.Key] = b.origin.profile.boxed(a.value)
	}
	b.origin.history.end(&l.Span, func() {
		l.Outcome, l.Value, l.Fault, l.LeftOut = a.outcome, a.value, a.fault, leftOut
		l.Half = b.half
		l.Cut = ctx.Err() != nil && time.Since(b.origin.history.began) < l.Deadline
	})
}

// part is how the ith key fares: as its plan says, unless the call as a whole
// ends badly. leftOut means that the call is to say nothing of it.
func (b *batch) part(i int) (a answer, leftOut bool) {
	if b.broken.fault != nil && !b.half {
		return b.broken, false
	}
	l, plan := b.parts[i], b.first
	if i > 0 {
		plan = b.origin.plan(l.Key)
		switch {
		case b.parts[0].Outcome == Panicked, b.parts[0].Outcome == Exited:
			return answer{outcome: b.parts[0].Outcome, fault: b.parts[0].Fault}, false
		case plan.End == Panics, plan.End == Goexits: // the call does not
			plan.End = Fails
		}
	}
	version, present := b.origin.row(l.Key)
	a = b.origin.conclude(l, plan, version, present)
	breaks := a.outcome == Panicked || a.outcome == Exited
	if b.half && !breaks && (i%2 == 0 || a.fault != nil) {
		return b.broken, false
	}
	return a, a.outcome == Absent && plan.Bare && a.fault != nil
}
