package model

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/earlybird-cache/earlybird"
)

func (r *run) read(client int, verb Verb, key string, c Ctx) {
	r.readAs(context.Background(), &Read{Client: client, Verb: verb, Given: key, Ctx: c})
}

// nested is a Get or a GetMany that a loader does.
func (r *run) nested(ctx context.Context, call int, keys []string) error {
	if len(keys) == 1 {
		n := &Read{Parent: call, Verb: Get, Given: keys[0]}
		r.readAs(ctx, n)
		return n.Err
	}
	return r.manyAs(ctx, keys, Read{Parent: call, Verb: Many})
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
		read.Cache, _ = r.cacheOf(read.Client)
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

	_, cache := r.cacheOf(read.Client)
	var result earlybird.Result[Value]
	found, err := true, error(nil)
	switch read.Verb {
	case Get:
		result.Value, err = cache.Get(ctx, read.Given)
	case Peek:
		result, found = cache.Peek(read.Given)
	default:
		result, err = cache.Lookup(ctx, read.Given)
	}
	r.history.end(&read.Span, func() {
		result.Value, read.Shared = result.Value.claim()
		read.Result, read.Found, read.Err, read.CtxErr = result, found, err, ctx.Err()
	})
}

// parts returns a read like this one for each different key, as it is spelled.
func (like Read) parts(keys []string) []*Read {
	var reads []*Read
	for i, key := range keys {
		if !slices.Contains(keys[:i], key) {
			part := like
			part.Given = key
			reads = append(reads, &part)
		}
	}
	return reads
}

// manyAs does a GetMany. What it says of a key is that key's Read; that it says
// nothing of one is an error nobody made.
func (r *run) manyAs(parent context.Context, keys []string, like Read) error {
	ctx, stop := like.Ctx.with(parent)
	defer stop()
	reads := like.parts(keys)
	ctx = r.begin(ctx, reads...)
	_, cache := r.cacheOf(like.Client)
	values, err := cache.GetMany(ctx, keys)
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
	return err
}

var errUntold = errors.New("GetMany does not say one thing of each key")

// warm does a Warm, and if that comes to no end in time another one for what it
// left out.
func (r *run) warm(client int, o Op) {
	left := o.Keys
	for range 2 {
		w := r.warmOnce(client, left, o.Ctx)
		left = left[min(w.Done.Seen, len(left)):]
		if w.Err == nil || len(left) == 0 {
			return
		}
	}
}

func (r *run) warmOnce(client int, keys []string, c Ctx) *Warming {
	ctx, stop := c.with(context.Background())
	defer stop()
	w := &Warming{Client: client, Keys: r.script.Profile.canonAll(keys)}
	reads := Read{Client: client, Verb: Warm, Ctx: c}.parts(keys)
	ctx = r.begin(ctx, reads...)
	r.history.beginWarm(w)
	_, cache := r.cacheOf(client)
	err := cache.Warm(ctx, slices.Values(keys), func(d earlybird.Warmed) { w.Done = d })
	for _, read := range reads {
		r.history.end(&read.Span, func() { read.Found, read.CtxErr = true, ctx.Err() })
	}
	r.history.end(&w.Span, func() {
		var partly *earlybird.WarmError
		if w.Err = err; errors.As(err, &partly) {
			w.Done = partly.Warmed
		}
	})
	return w
}

// audit looks at what is held, once evictions under way have come to their end.
func (r *run) audit() {
	time.Sleep(1)
	p, cache := r.script.Profile, r.caches[0]
	var values []Value
	for i := range p.Rows {
		if got, ok := cache.Peek(p.row(i)); ok {
			v, _ := got.Value.claim()
			values = append(values, v)
		}
	}
	r.history.audit(values, cache.Stats())
}
