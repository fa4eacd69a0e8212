package model

import (
	"context"
	"errors"
	"slices"

	"github.com/earlybird-cache/earlybird"
)

func (r *run) read(client int, verb Verb, key string, c Ctx) {
	r.readAs(context.Background(), &Read{Client: client, Verb: verb, Given: key, Ctx: c})
}

// nested is a Get that a loader does.
func (r *run) nested(ctx context.Context, parent int, key string) error {
	n := &Read{Parent: parent, Verb: Get, Given: key}
	r.readAs(ctx, n)
	return n.Err
}

type leadersKey struct{}

// leaderOf returns the ID of the read of key whose context ctx comes from, or 0.
func leaderOf(ctx context.Context, key string) int {
	leaders, _ := ctx.Value(leadersKey{}).(map[string]int)
	return leaders[key]
}

// begin writes reads down, which are parts of one call, and returns the context
// of that.
func (r *run) begin(ctx context.Context, reads ...*Read) context.Context {
	leaders := make(map[string]int)
	for _, read := range reads {
		read.Key = r.script.Profile.canon(read.Given)
		read.DoneBefore = ctx.Err() != nil
		r.history.beginRead(read)
		leaders[read.Key] = read.ID
	}
	return context.WithValue(ctx, leadersKey{}, leaders)
}

func (r *run) readAs(parent context.Context, read *Read) {
	ctx, stop := read.Ctx.with(parent)
	defer stop()
	ctx = r.begin(ctx, read)

	var result earlybird.Result[Value]
	found, err := true, error(nil)
	switch read.Verb {
	case Get:
		result.Value, err = r.cache.Get(ctx, read.Given)
	case Peek:
		result, found = r.cache.Peek(read.Given)
	default:
		result, err = r.cache.Lookup(ctx, read.Given)
	}
	r.history.end(&read.Span, func() {
		result.Value, read.Shared = result.Value.claim()
		read.Result, read.Found, read.Err, read.CtxErr = result, found, err, ctx.Err()
	})
}

// parts returns a read for each different key, as it is spelled.
func (o Op) parts(client int) []*Read {
	var reads []*Read
	for i, key := range o.Keys {
		if !slices.Contains(o.Keys[:i], key) {
			reads = append(reads, &Read{Client: client, Verb: o.Verb, Given: key, Ctx: o.Ctx})
		}
	}
	return reads
}

// many does a GetMany. What it says of a key is that key's Read; that it says
// nothing of one is an error nobody made.
func (r *run) many(client int, o Op) {
	ctx, stop := o.Ctx.with(context.Background())
	defer stop()
	reads := o.parts(client)
	ctx = r.begin(ctx, reads...)
	values, err := r.cache.GetMany(ctx, o.Keys)
	failed := &earlybird.ManyError{}
	errors.As(err, &failed)
	for _, read := range reads {
		r.history.end(&read.Span, func() {
			v, ok := values[read.Given]
			read.Result.Value, read.Shared = v.claim()
			read.Found, read.Err, read.CtxErr = true, failed.Errors[read.Given], ctx.Err()
			if ok == (read.Err != nil) || len(values)+len(failed.Errors) != len(reads) {
				read.Err = errUntold
			}
		})
	}
}

var errUntold = errors.New("GetMany does not say one thing of each key")

func (r *run) warm(client int, o Op) {
	ctx, stop := o.Ctx.with(context.Background())
	defer stop()
	w := &Warming{Client: client, Keys: o.Keys}
	reads := o.parts(client)
	ctx = r.begin(ctx, reads...)
	r.history.beginWarm(w)
	err := r.cache.Warm(ctx, slices.Values(o.Keys), func(d earlybird.Warmed) { w.Done = d })
	for _, read := range reads {
		r.history.end(&read.Span, func() { read.Found, read.CtxErr = true, ctx.Err() })
	}
	r.history.end(&w.Span, func() { w.Err = err })
}
