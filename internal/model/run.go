package model

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/earlybird-cache/earlybird"
)

// patience is how long, in virtual time, a run may last before it is said to
// hang: far beyond what any script and the cache's own bounds can take.
const patience = 24 * time.Hour

// Run plays the script on a new cache and judges what happened. It must run in
// a testing/synctest bubble of its own. Its error is a *[Broken] if the cache
// broke a promise.
func Run(s Script) (Coverage, error) {
	h := newHistory()
	r := &run{script: s, history: h, origin: newOrigin(h, s)}
	r.origin.read = r.nested
	if s.Profile.isFleet() {
		r.tier = newTier(h, s)
	}
	for i := range max(1, s.Profile.Tier.Caches) {
		if err := r.open(branch{r.origin, i}); err != nil {
			return nil, err
		}
	}

	hung := !r.play()
	r.origin.releaseAll()
	stats := r.finish()
	h.mu.Lock() // a hung reader may return yet
	defer h.mu.Unlock()
	return judge(s, h, stats, hung)
}

// open adds a cache.
func (r *run) open(origin branch) error {
	p := r.script.Profile
	opts, err := p.Options(r.script.Seed + uint64(origin.cache))
	if err != nil {
		return err
	}
	if p.Batches {
		opts.LoadMany = origin.loadMany
	}
	if p.Revalidates {
		opts.Revalidate = origin.revalidate
	}
	if p.isFleet() {
		opts.Store = r.tier.client()
	}
	c, err := earlybird.New(origin.load, opts)
	r.caches = append(r.caches, c)
	return err
}

// run is a script that is being played.
type run struct {
	script  Script
	history *History
	origin  *origin
	tier    *tier // of several caches
	caches  []*earlybird.Cache[Value]
}

// cacheOf returns the cache that a client asks, and which that is.
func (r *run) cacheOf(client int) (int, *earlybird.Cache[Value]) {
	i := client % len(r.caches)
	if client < 0 {
		i = finisher - client
	}
	return i, r.caches[i]
}

// play lets all clients do their operations, and reports whether they came to
// an end.
func (r *run) play() bool {
	var clients sync.WaitGroup
	for client, ops := range r.sessions() {
		clients.Go(func() { r.session(client, ops) })
	}
	return within(patience, clients.Wait)
}

// within reports whether f returns within d. If not, f is left behind.
func within(d time.Duration, f func()) bool {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}

func (r *run) sessions() map[int][]Op {
	sessions := make(map[int][]Op)
	for _, o := range r.script.Ops {
		sessions[o.Client] = append(sessions[o.Client], o)
	}
	return sessions
}

func (r *run) session(client int, ops []Op) {
	for _, o := range ops {
		time.Sleep(o.Wait)
		r.do(client, o)
	}
}

func (r *run) do(client int, o Op) {
	ctx := context.Background()
	_, cache := r.cacheOf(client)
	switch o.Verb {
	case Get, Lookup, Peek:
		r.read(client, o.Verb, o.Keys[0], o.Ctx)
	case Many:
		r.manyAs(ctx, o.Keys, Read{Client: client, Verb: Many, Ctx: o.Ctx})
	case Warm:
		r.warm(client, o)
	case Audit:
		r.audit()
	case Crowd:
		r.crowd(client, o)
	case Set:
		for _, key := range o.Keys {
			r.set(client, key)
		}
	case Invalidate:
		r.write(client, o, func() error { return cache.Invalidate(ctx, o.Keys...) })
	case InvalidateAll:
		r.write(client, o, func() error { return cache.InvalidateAll(ctx) })
	case Created:
		r.write(client, o, func() error { return cache.Created(ctx, o.Keys...) })
	case Creating:
		r.creating(client, o)
	case Change:
		r.eachRow(client, o, func(key string) { r.origin.change(client, key) })
	case Delete:
		r.eachRow(client, o, func(key string) { r.origin.delete(client, key) })
	case Release:
		r.eachRow(client, o, r.origin.release)
	case Close:
		r.write(client, o, cache.Close)
	default:
		r.tier.befall(o)
	}
}

func (r *run) eachRow(client int, o Op, f func(key string)) {
	for _, key := range r.script.Profile.canonAll(o.Keys) {
		f(key)
	}
}

func (r *run) write(client int, o Op, f func() error) {
	w := r.newWrite(client, o.Verb, r.script.Profile.canonAll(o.Keys)...)
	r.history.beginWrite(w)
	err := f()
	r.history.end(&w.Span, func() { w.Err = err })
}

func (r *run) newWrite(client int, verb Verb, keys ...string) *Write {
	i, _ := r.cacheOf(client)
	return &Write{Client: client, Cache: i, Verb: verb, Keys: keys}
}

func (r *run) set(client int, given string) {
	p := r.script.Profile
	key := p.canon(given)
	w := r.newWrite(client, Set, key)
	_, cache := r.cacheOf(client)
	w.Value = Value{Key: key, Version: r.origin.change(client, key)}
	for p.judged(w.Value.Version) != Brought { // nobody Sets what does not pass Validate
		w.Value.Version = r.origin.change(client, key)
	}
	r.history.beginWrite(w)
	err := cache.Set(context.Background(), given, p.boxed(w.Value))
	r.history.end(&w.Span, func() { w.Err = err })
}

var errCommit = errors.New("the commit failed")

// creating writes Creating down as the two calls of Created that it promises.
// If the commit fails, its error hides how the second one went.
func (r *run) creating(client int, o Op) {
	keys := r.script.Profile.canonAll(o.Keys)
	before, after := r.newWrite(client, Created, keys...), r.newWrite(client, Created, keys...)
	_, cache := r.cacheOf(client)
	r.history.beginWrite(before)
	err := cache.Creating(context.Background(), o.Keys, func() error {
		r.history.end(&before.Span, func() {})
		defer r.history.beginWrite(after)
		time.Sleep(o.Take)
		if o.Fails {
			return errCommit
		}
		for _, key := range keys {
			r.origin.change(client, key)
		}
		return nil
	})
	last := after
	if after.ID == 0 { // it never came to the commit
		last = before
	}
	r.history.end(&last.Span, func() { last.Err = err })
}

func (r *run) crowd(client int, o Op) {
	var readers sync.WaitGroup
	for _, key := range o.Keys {
		for range o.N {
			readers.Go(func() { r.read(client, Lookup, key, o.Ctx) })
		}
	}
	readers.Wait()
}

// finish closes the caches, unless the script did, tries each once more, and
// returns their last Stats. All of it goes into the history.
func (r *run) finish() (stats []earlybird.Stats) {
	time.Sleep(r.script.Profile.LoadTimeout) // let refreshes come to their end
	for i := range r.caches {
		r.do(finisher-i, Op{Verb: Close})
		r.do(finisher-i, Op{Verb: Lookup, Keys: []string{rowKey(0)}})
		r.do(finisher-i, Op{Verb: Peek, Keys: []string{rowKey(0)}})
		r.do(finisher-i, Op{Verb: Set, Keys: []string{rowKey(0)}})
	}
	r.tier.close()
	time.Sleep(patience) // whatever would still begin has begun by then
	for _, c := range r.caches {
		stats = append(stats, c.Stats())
	}
	return stats
}

// finisher is the client that finish acts as for the first cache, the next one
// below it for the next.
const finisher = -1
