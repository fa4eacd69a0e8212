// Package siege plays the attacks of package hostile on a real cache, with good readers
// going on all the while, and scores what got through.
//
// Everything is in this process and in real time: an archive behind an origin that
// takes a while for each call, a cache with all its defences before it, and a few dozen
// readers. What the origin is asked is counted at the origin and what readers get by the
// readers, never by the cache.
package siege

import (
	"errors"
	"fmt"
	"iter"
	"math"
	"time"

	"github.com/earlybird-cache/earlybird/fuzz/archive"
	"github.com/earlybird-cache/earlybird/sim/workload"
)

// A Siege is an archive, and the length and seed of the attacks on it. New makes one. It
// plays one attack at a time.
type Siege struct {
	archive    *archive.Archive
	population *workload.Population
	requests   int
	seed       uint64
}

// New returns the siege in which each attack makes so many requests. Few requests are made
// on a small archive.
func New(requests int, seed uint64) *Siege {
	a := archive.New(min(max(requests, leastThings), mostThings), seed)
	return &Siege{archive: a, population: workload.FromKeys(a.Keys()), requests: requests, seed: seed}
}

const (
	zipf      = 1      // exponent of the popularity of keys among good readers
	warmUp    = 80_000 // good reads that fill the cache
	leastGood = 1000   // good reads to tell a hit ratio by

	leastThings = 2000 // in the archive
	mostThings  = 24_000
)

// Play plays one attack and scores it. Its error is of the setting, not of the cache.
func (s *Siege) Play(p Plan) (Row, error) {
	o, err := s.measure(p)
	if err != nil {
		return Row{}, fmt.Errorf("%s: %w", p.Name, err)
	}
	return o.row(p), nil
}

// measure plays one attack on a world of its own.
func (s *Siege) measure(p Plan) (*outcome, error) {
	w, err := newWorld(s.archive, p.defence)
	if err != nil {
		return nil, err
	}
	o := s.play(p, w)
	return o, errors.Join(w.cache.Close(), w.fault)
}

// play lets good readers fill the cache, and measures how they fare without the attack
// and then with it.
func (s *Siege) play(p Plan, w *world) *outcome {
	good, bad := newFeed(s.goodKeys()), newFeed(p.Keys(w.target(), s.seed))
	defer good.close()
	defer bad.close()
	reads := max(s.requests/hostilePerGood, leastGood)
	w.admit(good.ration(min(warmUp, 5*reads)), nil, newTally(0))
	o := &outcome{requests: s.requests, before: newTally(reads), during: newTally(reads)}
	w.admit(good.ration(reads), nil, o.before)

	bad.prime() // an attack that learns does so now
	heap, calls, start := liveHeap(), w.origin.hostile.Load(), time.Now()
	w.admit(good.ration(reads), bad.ration(s.requests), o.during)
	o.elapsed = time.Since(start)
	o.calls = int(w.origin.hostile.Load() - calls)
	o.growth = liveHeap() - heap

	o.denied = w.denied()
	o.loadsMost = w.cache.Stats().LoadsMost
	o.rejectVsHit = w.rejectVsHit(o.during.refused)
	return o
}

// goodKeys returns what good readers ask for, without end.
func (s *Siege) goodKeys() iter.Seq[string] {
	stream := workload.Zipf(s.population, zipf, math.MaxInt, workload.Mix{Seed: s.seed, Rate: 1})
	return func(yield func(string) bool) {
		for r := range stream.Requests() {
			if !yield(r.Key) {
				return
			}
		}
	}
}
