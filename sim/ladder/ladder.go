// Package ladder plays one stream of requests on several ways of caching, from none
// to all that earlybird has, each adding one thing to the one before, and tells what
// the origin and the clients saw of each.
//
// Every rung with a cache is the real cache with the later things switched off, and
// every rung is played in virtual time by the same clients against an origin of its
// own, made alike. What is counted is counted by the clients and the origin, the
// same way on every rung, never by the cache.
package ladder

import (
	"runtime"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/earlybird-cache/earlybird/sim/bubble"
	"github.com/earlybird-cache/earlybird/sim/origin"
	"github.com/earlybird-cache/earlybird/sim/workload"
)

// A Setup is what all rungs have in common. Every field must be set, but for
// KeepNone.
type Setup struct {
	Stream     *workload.Stream
	Origin     origin.Params
	Seed       uint64        // of the origin's service times
	TTL        time.Duration // of every cache
	MaxEntries int           // of every cache
	Timeout    time.Duration // after which a client gives up; it does not try again
	KeepNone   bool          // no cache keeps anything: how the origin fares without hits
}

// A Row is what one rung did. Durations are in milliseconds.
type Row struct {
	Name            string  `json:"name"`
	Reads           int     `json:"reads"`
	OriginCalls     int     `json:"origin_calls"`
	CallsPerEpisode float64 `json:"calls_per_episode"` // of keys that exist; see episodes
	MaxConcurrent   int     `json:"max_concurrent"`    // most calls at the origin at once, waiting ones included
	Waited          int     `json:"waited"`            // reads that were not answered at once
	P50             float64 `json:"p50_ms"`            // how long reads took, whatever came of them
	P99             float64 `json:"p99_ms"`
	P999            float64 `json:"p999_ms"`
	HostileLeaked   int     `json:"hostile_leaked"` // distinct keys asked of the origin that do not exist
	Errors          int     `json:"errors"`         // reads that did not get the right answer
}

// Climb plays the stream on every rung and returns their rows, `no cache` first and
// `earlybird` last. Rungs are played side by side, as many as there are processors.
// Reads already played, over all rungs, are added to played as they happen.
//
// The same setup gives every rung the same requests, every time. It does not give
// the same figures every time: clients that act at one virtual moment are goroutines,
// and the scheduler says who comes first.
func (s Setup) Climb(r bubble.Runner, played *atomic.Int64) ([]Row, error) {
	rows := make([]Row, len(rungs))
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range rungs {
		group.Go(func() (err error) {
			rows[i], err = s.climb(r, i, played)
			return err
		})
	}
	return rows, group.Wait()
}

// climb plays the stream on rung i.
func (s Setup) climb(r bubble.Runner, i int, played *atomic.Int64) (row Row, err error) {
	broken := r.Run(func() {
		row, err = s.play(i, played)
	})
	if broken != nil {
		err = broken
	}
	return row, err
}
