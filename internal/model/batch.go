package model

import (
	"context"
	"maps"
	"runtime"
	"slices"
	"time"

	"github.com/earlybird-cache/earlybird"
)

// batch is a call of LoadMany, and its part for each key, which the history has
// as a Load.
type batch struct {
	origin *origin
	parts  []*Load
	values map[string]Value
	errors map[string]error
}

// loadMany is the cache's Options.LoadMany. The first key's plan says how long
// it takes and whether it panics, each key's plan how that key fares.
func (o *origin) loadMany(ctx context.Context, keys []string) (map[string]Value, error) {
	b := batch{origin: o, values: make(map[string]Value), errors: make(map[string]error)}
	for i, key := range keys {
		l := o.newLoad(ctx, key)
		if i > 0 {
			l.Call = b.parts[0].ID
		}
		o.history.beginLoad(l)
		b.parts = append(b.parts, l)
	}
	first := o.plan(keys[0])
	first.Nest = ""
	err := o.work(ctx, first)
	for i, l := range b.parts {
		p := first
		if i > 0 {
			p = o.plan(l.Key)
		}
		b.part(ctx, l, p, first, err)
	}
	switch b.parts[0].Outcome {
	case Panicked:
		panic(b.parts[0].Fault)
	case Exited:
		runtime.Goexit()
	}
	b.values["k9999"] = Value{Key: "k9999"} // for which nobody asked
	if err != nil {
		return b.values, b.parts[0].Fault
	}
	if len(b.errors) > 0 {
		return b.values, &earlybird.ManyError{Errors: maps.Clone(b.errors)}
	}
	return b.values, nil
}

// part ends the part for l, as p says unless the call as a whole ends badly.
func (b *batch) part(ctx context.Context, l *Load, p, first Plan, err error) {
	a := answer{outcome: Failed}
	switch {
	case err != nil && l == b.parts[0]:
		a.fault = &Fault{l.ID, err}
	case err != nil:
		a.fault = b.parts[0].Fault
	case b.parts[0].Outcome == Panicked, b.parts[0].Outcome == Exited:
		a = answer{outcome: b.parts[0].Outcome, fault: b.parts[0].Fault}
	default:
		version, present := b.origin.row(l.Key)
		a = b.origin.conclude(l, p, version, present)
		if l != b.parts[0] && slices.Contains([]End{Panics, Goexits}, p.End) && a.outcome != Absent {
			a = answer{outcome: Failed, fault: &Fault{l.ID, errDown}}
		}
	}
	switch {
	case a.outcome == Absent && p.Bare && a.fault != nil, a.outcome == Panicked, a.outcome == Exited, err != nil:
	case a.fault != nil:
		b.errors[l.Key] = a.fault
	default:
		b.values[l.Key] = b.origin.profile.boxed(a.value)
	}
	b.origin.history.end(&l.Span, func() {
		l.Outcome, l.Value, l.Fault, l.LeftOut = a.outcome, a.value, a.fault, a.outcome == Absent && p.Bare && a.fault != nil
		l.Cut = ctx.Err() != nil && time.Since(b.origin.history.began) < l.Deadline
	})
}
